"""Evaluation of pipelines and models: splits, metrics, statistics and reports."""

from textrank.evaluation.cross_validation import cross_validate, cross_validate_dataset
from textrank.evaluation.evaluate import evaluate
from textrank.evaluation.report import Counts, Decision, Fold, Report, Summary

__all__ = [
    "Counts",
    "Decision",
    "Fold",
    "Report",
    "Summary",
    "cross_validate",
    "cross_validate_dataset",
    "evaluate",
]
