"""League: counts of every unit by hand, intervals, tests and errors."""

from __future__ import annotations

import json

import numpy as np
import pytest
import spacy

from textrank.cli.app import run
from textrank.evaluation.league import _estimate, audit_answers, score_league
from textrank.formats.base import Mention, Record, build_docs

TEXT = "SHC binds GRB2 and SOS1."
GENES = {"SHC": (0, 3), "GRB2": (10, 14), "SOS1": (19, 23)}


def make_doc(name, mentions, pairs, text=TEXT):
    """Build a Doc; mentions are (start, end, identifier), pairs are rows of relations."""
    record = Record(
        name,
        text,
        "test",
        [
            Mention(f"T{i}", "GENE", ((start, end),), (identifier,) if identifier else ())
            for i, (start, end, identifier) in enumerate(mentions)
        ],
        gold=[{"label": True, **row} for row in pairs],
    )
    return next(
        build_docs([record], lambda r: r, spacy.blank("en"), path="", cut=True, skip_bad=False)
    )


GOLD_MENTIONS = [(0, 3, "ncbigene:1"), (10, 14, "ncbigene:2"), (19, 23, "ncbigene:3")]
GOLD_PAIRS = [
    {"entities": ["T0", "T1"], "type": "binding", "direction": "a>b"},
    {"entities": ["T0", "T2"], "type": "binding"},
]


def gold(names=("d1", "d2")):
    return [make_doc(name, GOLD_MENTIONS, GOLD_PAIRS) for name in names]


def test_counts_by_hand():
    answers = [
        make_doc(
            "d1",
            [(0, 3, "ncbigene:1"), (8, 14, "ncbigene:9")],  # the second name begins too early
            [{"entities": ["T1", "T0"], "type": "activation", "direction": "b>a"}],
        )
    ]
    league = score_league(gold(), {"ours": answers})
    hits = {unit: by_system["ours"].hits for unit, by_system in league.scores.items()}
    counts = {unit: (h.found, h.gold, h.right) for unit, h in hits.items()}
    assert counts == {
        "names, exact": (2, 6, 1),
        "names, relaxed": (2, 6, 2),
        "identifiers": (2, 6, 1),
        "pairs, exact": (1, 4, 0),
        "pairs, relaxed": (1, 4, 1),
        "pairs of identifiers": (1, 4, 0),
        "types": (1, 4, 0),
        "directions": (1, 2, 1),  # towards the first name: from SHC to GRB2, as gold says
    }
    assert league.missing == {"ours": 1}


def test_gold_against_itself_is_perfect_and_differs_from_nothing():
    names = [f"d{i}" for i in range(6)]
    league = score_league(gold(names), {"same": gold(names), "none": gold(names[:1])})
    for by_system in league.scores.values():
        assert by_system["same"].hits.prf.f == 1.0
        assert by_system["same"].interval.low == 1.0
        assert by_system["none"].hits.prf.recall < 0.2
    assert all(test.difference < 0 and test.p < 0.1 for test in league.tests)
    assert all(test.holm >= test.p for test in league.tests)


def test_equal_systems_have_p_1():
    league = score_league(gold(), {"one": gold(), "two": gold()})
    assert {test.p for test in league.tests} == {1.0}


def test_labels_restrict_both_sides():
    league = score_league(gold(), {"ours": gold()}, labels=["chemical"])
    assert league.scores == {}


def test_other_text_and_other_ids_are_refused():
    with pytest.raises(ValueError, match="another text"):
        score_league(gold(), {"ours": [make_doc("d1", [(0, 3, "")], [], text="SHC bound it.")]})
    with pytest.raises(ValueError, match="no document id occurs"):
        score_league(gold(), {"ours": gold(["x"])})
    with pytest.raises(ValueError, match="two documents have the id"):
        score_league(gold(), {"ours": gold(["d1", "d1"])})


def test_pubtator_relations_are_pairs_of_identifiers(tmp_path, capsys):
    lines = [
        "1|t|SHC binds GRB2.",
        "1\t0\t3\tSHC\tGene\t6464",
        "1\t10\t14\tGRB2\tGene\t2885",
        "1\tBind\t6464\t2885",
    ]
    files = {}
    for name, kept in (("gold", lines), ("full", lines), ("short", lines[:-1])):
        files[name] = tmp_path / f"{name}.pubtator"
        files[name].write_text("\n".join(kept) + "\n\n")
    json_file, page = tmp_path / "league.json", tmp_path / "league.html"
    arguments = ["league", *map(str, files.values()), "--json", str(json_file)]
    assert run([*arguments, "--html", str(page)]) == 0
    scores = json.loads(json_file.read_text())["scores"]["pairs of identifiers"]
    assert (scores["full"]["f"], scores["short"]["f"]) == (1.0, 0.0)
    assert "pairs of identifiers" in capsys.readouterr().out
    assert "Pairs of identifiers" in page.read_text()


