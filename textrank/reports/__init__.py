"""A Report as a table, as JSON, and as an HTML page with its plots."""

__all__ = ["errors", "explanation", "html", "json", "plots", "raw_text", "reasons", "table"]
