"""Reference settings of each task, one ``<task>.cfg`` per task."""
