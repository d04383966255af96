"""BioNLP standoff: events unfolded to pairs of names."""

from __future__ import annotations

import io
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import spacy

from textrank.formats.detection import detect_format, reader_for
from textrank.formats.standoff import BioNLP

TEXT = "Loss of A1 activates B2. A1 does not bind C3.\nD4 may induce the phosphorylation of B2."
NAMES = """T1	Protein 8 10	A1
T2	Protein 21 23	B2
T3	Protein 25 27	A1
T4	Protein 42 44	C3
T5	Protein 46 48	D4
T6	Protein 83 85	B2
T7	Organism 0 4	Loss
"""
EVENTS = """T8	Negative_regulation 0 4	Loss
T9	Positive_regulation 11 20	activates
T10	Binding 37 41	bind
T11	Positive_regulation 53 59	induce
T12	Phosphorylation 64 79	phosphorylation
E1	Negative_regulation:T8 Theme:T1
E2	Positive_regulation:T9 Theme:T2 Cause:E1
E3	Binding:T10 Theme:T3 Theme2:T4
E4	Positive_regulation:T11 Theme:E5 Cause:T5
E5	Phosphorylation:T12 Theme:T6
M1	Negation E3
M2	Speculation E4
"""


def write(folder: Path, **files: str) -> Path:
    for suffix, content in files.items():
        (folder / f"PMC-7-01-Results.{suffix}").write_text(content, encoding="utf-8")
    return folder


def read(path: Path, **settings: Any) -> Any:
    (doc,) = BioNLP(str(path), **settings)(spacy.blank("en"))
    return doc


def rows(doc: Any) -> dict[tuple[str, ...], tuple[Any, ...]]:
    keys = ("type", "direction", "status", "label")
    return {tuple(r["entities"]): tuple(r[k] for k in keys) for r in doc.user_data["gold"]}


def test_events_become_pairs_with_type_direction_and_status(tmp_path: Path) -> None:
    doc = read(write(tmp_path, txt=TEXT, a1=NAMES, a2=EVENTS))
    assert rows(doc) == {
        ("T1", "T2"): ("inhibition", "a>b", "asserted", True),  # a loss that activates
        ("T3", "T4"): ("binding", "none", "negated", True),
        ("T5", "T6"): ("phosphorylation", "a>b", "speculated", True),  # what is induced decides
    }
    triggers = [doc.text[a:b] for r in doc.user_data["gold"] for a, b in r["trigger"]]
    assert triggers == ["activates", "bind", "induce"]
    assert [span.text for span in doc.spans["entities"]] == ["A1", "B2", "A1", "C3", "D4", "B2"]
    assert doc.user_data["origin"] == "PMC-7"


def relations(doc: Any) -> dict[tuple[str, ...], list[str]]:
    return {tuple(r["entities"]): r["relations"] for r in doc.user_data["gold"]}


LONG_TEXT = "A1 regulates B2 (b2) by phosphorylating C3 , which inhibits binding of D4 to E5 ."
LONG_NAMES = """T1	Protein 0 2	A1
T2	Protein 13 15	B2
T3	Protein 17 19	b2
T4	Protein 40 42	C3
T5	Protein 71 73	D4
T6	Protein 77 79	E5
"""
LONG_EVENTS = """T7	Regulation 3 12	regulates
T8	Phosphorylation 24 39	phosphorylating
T9	Negative_regulation 51 59	inhibits
T10	Binding 60 67	binding
"""


def read_long(folder: Path, events: str) -> Any:
    return read(write(folder, txt=LONG_TEXT, a1=LONG_NAMES, a2=LONG_EVENTS + events))


def test_relations_tell_the_definitions_of_a_pair(tmp_path: Path) -> None:
    doc = read(write(tmp_path, txt=TEXT, a1=NAMES, a2=EVENTS))
    assert relations(doc) == {
        ("T1", "T2"): ["regulation"],
        ("T3", "T4"): ["physical"],
        ("T5", "T6"): ["physical"],  # a regulation of a modification
    }


def test_a_cause_that_is_an_event_stands_for_its_own_cause_too(tmp_path: Path) -> None:
    events = "E1	Regulation:T7 Theme:T2 Cause:E2\nE2	Phosphorylation:T8 Theme:T4 Cause:T1\n"
    assert relations(read_long(tmp_path, events)) == {
        ("T1", "T2"): ["regulation"],
        ("T4", "T2"): ["regulation"],
        ("T1", "T4"): ["physical"],
    }


def test_what_holds_for_a_name_holds_for_its_equivalents(tmp_path: Path) -> None:
    binding = "E2	Binding:T10 Theme:T2 Theme2:T3\n"
    events = f"*	Equiv T2 T3\nE1	Regulation:T7 Theme:T2 Cause:T1\n{binding}"
    assert relations(read_long(tmp_path, events)) == {
        ("T1", "T2"): ["regulation"],
        ("T1", "T3"): ["regulation"],  # and T2 is not joined with T3
    }


