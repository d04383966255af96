"""Parts of a corpus to parts of a result, on processes of one machine or on a Dask cluster."""

from textrank.scale.job import Job, Piece, Slice
from textrank.scale.run import Run, Summary

__all__ = ["Job", "Piece", "Run", "Slice", "Summary"]
