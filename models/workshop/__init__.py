"""Code that recipes of shipped models share; not in the wheel."""
