"""Files and Docs, both ways: one module a format, one table of names, suffixes, sniffers."""
