"""Why a model under instruction scores a candidate as it does."""

from __future__ import annotations

from textrank.parts import Parts, together
from textrank.types import AdditiveKernel, Vector
from textrank.web.rows import FeatureRows
from textrank.web.teaching import Teaching


def explains(teaching: Teaching) -> bool:
    """Whether scores split into named parts."""
    prior = teaching.prior
    staged = prior is not None and prior.fit.stage is not None
    splits = isinstance(teaching.pipeline.kernel, AdditiveKernel)
    return (isinstance(teaching.rows, FeatureRows) or splits) and not staged


def parts_of(teaching: Teaching, row: int) -> Parts:
    """What makes a candidate differ from the average one, largest first; sums exact.

    Average is among those that ask the same. The lock is held only to look at the answers: nobody
    who answers waits for reasons.
    """
    with teaching.lock:
        rows, index, coef = teaching.rows, teaching.index, teaching.online.coef
        if isinstance(rows, FeatureRows):
            weights = teaching.once("weights", lambda: _weights(teaching, rows))
    candidates, prior = teaching.candidates, teaching.prior
    if not isinstance(rows, FeatureRows):
        known = prior.explain_all([candidates[row]])[0] if prior is not None else []
        return together(rows.reasons(row, index, coef), known)
    asked = candidates[row].asked
    alike = [i for i, c in enumerate(candidates[: len(rows)]) if c.asked == asked]
    return rows.reasons(row, weights, rows.average(asked, alike))


def _weights(teaching: Teaching, rows: FeatureRows) -> Vector:
    """A weight per feature of the candidates, of the prior and the answers together."""
    found = rows.weights(teaching.index, teaching.online.coef)
    prior = teaching.prior
    if prior is None or prior.names is None:
        return found
    at = rows.places(prior.names)
    found[at[at >= 0]] += prior.fit.coef[at >= 0]
    return found
