"""Mines text with kernel methods on spaCy.

A pipeline meets a corpus and yields a report or a model:

>>> import spacy
>>> import textrank
>>> pipeline = textrank.load_pipeline("ppi")
>>> pipeline.task
PPI(entities='entities', labels=())
"""

from textrank.config import (
    dump_pipeline,
    load_corpus,
    load_model,
    load_pipeline,
    model_names,
    pipeline_names,
)
from textrank.docs import Candidate, Targets
from textrank.evaluation import Report
from textrank.language import load_nlp
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.registry import registry
from textrank.types import FeatureKernel, Features, Kernel, LabelledGraph, Names

__all__ = [
    "Candidate",
    "FeatureKernel",
    "Features",
    "Kernel",
    "LabelledGraph",
    "Model",
    "Names",
    "Pipeline",
    "Report",
    "Targets",
    "dump_pipeline",
    "load_corpus",
    "load_model",
    "load_nlp",
    "load_pipeline",
    "model_names",
    "pipeline_names",
    "registry",
]
