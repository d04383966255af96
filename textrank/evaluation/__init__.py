"""Evaluation: test data kept apart, measures, and the Report that says how they came about."""

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
