"""Gene, protein or RNA: figures of models/gene_protein/README.md, names given and recognised.

``pytest -m corpus -s tests/tasks/test_gene_protein_figures.py`` prints them in six minutes on an
idle core.
"""

from __future__ import annotations

import gzip
import json
import runpy
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from spacy.tokens import Doc

from textrank.candidates import Candidate, dedup_groups, document_id
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation.splits import make_folds
from textrank.language import load_nlp
from textrank.language.normalization import original_doc, original_offsets
from textrank.metrics import auc
from textrank.model import Model
from textrank.tasks.base import Scored, group_by_question

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

ANSWERS = ["protein", "DNA", "RNA"]
RECIPE = Path(__file__).parents[2] / "models" / "gene_protein" / "recipe"
# What shipped before: the whole abstract as context, nothing of what a name hangs on.
BEFORE = {
    "task.answers": ANSWERS,
    "kernel.kernel.weights.mention": 4.0,
    "learner.minimum": 5,
    "learner.bits": 10,
    "learner.learner.alphas": [4.0],
    "learner.learner.folds": 3,
}
NEWEST = 200  # abstracts by PubMed id


@pytest.fixture(scope="module")
def docs(data: Path) -> list[Doc]:
    return list(load_corpus(data / "jnlpba" / "train.jsonl.gz")(load_nlp(only=[])))


@pytest.fixture(scope="module")
def grammar(data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Doc]:
    """The sentences of the recipe, as many for these abstracts as the recipe has for all."""
    made = runpy.run_path(str(RECIPE / "generate_sentences.py"))
    file = tmp_path_factory.mktemp("grammar") / "grammar.jsonl"
    rows = made["generate_rows"](data, made["SENTENCES"])
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return list(load_corpus(file)(load_nlp(only=[])))


@pytest.fixture(scope="module")
def narrow(data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Doc]:
    """The abstracts with the narrow names of the recipe too, which it trains on."""
    made = runpy.run_path(str(RECIPE / "generate_sentences.py"))
    file = tmp_path_factory.mktemp("narrow") / "abstracts.jsonl"
    with gzip.open(data / "jnlpba" / "train.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = made["add_short_names"](map(json.loads, lines))
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return list(load_corpus(file)(load_nlp(only=[])))


@pytest.fixture(scope="module")
def test_half(docs: list[Doc]) -> list[bool]:
    """Whether an abstract is tested on, at random as for the other figures; else trained on."""
    return [half == 1 for half in make_folds(dedup_groups(docs), 2, seed=0)]


@pytest.fixture(scope="module")
def model(narrow: list[Doc], test_half: list[bool], grammar: list[Doc]) -> Model:
    train = [doc for doc, is_test in zip(narrow, test_half, strict=True) if not is_test]
    return load_pipeline(RECIPE / "pipeline.cfg").fit([*train, *grammar[::2]])


def answers_of(doc) -> dict[tuple[int, int], str]:
    spans = doc.spans["entities"]
    return {(s.start_char, s.end_char): s.label_ for s in spans if s.label_ in ANSWERS}


def answers_around(doc: Doc, gold: Doc) -> dict[tuple[int, int], str]:
    """Kind of the shortest annotated name that contains each recognised one."""
    known = answers_of(gold)
    found = {}
    for span in doc.spans["entities"]:
        start, end = span.start_char, span.end_char
        around = [place for place in known if place[0] <= start and end <= place[1]]
        if around:
            found[start, end] = known[min(around, key=lambda place: place[1] - place[0])]
    return found


def judged(
    model: Model, candidates: Sequence[Candidate], right: Sequence[str], what: str
) -> dict[str, float]:
    """AUC of each answer and the share of right ones, printed with precision, recall and F."""
    scores = model.score(candidates)
    asked = np.array([c.label_key for c in candidates])
    known, meant = np.array([bool(r) for r in right]), np.array(right)
    areas = {}
    for answer in ANSWERS:
        own = known & (asked == answer)
        areas[answer] = auc(np.where(meant[own] == answer, 1.0, -1.0), scores[own])
    told: Counter[tuple[str, str]] = Counter()
    questions = group_by_question(Scored(candidates, scores))
    for question, truth in zip(questions, right[:: len(ANSWERS)], strict=True):
        p = question.probabilities(ANSWERS)
        told[truth, max(p, key=lambda answer: p[answer])] += bool(truth)
    share = sum(n for (a, b), n in told.items() if a == b) / sum(told.values())
    print(f"\n{what}: {100 * share:.2f} % of {sum(told.values())} right")  # noqa: T201
    for answer in ANSWERS:
        hit = told[answer, answer]
        said = sum(n for (_, b), n in told.items() if b == answer)
        there = sum(n for (a, _), n in told.items() if a == answer)
        print(  # noqa: T201
            f"  {answer:<8} AUC {100 * areas[answer]:.2f}  P {100 * hit / said:.1f}"
            f"  R {100 * hit / there:.1f}  F {200 * hit / (said + there):.1f}  of {there}"
        )
    return areas


@pytest.mark.parametrize(("spans", "least"), [("given", 0.97), ("recognised", 0.95)])
def test_three_kinds(
    model: Model, docs: list[Doc], test_half: list[bool], spans: str, least: float
) -> None:
    test = [doc for doc, is_test in zip(docs, test_half, strict=True) if is_test]
    if spans == "given":
        judged_docs, truth = test, [answers_of(doc) for doc in test]
    else:
        judged_docs = list(load_nlp(only=["kinds"]).pipe(doc.text for doc in test))
        truth = [answers_around(*one) for one in zip(judged_docs, test, strict=True)]
    assert min(figures_of(model, judged_docs, truth, spans).values()) >= least


def test_newer_abstracts(docs: list[Doc], narrow: list[Doc], grammar: list[Doc]) -> None:
    """Trained on older abstracts, which tells more of other texts than chance halves do."""
    order = sorted(range(len(docs)), key=lambda n: int(document_id(docs[n]).partition("-")[0]))
    newest = [docs[n] for n in order[-NEWEST:]]
    truth = [answers_of(doc) for doc in newest]
    before = load_pipeline("gene_protein", BEFORE).fit([docs[n] for n in order[:-NEWEST]])
    figures_of(before, newest, truth, "newest, as before")
    older = [narrow[n] for n in order[:-NEWEST]]
    now = load_pipeline(RECIPE / "pipeline.cfg").fit([*older, *grammar])
    assert min(figures_of(now, newest, truth, "newest").values()) >= 0.96


def figures_of(
    model: Model, docs: Sequence[Doc], gold: Sequence[dict[tuple[int, int], str]], what: str
) -> dict[str, float]:
    truth = {id(doc): answers for doc, answers in zip(docs, gold, strict=True)}
    candidates = [c for doc in docs for c in model.pipeline.task.candidates(doc)]
    right = [
        truth[id(original_doc(c.doc))].get(original_offsets(c.spans[0]), "") for c in candidates
    ]
    return judged(model, candidates, right, what)
