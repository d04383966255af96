"""The reference settings of each task, one ``<task>.cfg`` each."""
