"""Web pages on this machine: the explorer of results, curation, and the review of labels.

``app`` is the protected server, ``explorer`` the pages of ``textrank explore``; ``annotation`` and
``active_learner`` are ``textrank curate``, ``rank_curation`` is the same for rankings;
``review`` is ``textrank audit --review``. There is no build step and no network access: Starlette,
Jinja templates, plain ES modules, and libraries in ``vendor`` with licence and checksum.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.web.active_learner import ActiveLearner, QueryStrategy, Question
    from textrank.web.annotation import AnswerLog, Curation, CurationApp
    from textrank.web.app import Credentials, GuardMiddleware, serve
    from textrank.web.explorer import Explorer, StatementExplainer, render_static_page
    from textrank.web.rank_curation import (
        Choice,
        RankCuration,
        RankCurationApp,
        RankLearner,
        RankQuestion,
    )
    from textrank.web.review import LabelReview, ReviewApp

_MODULES = {
    "ActiveLearner": "active_learner",
    "AnswerLog": "annotation",
    "Choice": "rank_curation",
    "Credentials": "app",
    "Curation": "annotation",
    "CurationApp": "annotation",
    "Explorer": "explorer",
    "GuardMiddleware": "app",
    "LabelReview": "review",
    "QueryStrategy": "active_learner",
    "Question": "active_learner",
    "RankCuration": "rank_curation",
    "RankCurationApp": "rank_curation",
    "RankLearner": "rank_curation",
    "RankQuestion": "rank_curation",
    "ReviewApp": "review",
    "StatementExplainer": "explorer",
    "render_static_page": "explorer",
    "serve": "app",
}

__all__ = [
    "ActiveLearner",
    "AnswerLog",
    "Choice",
    "Credentials",
    "Curation",
    "CurationApp",
    "Explorer",
    "GuardMiddleware",
    "LabelReview",
    "QueryStrategy",
    "Question",
    "RankCuration",
    "RankCurationApp",
    "RankLearner",
    "RankQuestion",
    "ReviewApp",
    "StatementExplainer",
    "render_static_page",
    "serve",
]


def __getattr__(name: str) -> Any:
    """Import a public class or function on first use; raise AttributeError for other names."""
    if name in _MODULES:
        return getattr(import_module(f"textrank.web.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)