def test_equivalent_names_of_several_lines_are_one_set(tmp_path: Path) -> None:
    events = "*	Equiv T2 T3\n*	Equiv T3 T4\nE1	Regulation:T7 Theme:T2 Cause:T1\n"
    assert set(relations(read_long(tmp_path, events))) == {("T1", "T2"), ("T1", "T3"), ("T1", "T4")}


def test_regulation_of_a_binding_is_not_physical(tmp_path: Path) -> None:
    events = (
        "E1	Negative_regulation:T9 Theme:E2 Cause:T4\nE2	Binding:T10 Theme:T5 Theme2:T6\n"
    )
    assert relations(read_long(tmp_path, events)) == {
        ("T4", "T5"): ["regulation"],
        ("T4", "T6"): ["regulation"],
        ("T5", "T6"): ["physical"],
    }


def test_a_pair_may_satisfy_both_definitions(tmp_path: Path) -> None:
    events = "E1	Regulation:T7 Theme:T2 Cause:T1\nE2	Dissociation:T10 Theme:T1 Theme2:T2\n"
    assert relations(read_long(tmp_path, events)) == {("T1", "T2"): ["physical", "regulation"]}


def test_instruments_act(tmp_path: Path) -> None:
    events = "E1	Regulation:T7 Theme:T2 Cause:E2\nE2	Planned_process:T8 Instrument:T1\n"
    assert set(relations(read_long(tmp_path, events))) == {("T1", "T2")}


def test_only_asserted_pairs_are_true_where_asked(tmp_path: Path) -> None:
    doc = read(write(tmp_path, txt=TEXT, a1=NAMES, a2=EVENTS), asserted=True)
    assert [row["label"] for row in doc.user_data["gold"]] == [True, False, False]


def test_an_archive_reads_like_its_folder_and_is_recognised(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    write(folder, txt=TEXT, a1=NAMES, a2=EVENTS)
    archive = tmp_path / "corpus.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, arcname="corpus")
    assert rows(read(archive)) == rows(read(folder))
    assert detect_format(archive) == detect_format(folder) == "bionlp"
    assert isinstance(reader_for(archive), BioNLP)


def test_an_asserted_event_outweighs_a_negated_one_and_circles_end(tmp_path: Path) -> None:
    more = EVENTS + "E6\tBinding:T10 Theme:T3 Theme2:T4\nE7\tRegulation:T9 Theme:E7 Cause:T1\n"
    doc = read(write(tmp_path, txt=TEXT, a1=NAMES, a2=more))
    assert rows(doc)["T3", "T4"][2] == "asserted"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("T20\tProtein 0 x\tA", "are not offsets"),
        ("T20\tProtein 0 4\tGain", "should read 'Gain'"),
        ("E9\tBinding", "is not an event"),
        ("E9", "is not an annotation"),
    ],
)
def test_a_bad_line_is_named_with_its_place(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        read(write(tmp_path, txt=TEXT, a1=NAMES, a2=line))
    assert "PMC-7-01-Results.a2, line 1" in str(error.value)


def test_annotations_without_a_text_and_broken_archives_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="annotations without a text"):
        read(write(tmp_path, a1=NAMES))
    broken = tmp_path / "x.tar.gz"
    broken.write_bytes(b"no archive")
    with pytest.raises(ValueError, match="not a readable tar archive"):
        read(broken)
    with pytest.raises(ValueError, match="no such file"):
        read(tmp_path / "none.tar")


def test_an_archive_larger_than_the_limit_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "corpus.tar"
    with tarfile.open(archive, "w") as tar:
        member = tarfile.TarInfo("a.txt")
        member.size = 100
        tar.addfile(member, io.BytesIO(b"x" * 100))
    with pytest.raises(ValueError, match="more than 10 bytes"):
        read(archive, limit=10)


@pytest.mark.corpus
def test_the_event_corpora_unfold_to_the_pairs_they_are_known_to_have(data: Path) -> None:
    known = {
        "ge13-train": (540, {"negated": 51, "speculated": 59}),
        "ge13-devel": (464, {"negated": 63, "speculated": 33}),
        "epi11-train": (175, {}),
    }
    for name, (pairs, status) in known.items():
        docs = BioNLP(str(data / "events" / f"{name}.tar.gz"))(spacy.blank("en"))
        gold = [row for doc in docs for row in doc.user_data["gold"]]
        counts = Counter(row["status"] for row in gold)
        assert len(gold) == pairs
        assert {key: counts[key] for key in status} == status