def test_one_file_twice_is_refused(tmp_path, capsys):
    file = tmp_path / "a.pubtator"
    file.write_text("1|t|SHC binds GRB2.\n1\t0\t3\tSHC\tGene\t6464\n")
    assert run(["league", str(file), str(file), str(file)]) == 2
    assert "given twice" in capsys.readouterr().err


def simulate_counts(rng, documents=200, quality=0.9):
    """Counts by the check and by a helper that agrees with it on a share of the answers."""
    found = rng.integers(1, 8, documents)
    right = rng.binomial(found, 0.7)
    gold = right + rng.binomial(4, 0.4, documents)
    helper_right = rng.binomial(right, quality) + rng.binomial(found - right, 1 - quality)
    helper_gold = rng.binomial(gold, quality)
    true = np.column_stack([found, gold, right]).astype(float)
    return true, np.column_stack([found, helper_gold, helper_right]).astype(float)


def test_estimates_cover_the_truth_and_a_good_helper_narrows_them():
    rng = np.random.default_rng(0)
    covered, widths = [], []
    for seed in range(20):
        true, helper = simulate_counts(rng)
        is_checked = np.zeros(200, dtype=bool)
        is_checked[rng.choice(200, 20, replace=False)] = True
        found = true[:, 0]
        with_helper = _estimate(true[is_checked], found, helper, is_checked, seed)
        alone = _estimate(true[is_checked], found, None, is_checked, seed)
        truth = true[:, 2].sum() / found.sum()
        interval = with_helper["precision"].interval
        covered.append(interval.low <= truth <= interval.high)
        wide = alone["precision"].interval
        widths.append((interval.high - interval.low) / (wide.high - wide.low))
    assert np.mean(covered) >= 0.8
    assert np.mean(widths) < 0.9


def test_a_wrong_helper_does_not_bias_the_estimate():
    rng = np.random.default_rng(1)
    errors = []
    for seed in range(10):
        true, _ = simulate_counts(rng)
        helper = rng.integers(0, 9, true.shape).astype(float)
        is_checked = np.arange(200) < 100
        estimate = _estimate(true[is_checked], true[:, 0], helper, is_checked, seed)
        errors.append(estimate["precision"].value - true[:, 2].sum() / true[:, 0].sum())
    assert abs(np.mean(errors)) < 0.02


def test_answers_are_audited_by_hand_checked_documents():
    names = [f"d{i}" for i in range(6)]
    wrong = make_doc(
        "d0",
        [(0, 3, "ncbigene:1"), (8, 14, "ncbigene:9"), (19, 23, "ncbigene:3")],
        [{"entities": ["T1", "T2"], "type": "binding"}],
    )
    answers = [wrong, *gold(names[1:])]
    audit = audit_answers(answers, gold(names[:4]), name="theirs")
    assert (audit.documents, audit.checked, audit.model) == (6, 4, "")
    errors = {error.name: error.count for error in audit.errors}
    assert errors == {
        "name with other boundaries": 1,
        "name with another identifier": 1,
        "pair that does not interact": 1,
        "pair missed, names found": 2,
    }
    assert audit.metrics["names, exact"]["precision"].checked_only == pytest.approx(11 / 12)
    assert [row.document for row in audit.next_documents] == ["d4", "d5"]
    helped = audit_answers(answers, gold(names[:4]), [*gold(names[:5]), make_doc("d5", [], [])])
    assert [(row.document, row.disputes) for row in helped.next_documents] == [("d5", 5), ("d4", 0)]
    assert helped.next_documents[0].items[0] == "SHC – GRB2"
    with pytest.raises(ValueError, match="2 of the answered documents are checked"):
        audit_answers(answers, gold(names[:2]))


def test_the_command_audits_answers(tmp_path, capsys):
    answers, checked = tmp_path / "answers.jsonl", tmp_path / "checked.jsonl"
    rows = [
        {
            "id": f"d{i}",
            "text": TEXT,
            "entities": [[0, 3, "protein"], [10, 14, "protein"], [19, 23, "protein"]],
            "relations": [],
        }
        for i in range(5)
    ]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    checked.write_text("".join(json.dumps(row) + "\n" for row in rows[:3]))
    file = tmp_path / "audit.json"
    arguments = ["audit", "ppi", str(checked), "--answers", str(answers)]
    assert run([*arguments, "--json", str(file)]) == 0
    assert "3 of 5 documents checked" in capsys.readouterr().out
    result = json.loads(file.read_text())
    assert result["metrics"]["names, exact"]["precision"]["value"] == pytest.approx(1.0)
    assert len(result["next_documents"]) == 2
    assert run([*arguments, "--review"]) == 2
    assert "--review has no effect with --answers" in capsys.readouterr().err
