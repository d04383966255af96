"""A Report as a table, as JSON, and as an HTML page with its plots."""
