"""Evaluation: test data kept apart, measures, and the Report that says how they came about."""

from textrank.evaluation.cross_validation import assess, cross_validate
from textrank.evaluation.evaluate import evaluate
from textrank.evaluation.report import Counts, Decision, Fold, Report, Summary

__all__ = [
    "Counts",
    "Decision",
    "Fold",
    "Report",
    "Summary",
    "assess",
    "cross_validate",
    "evaluate",
]
