"""Annotation of large collections: resumable runs on processes or on a Dask cluster.

A run (``run``) plans its inputs as slices (``job``), sends each slice to a worker process
(``worker``, watched by ``supervisor``), and the worker writes one part of the result tables.
``two_pass`` parses only sentences that can have an answer. ``distributed`` has the Dask variants of
workers, evaluation and training.
"""

from textrank.scale.job import Job, Piece, Slice
from textrank.scale.run import Run, Summary

__all__ = ["Job", "Piece", "Run", "Slice", "Summary"]
