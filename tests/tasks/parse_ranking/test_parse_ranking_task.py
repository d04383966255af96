"""Parse ranking: goodness, candidates given and made by noise, the best parse on the Doc."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from textrank.candidates import Candidate
from textrank.config import load_corpus, load_model, load_pipeline
from textrank.evaluation import cross_validate
from textrank.model import Model
from textrank.tasks import parse_ranking as parse_trees
from textrank.tasks.base import Scored
from textrank.tasks.parse_features import ArcFeatures, ArcVotes, ParseSupport
from textrank.tasks.parse_ranking import (
    CandidateParse,
    ParseRanking,
    arc_f1,
    compute_vote_shares,
    count_correct_arcs,
    pool_parses,
)
from textrank.tasks.parsers import Parse, PerturbedParser

ROOT = Path(__file__).parents[3]
WORDS = ["She", "ate", "pizza", "with", "forks", "He", "left"]
GOLD = ([1, 1, 1, 1, 3], ["nsubj", "ROOT", "dobj", "prep", "pobj"])
OTHER = ([1, 1, 1, 2, 3], ["nsubj", "ROOT", "dobj", "prep", "pobj"])
WORST = ([1, 1, 3, 1, 3], ["dobj", "ROOT", "nmod", "prep", "pobj"])


def row(parse, start, heads, labels, **more):
    tags = ["X"] * len(heads)
    heads = [start + head for head in heads]
    about = {"sentence": f"d-{start}", "parse": parse, "start": start}
    return {**about, "heads": heads, "labels": labels, "tags": tags, **more}


@pytest.fixture
def doc() -> Doc:
    starts = [i in (0, 5) for i in range(7)]
    doc = Doc(spacy.blank("en").vocab, words=WORDS, sent_starts=starts)
    doc.user_data["document"] = "d"
    doc.user_data["sentences"] = ["d-0", "d-5"]
    late = ([1, 1], ["nsubj", "ROOT"])
    doc.user_data["gold"] = [row("gold", 0, *GOLD), row("gold", 5, *late)]
    doc.user_data["parses"] = [
        row("a", 0, *WORST, score=0.1),
        row("b", 0, *OTHER, score=0.9),
        row("c", 0, *GOLD, score=0.5),
        row("a", 5, *late),
    ]
    return doc


@pytest.fixture(scope="module")
def sample() -> list[Doc]:
    return list(load_corpus(ROOT / "corpora" / "sample-parses")(spacy.blank("en")))


def links(heads, labels):
    return CandidateParse("", heads, labels, []).arcs()


def test_goodness_is_the_f_score_of_links():
    assert arc_f1(links(*GOLD), links(*GOLD)) == 1
    assert arc_f1(links(*OTHER), links(*GOLD)) == pytest.approx(0.75)  # 3 of 4 and 4
    assert arc_f1(links(*WORST), links(*GOLD)) == pytest.approx(0.5)
    assert arc_f1(set(), links(*GOLD)) == 0


def test_links_to_words_that_gold_leaves_alone_do_not_count_against():
    gold = {(1, 0, "nsubj")}
    assert arc_f1({(1, 0, "nsubj"), (1, 2, "punct")}, gold) == 1
    assert arc_f1({(1, 0, "nsubj"), (0, 1, "punct")}, gold) == pytest.approx(2 / 3)


TREES = st.integers(2, 6).flatmap(
    lambda n: st.lists(
        st.lists(st.tuples(st.integers(0, n - 1), st.sampled_from("ab")), min_size=n, max_size=n),
        min_size=2,
        max_size=4,
    )
)


@given(TREES)
def test_goodness_is_one_for_equal_links_only_and_symmetric_where_all_are_linked(rows):
    first, second = (CandidateParse("", *zip(*arcs, strict=True), ()).arcs() for arcs in rows[:2])
    value = arc_f1(first, second)
    assert 0 <= value <= 1
    assert arc_f1(second, second) == 1
    words = range(len(rows[0]))
    if all({w for a, b, _ in own for w in (a, b)} == set(words) for own in (first, second)):
        assert value == pytest.approx(arc_f1(second, first))
        assert (value == 1) == (first == second)


@given(TREES)
def test_agreement_is_the_mean_over_parses_drawn_by_votes(rows):
    trees = [
        CandidateParse("", *zip(*arcs, strict=True), (), votes=1.0 + n, votes_by_parser=[1.0 + n])
        for n, arcs in enumerate(rows)
    ]
    total = sum(tree.votes for tree in trees)
    (agreed,) = compute_vote_shares([trees])
    for tree, found in zip(trees, agreed.arcs.mean(axis=(1, 2)), strict=True):
        mean = 0.0
        for other in trees:
            same = [
                (h, k) == (g, m)
                for h, g, k, m in zip(
                    tree.heads, other.heads, tree.labels, other.labels, strict=True
                )
            ]
            mean += other.votes / total * np.mean(same)
        assert found == pytest.approx(mean)


@given(st.lists(TREES, max_size=3))
def test_sentences_together_agree_as_each_alone(sentences):
    pools = [[]]
    for parsers, rows in enumerate(sentences, 1):  # as many parsers as sentences before
        by = [[float(n + parser) for parser in range(parsers)] for n in range(len(rows))]
        each = zip(rows, by, strict=True)
        pools.append(
            [
                CandidateParse("", *zip(*arcs, strict=True), (), votes_by_parser=own)
                for arcs, own in each
            ]
        )
    for pool, together in zip(pools, compute_vote_shares(pools), strict=True):
        (alone,) = compute_vote_shares([pool])
        np.testing.assert_array_equal(together.arcs, alone.arcs)
        np.testing.assert_array_equal(together.heads, alone.heads)


def test_attached_words_have_head_and_label_but_a_root_any_label():
    gold = CandidateParse("", *GOLD, [])
    assert count_correct_arcs(CandidateParse("", *GOLD, []), gold) == 5
    assert count_correct_arcs(CandidateParse("", *OTHER, []), gold) == 4
    assert (
        count_correct_arcs(
            CandidateParse("", GOLD[0], ["nsubj", "root", "obl", "prep", "pobj"], []), gold
        )
        == 4
    )


def test_a_candidate_is_the_sentence_with_one_parse(doc):
    found = ParseRanking().candidates(doc)
    assert [c.query for c in found] == ["d-0"] * 3 + ["d-5"]
    assert [c.label for c in found] == pytest.approx([0.5, 0.75, 1.0, 1.0])
    assert {c.document for c in found} == {"d"}
    assert [t.text for t in found[3].doc] == ["He", "left"]
    assert [t.head.i for t in found[1].doc] == OTHER[0]
    own = [c.doc.user_data["parse"]["own"] for c in found]
    assert own == [False, True, False, True]


def test_without_gold_there_is_no_label(doc):
    del doc.user_data["gold"]
    assert {c.label for c in ParseRanking().candidates(doc)} == {None}


def test_a_gold_sentence_without_parses_is_unreachable(doc):
    assert ParseRanking().unreachable(doc, []) == 0
    doc.user_data["parses"].pop()
    assert ParseRanking().unreachable(doc, []) == 1


def test_the_best_parse_is_put_on_the_doc(doc):
    task = ParseRanking()
    found = task.candidates(doc)
    task.annotate(doc, Scored(found, np.array([0.0, 1.0, 3.0, -1.0])))
    assert [t.head.i for t in doc] == [1, 1, 1, 1, 3, 6, 6]
    assert [t.dep_ for t in doc] == [*GOLD[1], "nsubj", "ROOT"]
    assert [s.start for s in doc.sents] == [0, 5]
    first, second = doc._.textrank_parse_ranking
    assert [p["parse"] for p in first["parses"]] == ["c", "b", "a"]
    assert [p["parser"] for p in first["parses"]] == [False, True, False]
    assert first["parses"][0]["heads"] == GOLD[0]
    assert second["words"] == ["He", "left"]


def test_sentences_without_candidates_keep_what_they_have(doc):
    task = ParseRanking()
    doc.user_data["parses"].pop()
    found = task.candidates(doc)
    task.annotate(doc, Scored(found, np.arange(3.0)))
    assert [t.head.i for t in doc][5:] == [5, 5]
    assert len(list(doc.sents)) == 2


def test_attachment_of_chosen_own_and_best_parse_is_measured(doc):
    task = ParseRanking()
    found = task.candidates(doc)
    measures = task.measures(Scored(found, np.array([2.0, 1.0, 0.0, 0.0]), None))
    assert measures["las"] == pytest.approx((3 + 2) / 7)
    assert measures["las_parser"] == pytest.approx((4 + 2) / 7)
    assert measures["las_oracle"] == 1
    assert measures["las_gain"] == pytest.approx(-1 / 7)
    assert measures["tau"] == -1


def test_a_parse_that_does_not_fit_is_named(doc):
    doc.user_data["parses"][0]["heads"] = [0, 1]
    with pytest.raises(ValueError, match=r"parse 'a' of document 'd'.*5 words"):
        ParseRanking().candidates(doc)


def test_wrong_settings_are_refused(doc):
    with pytest.raises(ValueError, match="source"):
        ParseRanking(source="beam")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="sigma"):
        ParseRanking(sigma=-1.0)
    del doc.user_data["parses"]
    with pytest.raises(ValueError, match="without parses to rank"):
        ParseRanking(source="given").candidates(doc)


def test_arc_features_count_what_arcs_look_like(doc):
    found = ParseRanking().candidates(doc)
    features = ArcFeatures()(found[2:3])
    values = {features.names[i]: v for i, v in enumerate(features.values.toarray()[0])}
    assert values["label", "prep", "+"] == pytest.approx(5**-0.5)
    assert values["label, length", "prep", "+2"] == pytest.approx(5**-0.5)
    assert values["words", "with", "forks"] == pytest.approx(5**-0.5)
    assert values["labels beside", "X", "dobj", "prep"] == pytest.approx(5**-0.5)
    assert values["label, between", "prep", "+", "X"] == pytest.approx(5**-0.5)
    assert values["sides above", "pobj", "prep", "+", "+"] == pytest.approx(5**-0.5)
    assert values["labels inside", "X", "prep", "dobj", "+"] == pytest.approx(5**-0.5)
    assert values["tags inside", "X", "X", "", "+"] == pytest.approx(2 * 5**-0.5)  # of ate, with
    assert ("root word", "ate") in values


def test_votes_for_arcs_are_counted_by_parser_and_label(doc):
    found = ParseRanking().candidates(doc)
    features = ArcVotes()(found)
    table = {features.names[i]: v for i, v in enumerate(features.values.toarray().T)}
    root = 5**-0.5  # 5 words
    assert table["label, votes", "pobj", "all"][:3] == pytest.approx([root] * 3)
    assert table["label, votes", "prep", "2"][[0, 2]] == pytest.approx([root] * 2)  # 2 of 3
    assert table["label, votes", "prep", "1"][1] == pytest.approx(root)
    assert table["head's votes", "all"][2] == pytest.approx(3 * root)  # She, ate, forks
    with pytest.raises(ValueError, match="steps"):
        ArcVotes(steps=0)


def test_support_is_told_for_all_and_for_each_parser(doc):
    features = ParseSupport()(ParseRanking().candidates(doc)[:3])
    table = {features.names[i]: v for i, v in enumerate(features.values.toarray().T)}
    assert table["own",].tolist() == [0, 1, 0]
    assert table["votes",] == pytest.approx([1 / 3] * 3)
    assert table["consensus", "parser 1"] == pytest.approx(table["consensus",])
    assert table["doubt",].argmax() == table["consensus",].argmax() == 2


def parse(heads, labels, votes, *, own=False):
    return Parse(tuple(heads), tuple(labels), ("X",) * len(heads), votes, own)


def test_parsers_are_pooled_with_the_trees_that_most_votes_speak_for():
    labels = GOLD[1]
    one = [parse([1, 1, 1, 2, 3], labels, 2, own=True), parse([1, 1, 3, 1, 3], labels, 1)]
    two = [parse([1, 1, 1, 1, 2], labels, 3, own=True), parse([1, 1, 1, 2, 3], labels, 1)]
    found = pool_parses([one, two])
    assert [tree.name for tree in found] == ["0", "1", "2", "3"]
    assert [tree.is_first_choice for tree in found] == [True, False, False, False]
    assert found[0].votes_by_parser == pytest.approx([2 / 3, 1 / 4])
    assert found[0].votes == pytest.approx((2 / 3 + 1 / 4) / 2)
    assert sum(tree.votes for tree in found) == pytest.approx(1)
    assert found[3].votes == 0
    assert list(found[3].heads) == GOLD[0]  # nobody's: the first's object, the second's "with"
    assert list(found[3].is_spanning) == [True, False, False]
    assert list(found[2].is_spanning) == [False, False, True]


@given(st.integers(0, 999))
def test_a_tree_with_more_than_half_of_the_votes_is_the_spanning_tree(seed):
    rng = np.random.default_rng(seed)
    words, trees = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    table = {_random_tree(rng, words): votes for votes in (rng.random(trees) + 0.1).tolist()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parse_trees, "MAJORITY_SHARE", np.inf)  # the long way
        expected = parse_trees._vote_tree(table)
    assert parse_trees._vote_tree(table) == expected


def _random_tree(rng, words):
    """Each word hangs from one before it in some order."""
    order = rng.permutation(words).tolist()
    heads = {word: order[int(rng.integers(0, max(i, 1)))] for i, word in enumerate(order)}
    labels = rng.choice(["a", "b"], words).tolist()
    return tuple(heads[word] for word in range(words)), tuple(labels)


def test_support_belongs_to_parses_only(doc):
    with pytest.raises(ValueError, match="not one of several parses"):
        ParseSupport()([Candidate(doc, (), "d")])


@pytest.mark.parametrize("name", ["parse_ranking", "parse_ranking-lc"])
def test_the_shipped_pipelines_rank_the_sample(sample, name):
    report = cross_validate(load_pipeline(name), sample, folds=3)
    assert report.measures["tau"].mean > 0.5
    assert report.measures["las_gain"].mean > 0
    assert report.counts.candidates == 240


def test_a_model_survives_the_disk_and_explains_its_scores(sample, tmp_path):
    model = load_pipeline("parse_ranking").fit(sample[:4])
    model.to_disk(tmp_path / "m")
    loaded = Model.from_disk(tmp_path / "m")
    candidates = loaded.pipeline.task.candidates(sample[4])
    scores = loaded.score(candidates)
    np.testing.assert_allclose(scores, model.score(candidates), atol=1e-12)
    for i in (0, 7, 30):
        parts = loaded.explain(candidates[i])
        assert sum(value for _, value in parts) == pytest.approx(scores[i], abs=1e-9)


@pytest.fixture
def text() -> Doc:
    words = "We show that SHC binds to the activated EGF receptor with high affinity . It acts ."
    starts = [i in (0, 14) for i in range(17)]
    return Doc(spacy.blank("en").vocab, words=words.split(), sent_starts=starts)


def test_parses_are_distinct_trees_with_all_votes(text):
    for sentence, parses in zip(
        text.sents, PerturbedParser(copies=6)(list(text.sents)), strict=True
    ):
        assert sum(p.votes for p in parses) == 7
        assert len({(p.heads, p.labels) for p in parses}) == len(parses)
        assert [p.is_first_choice for p in parses] == [True] + [False] * (len(parses) - 1)
        for parse in parses:
            assert len(parse.heads) == len(parse.tags) == len(sentence)
            assert sum(head == i for i, head in enumerate(parse.heads)) == 1


def test_noise_is_reproducible_leaves_the_parser_alone_and_needs_sigma(text):
    sentences = list(text.sents)
    first = PerturbedParser(copies=6, sigma=0.5)(sentences)
    assert len(first[0]) > 1
    assert PerturbedParser(copies=6, sigma=0.5)(sentences) == first
    without = PerturbedParser(copies=2, sigma=0.0)(sentences)
    assert [len(parses) for parses in without] == [1, 1]
    assert [p[0].heads for p in without] == [p[0].heads for p in first]


def test_noise_may_be_on_the_last_layers_alone(text):
    sentences = list(text.sents)
    last = PerturbedParser(copies=6, sigma=0.5, layers="last")(sentences)
    assert len(last[0]) > 1
    assert last != PerturbedParser(copies=6, sigma=0.5)(sentences)
    with pytest.raises(ValueError, match="layers must be one of all, last, got 'first'"):
        ParseRanking(layers="first")


def test_the_task_takes_them_where_none_are_given(text):
    task = ParseRanking(copies=4, sigma=0.5)
    found = task.candidates(text)
    votes = [c.doc.user_data["parse"]["votes"] for c in found if c.query == "s0"]
    assert sum(votes) == pytest.approx(1)
    task.annotate(text, Scored(found, np.array(list(range(len(found), 0, -1)), dtype=float)))
    assert text.has_annotation("DEP")
    assert [s.start for s in text.sents] == [0, 14]


def test_the_shipped_model_ranks_parses_of_raw_sentences(text):
    model = load_model("parse_ranking")
    assert model.pipeline == load_pipeline("parse_ranking")
    first, second = model(text)._.textrank_parse_ranking
    scores = [parse["score"] for parse in first["parses"]]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)
    heads = [token.head.i - token.sent.start for token in text]
    assert heads == first["parses"][0]["heads"] + second["parses"][0]["heads"]


def test_several_documents_are_parsed_as_each_alone():
    task = ParseRanking(copies=2)
    docs = [_plain(words) for words in ("Raf binds MEK . It may bind ERK .", "", "MEK binds .")]
    together = task.find_candidates(docs)
    assert [len(own) > 0 for own in together] == [True, False, True]
    for doc, own in zip(docs, together, strict=True):
        alone = task.candidates(doc)
        assert [_arcs_of(c.doc) for c in own] == [_arcs_of(c.doc) for c in alone]
        assert [c.query for c in own] == [c.query for c in alone]


def _plain(words: str) -> Doc:
    doc = Doc(Vocab(), words=words.split())
    for token in doc:
        token.is_sent_start = token.i == 0 or doc[token.i - 1].text == "."
    return doc


def _arcs_of(doc: Doc) -> list[tuple[int, str]]:
    return [(token.head.i, token.dep_) for token in doc]
