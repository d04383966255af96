"""The laws of kernels, learners, readers and tasks, for whatever the registry holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import spacy

from tests.kernels.graph_references import random_graph
from textrank.candidates import Targets
from textrank.config import registered_classes
from textrank.features import FeatureNames, Features, MultiView
from textrank.graphs import Contexts, Sequences
from textrank.kernels.algebra import Linear
from textrank.protocols import Task
from textrank.representations.transformations import Strict
from textrank.tasks.base import Scored
from textrank.testing import check_kernel

TABLE = registered_classes()


def vectors(rng):
    return rng.random((6, 3))


def graphs(rng):
    return [random_graph(rng) for _ in range(5)]


def sequences(rng):
    return Sequences.from_lists([list(rng.choice(list("abc"), n)) for n in (3, 5, 4, 6)])


def contexts(rng):
    words = [("bind", -1), ("to", 1), ("gene", 3), ("p53", -4)]
    return Contexts.from_lists([[words[i] for i in rng.permutation(4)[:3]] for _ in range(5)])


def views(rng):
    return MultiView({"a": rng.random((6, 4)), "b": rng.random((6, 2))})


def blocks(rng):
    names = FeatureNames.from_iterable([("q1", "x"), ("q1", "y"), ("q2", "x")])
    return Features(sp.csr_array(rng.random((5, 3))), names)


INNER = Linear()
# For every registered kernel its settings and what it compares; a kernel that is missing fails.
KERNELS = {
    "all_paths.v1": ({}, graphs),
    "blocked.v1": ({"kernel": INNER}, vectors),
    "blocks.v1": None,  # on views of features
    "centred.v1": ({"kernel": INNER, "reference": np.eye(3)[:2]}, vectors),
    "choice.v1": None,  # several kernels, not one
    "combined_views.v1": ({"linear": {"a": 1.0}, "gaussian": {"b": [1.0]}}, views),
    "distance.v1": None,  # no kernel by itself: -d^2 is only conditionally positive
    "each_view.v1": ({"kernel": INNER}, views),
    "exponential.v1": ({"kernel": INNER}, vectors),
    "gap_weighted.v1": ({}, sequences),
    "gaussian.v1": ({}, vectors),
    "label_bag.v1": ({}, graphs),
    "linear.v1": ({}, vectors),
    "local_sum.v1": ({}, sequences),
    "locality_convolution.v1": ({}, sequences),
    "locality_improved.v1": ({}, sequences),
    "normalized.v1": ({"kernel": INNER}, vectors),
    "on_view.v1": ({"name": "a", "kernel": INNER}, views),
    "polynomial.v1": ({}, vectors),
    "positional.v1": ({"positions": Strict()}, contexts),
    "power.v1": ({"kernel": INNER}, vectors),
    "product.v1": ({"kernels": [INNER, INNER]}, vectors),
    "scale.v1": ({"kernel": INNER, "factor": 2.0}, vectors),
    "shortest_path.v1": ({}, graphs),
    "similarities.v1": ({"measure": INNER, "prototypes": np.eye(3)}, vectors),
    "spectrum.v1": ({}, sequences),
    "sum.v1": ({"kernels": [INNER, INNER]}, vectors),
}
LEARNERS = {
    "additive.v1": None,  # on features that are not negative
    "cooccurrence.v1": None,  # has no scores
    "naive_bayes.v1": None,
    "svm.v1": {"alphas": [0.5, 2.0]},
    "blockwise.v1": None,  # on features of questions
    "document_stage.v1": None,  # on candidates of texts
    "g2p.v1": {"alphas": [0.5, 2.0], "neighbours": None},
    "rankrls.v1": {"alphas": [0.5, 2.0]},
    "ranksvm.v1": {},
    "reduced_rls.v1": {"alphas": [0.5, 2.0]},
    "rls.v1": {"alphas": [0.5, 2.0]},
    "sparse_rls.v1": {"alphas": [0.5, 2.0]},
}
TASKS = {
    "categorise.v1": {"topics": ["wheat"]},
    "wsd.v1": {"senses": {"line": ["cord", "text"]}},
}


# What needs more than plain inputs meets its laws in a test of its own.
ELSEWHERE = {
    "additive.v1": "learners/test_baselines.py: test_statistics_hold_documents_out",
    "cooccurrence.v1": "learners/test_baselines.py: test_cooccurrence_says_yes_to_all",
    "naive_bayes.v1": "learners/test_baselines.py: test_statistics_hold_documents_out",
    "blocks.v1": "kernels/test_per_question.py: test_obeys_the_laws",
    "choice.v1": "kernels/test_choice.py: test_choices_inside_a_kernel_are_expanded_in_order",
    "distance.v1": "kernels/test_algebra.py: test_kernel_equals_its_formula",
    "blockwise.v1": "learners/test_per_question.py: test_a_question_is_learnt_as_if_it_were_alone",
    "document_stage.v1": (
        "learners/test_document_context.py: test_test_answers_change_no_test_score"
    ),
}


def test_every_kernel_and_learner_has_its_laws():
    assert set(TABLE["kernels"]) == set(KERNELS)
    assert set(TABLE["learners"]) == set(LEARNERS)
    apart = [name for name, own in {**KERNELS, **LEARNERS}.items() if own is None]
    for name in apart:
        file, _, test = ELSEWHERE[name].partition(": ")
        assert f"def {test}(" in (Path(__file__).parent / file).read_text(), name


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", [n for n in TABLE["kernels"] if KERNELS.get(n)])
def test_registered_kernels_obey_the_laws(name, seed):
    settings, draw = KERNELS[name]
    check_kernel(TABLE["kernels"][name](**settings), draw(np.random.default_rng(seed)))


@pytest.mark.parametrize("name", [n for n in TABLE["learners"] if LEARNERS.get(n) is not None])
def test_registered_learners_hold_documents_out(name, rng):
    """A held-out score does not change with the answers of its own document."""
    F = rng.standard_normal((24, 4))
    groups = np.repeat(np.arange(6), 4)
    y = np.where(F[:, 0] + rng.standard_normal(24) > 0, 1.0, -1.0)
    names = FeatureNames.from_iterable([f"x{i}" for i in range(4)])
    data = Features(sp.csr_array(F), names)
    learner = TABLE["learners"][name](**LEARNERS[name])
    other = np.where(groups == 2, -y, y)
    first = learner.fit(data, Targets(y, groups, groups))
    second = learner.fit(data, Targets(other, groups, groups))
    assert first.heldout.shape == (len(first.alphas), 24)
    np.testing.assert_allclose(
        first.heldout[:, groups == 2], second.heldout[:, groups == 2], atol=1e-6
    )
    assert not np.allclose(first.heldout[:, groups == 1], second.heldout[:, groups == 1])


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe\x01" * 20], ids=["empty", "binary"])
@pytest.mark.parametrize("name", [n for n in TABLE["readers"] if n != "together.v1"])
def test_registered_readers_name_the_file_they_cannot_read(name, content, tmp_path):
    if not content and name in ("plain_text.v1", "brat.v1"):
        pytest.skip("an empty text is a text")
    path = tmp_path / "broken.file"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="broken"):
        list(TABLE["readers"][name](path=str(path))(spacy.blank("en")))


@pytest.mark.parametrize("name", list(TABLE["tasks"]))
def test_registered_tasks_state_what_is_asked_of_them(name):
    task: Task = TABLE["tasks"][name](**TASKS.get(name, {}))
    assert isinstance(task.is_ranking, bool)
    assert task.required_pipes is None or isinstance(task.required_pipes, tuple)
    assert isinstance(task.required_pipes_raw, tuple)
    y, heldout = np.array([1.0, -1.0, 1.0]), np.array([0.5, -0.5, 0.2])
    threshold = task.threshold(y, heldout)
    assert threshold is None or isinstance(threshold, float)
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp("Nothing is named here.")
    doc.spans["entities"] = []
    found = task.candidates(doc)
    if not found:
        task.annotate(doc, Scored(found, np.empty(0)))
        assert getattr(doc._, f"textrank_{task.name}") == []
        assert task.add_explanations(doc, found, lambda _: []) is doc
        assert task.unreachable(doc, found) == 0
