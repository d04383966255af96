"""What a teaching begins with: one kernel of those to choose from, and alphas."""

from __future__ import annotations

from dataclasses import replace

from textrank.learners.cg import SparseRLS
from textrank.learners.rls import RLS
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.types import ChoiceKernel

ALPHAS = (0.25, 0.5, 1.0, 2.0, 4.0)


def settled(pipeline: Pipeline) -> Pipeline:
    """The pipeline with the first of the kernels that training would choose from."""
    kernel = pipeline.kernel
    several = list(kernel.alternatives) if isinstance(kernel, ChoiceKernel) else []
    return replace(pipeline, kernel=several[0]) if len(several) > 1 else pipeline


def alphas_of(pipeline: Pipeline, prior: Model | None) -> tuple[tuple[float, ...], float]:
    """The alphas to choose from, and the one to begin with."""
    if prior is not None:
        return tuple(prior.fit.alphas), prior.fit.alpha
    learner = pipeline.learner
    own = learner.alphas if isinstance(learner, RLS | SparseRLS) else ALPHAS
    alphas = tuple(float(alpha) for alpha in own)
    return alphas, alphas[len(alphas) // 2]
