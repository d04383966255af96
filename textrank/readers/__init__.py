"""A file format -> Docs; one module a format."""
