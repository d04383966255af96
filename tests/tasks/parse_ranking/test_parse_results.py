"""The figures of docs/experiments for parse ranking, on CRAFT's dev part.

``pytest -m corpus -s tests/tasks/parse_ranking/test_parse_results.py`` prints them; 15 minutes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from workshop.cut_treebank import ALL_SENTENCES, cut_treebank

from textrank.config import load_corpus, load_pipeline
from textrank.evaluation.splits import LeakyFolds, LeaveDocumentOut, SentenceFolds, Split
from textrank.learners.base import choose_alpha
from textrank.pipeline import Dataset, Pipeline
from textrank.tasks.base import Scored

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

FOLDS = 7  # as many as there are articles, whatever is held out


@dataclass(frozen=True, eq=False)
class Dev:
    """All parses of the part that no parser has seen."""

    pipeline: Pipeline
    seen: Dataset

    def measured(
        self, division: Split, *, within: bool = False, **settings: Any
    ) -> dict[str, float]:
        """Measures over all sentences together, each parse scored by a model without its fold.

        ``within`` compares parses of one fold only, and gives means over folds: where folds split
        sentences, scores of different models for one sentence do not compare.
        """
        learner = replace(self.pipeline.learner, **settings)
        (nested,) = learner.nested(self.seen.data, division.targets, division.partitions)
        scores = np.empty(len(nested.folds))
        folds = []
        for fold in np.unique(nested.folds):
            out, rest = np.flatnonzero(nested.folds == fold), np.flatnonzero(nested.folds != fold)
            inner = nested.inner[:, fold][:, rest]
            chosen = choose_alpha(inner, division.targets.take(rest), learner.select)
            scores[out] = nested.outer[chosen, out]
            folds.append(self._measures(out, scores))
        found = self._measures(np.arange(len(scores)), scores)
        if within:
            found = {name: float(np.mean([fold[name] for fold in folds])) for name in found}
        print({name: round(value, 4) for name, value in found.items()})  # noqa: T201
        return found

    def _measures(self, rows: np.ndarray, scores: np.ndarray) -> dict[str, float]:
        candidates = [self.seen.candidates[i] for i in rows]
        found = self.pipeline.task.measures(Scored(candidates, scores[rows], None))
        return {k: v for k, v in found.items() if v is not None}


@pytest.fixture(scope="module")
def dev(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Dev:
    path = tmp_path_factory.mktemp("craft") / "craft-dev.conllu"
    cut_treebank(data / "treebanks" / "craft-dev.conllu.gz", ALL_SENTENCES, path)
    pipeline = load_pipeline("parse_ranking")
    return Dev(pipeline, pipeline.prepare(list(load_corpus(path)(spacy.blank("en")))))


@pytest.fixture(scope="module")
def articles(dev: Dev) -> dict[str, float]:
    return dev.measured(LeaveDocumentOut().split(dev.seen.candidates, dev.seen.targets))


def test_every_article_is_held_out_alone(dev):
    assert len({candidate.group for candidate in dev.seen.candidates}) == FOLDS


def test_whole_articles_held_out_the_chosen_parse_beats_the_parsers_own(articles):
    assert articles["tau"] >= 0.34
    assert articles["las_gain"] >= 0.01


def test_learning_to_rank_is_no_worse_than_regression(dev, articles):
    division = LeaveDocumentOut().split(dev.seen.candidates, dev.seen.targets)
    regression = dev.measured(division, rank="none")
    assert articles["tau"] >= regression["tau"]
    assert articles["las_gain"] >= regression["las_gain"]


def test_split_articles_and_split_sentences_flatter(dev, articles):
    given = dev.seen.candidates, dev.seen.targets
    found = []
    for leaking in (SentenceFolds(FOLDS), LeakyFolds(FOLDS)):
        with pytest.warns(UserWarning, match="LEAKY"):
            division = leaking.split(*given)
        found.append(dev.measured(division, within=isinstance(leaking, LeakyFolds)))
    sentences, single = found
    assert articles["tau"] < sentences["tau"] < single["tau"]
    assert articles["las_gain"] < sentences["las_gain"]
