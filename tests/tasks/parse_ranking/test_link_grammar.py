"""Parses of Link Grammar: its words aligned with ours, trees from links, the program itself."""

from __future__ import annotations

import shutil
import stat

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from textrank.formats.columns import ConllU, write_conllu
from textrank.tasks.parse_features import ParseSequences
from textrank.tasks.parse_ranking import ParseRanking
from textrank.tasks.parsers import LinkGrammar, align_words, build_tree

needs_program = pytest.mark.skipif(
    shutil.which("link-parser") is None,
    reason="link-parser (Debian package link-grammar) is not installed",
)


def sentences(*texts):
    nlp = spacy.blank("en")
    return [nlp(text)[:] for text in texts]


def fake(folder, printed, code=0):
    """A program that prints this whatever it is asked."""
    (folder / "printed").write_text(printed)
    program = folder / "link-parser"
    program.write_text(f'#!/bin/sh\ncat > /dev/null\ncat "{folder}/printed"\nexit {code}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


TWO = """He saw dogs ( here ) .
Found 2 linkages (2 had no P.P. violations)
\tLinkage 1, cost vector = (UNUSED=0 DIS= 0.00 LEN=3)
[(LEFT-WALL)(he)(saw.v-d)(dogs.n)(()
(here)())(.)(RIGHT-WALL)]
[[0 7 0 (Xp)][0 2 0 (WV)][0 1 0 (Wd)][1 2 1 (Ss)]
[2 3 0 (Op)][2 5 0 (MVp)][3 5 0 (Mp)][4 5 0 (Xd)][5 6 0 (Xc)][7 8 2 (RW)]]
[0]

\tLinkage 2, cost vector = (UNUSED=0 DIS= 3.00 LEN=2)
[(LEFT-WALL)(he)(saw.n)(dogs.v)(()(here)())(.)(RIGHT-WALL)]
[[0 3 0 (WV)][2 3 1 (Ss)][1 2 0 (D)][3 5 0 (MVp)]]
[0]

"""


def test_trees_come_in_the_order_of_the_program(tmp_path):
    (parses,) = LinkGrammar(fake(tmp_path, TWO))(sentences("He saw dogs (here)."))
    assert [parse.is_first_choice for parse in parses] == [True, False]
    assert parses[0].heads == (1, 1, 1, 4, 1, 4, 1)
    assert parses[0].labels == ("Ss", "ROOT", "Op", "Xd", "MVp", "Xc", "null")
    assert parses[1].heads == (1, 2, 2, 2, 2, 2, 2)


def test_equal_trees_are_one_parse_with_several_votes(tmp_path):
    twice = TWO.split("\tLinkage 2")[0]
    twice += twice[twice.index("\tLinkage") :]
    (parses,) = LinkGrammar(fake(tmp_path, twice))(sentences("He saw dogs (here)."))
    assert [parse.votes for parse in parses] == [2]
    (parses,) = LinkGrammar(fake(tmp_path, twice), linkages=1)(sentences("He saw dogs (here)."))
    assert [parse.votes for parse in parses] == [1]


def test_words_that_differ_give_no_parse(tmp_path):
    assert LinkGrammar(fake(tmp_path, TWO))(sentences("She saw dogs (here).")) == [[]]


def test_lines_that_are_commands_never_reach_the_program(tmp_path):
    parser = LinkGrammar(fake(tmp_path, "", code=1))
    assert parser(sentences("!file letters.txt", "% a remark", " ")) == [[], [], []]


def test_a_missing_or_failing_program_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no-such-parser.*Install Link Grammar"):
        LinkGrammar("no-such-parser")(sentences("We sleep."))
    with pytest.raises(OSError, match="exit code 3"):
        LinkGrammar(fake(tmp_path, "", code=3))(sentences("We sleep."))
    with pytest.raises(ValueError, match="linkages"):
        LinkGrammar(linkages=0)


@pytest.mark.parametrize(
    ("words", "tokens", "found"),
    [
        (["p53[?].n", "'s"], ["p53", "'s"], [0, 1]),
        (["did", "n't"], ["didn't"], [0, 0]),
        (["e.g"], ["e.g"], [0]),
        (["we"], [" ", "We", " "], [1]),
        (["we", "sleep.v"], ["We"], None),
        (["we"], ["We", "sleep"], None),
        (["they"], ["We"], None),
    ],
)
def test_alignment(words, tokens, found):
    assert align_words(words, tokens) == found


@given(st.data())
def test_any_links_give_a_tree(data):
    size = data.draw(st.integers(1, 8))
    word = st.integers(0, size - 1)
    kinds = st.sampled_from(["Ss", "Os", "Ce", "CV", "R", "Bs", "Mp"])
    links = data.draw(st.lists(st.tuples(word, word, kinds).filter(lambda a: a[0] != a[1])))
    marked = data.draw(st.lists(st.tuples(word, st.sampled_from(["WV", "Wd", "Xp"]))))
    heads, labels = build_tree(links, marked, size)
    assert [label == "ROOT" for label in labels].count(True) == 1
    for start in range(size):
        at = start
        for _ in range(size):
            at = heads[at]
        assert labels[at] == "ROOT"


def test_the_task_ranks_linkages_and_compares_them_without_labels(tmp_path, monkeypatch):
    fake(tmp_path, TWO)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp("He saw dogs (here). They slept.")
    heads, tail = [1, 1, 1, 4, 1, 4, 1], [8, 8, 8]
    labels = ["nsubj", "ROOT", "dobj", "punct", "advmod", "punct", "punct"]
    gold = {"parse": "gold", "start": 0, "heads": heads, "labels": labels}
    other = {"parse": "gold", "start": 7, "heads": tail, "labels": ["nsubj", "ROOT", "punct"]}
    doc.user_data["gold"] = [gold, other]
    task = ParseRanking(source="link_grammar", labelled=False)
    found = task.candidates(doc)
    # Five of six links are right, and one is missing; then two of three, and four are missing.
    assert [c.label for c in found] == [pytest.approx(10 / 12), pytest.approx(4 / 9)]
    assert found[0].doc.user_data["attached"] == 6
    directed = ParseRanking(source="link_grammar", labelled=False, directed=True).candidates(doc)
    assert [c.label for c in directed] == [1.0, pytest.approx(1 / 6)]
    assert directed[0].doc.user_data["attached"] == 7
    assert task.unreachable(doc, []) == 1
    strict = ParseRanking(source="link_grammar").candidates(doc)
    assert strict[0].label == 0.0


LINKS = [[0, 1, "Ss"], [1, 2, "Op"], [1, 4, "MVp"], [2, 4, "Mp"], [3, 4, "Xd"], [4, 5, "Xc"]]


def test_identical_linkages_score_one_whatever_the_root_of_their_trees(tmp_path, monkeypatch):
    """As trees they differ: another root turns arcs round, and a cycle loses a link."""
    fake(tmp_path, TWO)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp("He saw dogs (here).")
    heads, labels = [1, 2, 2, 4, 2, 4, 2], ["Ss", "Op", "ROOT", "Xd", "Mp", "Xc", "null"]
    gold = {"parse": "gold", "start": 0, "heads": heads, "labels": labels, "links": LINKS}
    doc.user_data["gold"] = [gold]
    first, second = ParseRanking(source="link_grammar").candidates(doc)
    assert first.label == 1.0
    assert first.doc.user_data["dependencies"] == LINKS
    assert first.doc.user_data["attached"] == 6  # all but the full stop, which has no link
    # Linkage 2 has the links (1, 2, Ss), (0, 1, D), (2, 4, MVp): none is right.
    assert second.label == 0.0
    directed = ParseRanking(source="link_grammar", directed=True).candidates(doc)
    assert 0 < directed[0].label < 1
    doc.user_data["gold"] = [{**gold, "links": [[0, 99, "Ss"]]}]
    with pytest.raises(ValueError, match=r"a link of parse 'gold' .* leaves its sentence of 7"):
        ParseRanking(source="link_grammar").candidates(doc)


def test_links_that_close_a_cycle_are_kept_and_reach_the_sequences(tmp_path, monkeypatch):
    (parses,) = LinkGrammar(fake(tmp_path, TWO))(sentences("He saw dogs (here)."))
    assert [list(link) for link in parses[0].links] == LINKS
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp("He saw dogs (here).")
    (candidate, _) = ParseRanking(source="link_grammar").candidates(doc)
    types = ParseSequences(types=["link_type"])([candidate]).view("link_type")
    assert types.symbols() == ["Ss", "Op", "MVp", "Mp", "Xd", "Xc"]


@needs_program
def test_the_program_itself_finds_both_attachments():
    found = LinkGrammar()(sentences("He saw the man with a telescope .", "We sleep ."))
    heads = {parse.heads[4] for parse in found[0]}
    assert heads >= {1, 3}
    assert len(found[1]) >= 1


LINKAGES = """# newdoc id = one
# sent_id = one-1
# parse = gold
# linkage = deps
1\tHe\the\tPRON\tPRP\t_\t2\tSs\t2:Ss\t_
2\tsaw\tsee\tVERB\tVBD\t_\t0\troot\t_\t_
3\tmen\tman\tNOUN\tNNS\t_\t2\tOp\t2:Op|1:Xx\tSpaceAfter=No
4\t.\t.\tPUNCT\t.\t_\t2\tnull\t_\t_

# sent_id = one-1
# parse = same
# linkage = deps
1\tHe\the\tPRON\tPRP\t_\t0\troot\t3:Xx|2:Ss\t_
2\tsaw\tsee\tVERB\tVBD\t_\t1\tSs\t1:Ss|3:Op\t_
3\tmen\tman\tNOUN\tNNS\t_\t1\tXx\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t.\t_\t1\tnull\t_\t_

# sent_id = one-1
# parse = other
# linkage = deps
1\tHe\the\tPRON\tPRP\t_\t2\tSs\t_\t_
2\tsaw\tsee\tVERB\tVBD\t_\t0\troot\t_\t_
3\tmen\tman\tNOUN\tNNS\t_\t2\tSs\t1:Op|2:Op\tSpaceAfter=No
4\t.\t.\tPUNCT\t.\t_\t2\tnull\t_\t_

"""


def test_linkages_of_a_file_are_compared_as_sets_of_links(tmp_path):
    """Another tree of the same links has goodness 1; its links are those of column 9."""
    path = tmp_path / "linkages.conllu"
    path.write_text(LINKAGES)
    (doc,) = ConllU(str(path))(spacy.blank("en"))
    assert doc.user_data["gold"][0]["links"] == [[0, 1, "Ss"], [0, 2, "Xx"], [1, 2, "Op"]]
    task = ParseRanking()
    same, other = task.candidates(doc)
    assert same.label == 1.0
    assert other.label == pytest.approx(2 * 1 / (2 * 1 + 1 + 2))  # (1, 2, Op) of three; one wrong
    directed = ParseRanking(directed=True).candidates(doc)
    assert directed[0].label < 1
    write_conllu([doc], str(tmp_path / "written.conllu"))
    (again,) = ConllU(str(tmp_path / "written.conllu"))(spacy.blank("en"))
    for key in ("gold", "parses"):
        assert again.user_data[key] == doc.user_data[key]


@pytest.mark.parametrize("item", ["Ss", "9:Ss", "0:Ss", "1:Ss", "2:"])
def test_links_that_do_not_fit_are_refused(tmp_path, item):
    path = tmp_path / "linkages.conllu"
    path.write_text(LINKAGES.replace("2:Ss\t_\n", f"{item}\t_\n", 1))
    with pytest.raises(ValueError, match=r"line 1: link .* of word 1 of sentence 'one-1'"):
        list(ConllU(str(path))(spacy.blank("en")))


def test_column_nine_of_a_treebank_is_ignored(tmp_path):
    path = tmp_path / "trees.conllu"
    path.write_text(LINKAGES.replace("# linkage = deps\n", "").replace("2:Ss", "0:root"))
    (doc,) = ConllU(str(path))(spacy.blank("en"))
    assert all("links" not in row for row in doc.user_data["gold"] + doc.user_data["parses"])


@needs_program
def test_linkages_of_the_program_survive_a_file_and_rank_themselves_first(tmp_path):
    """The gold linkage, written and read, has goodness 1 among those of the program."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    text = "He saw the man with a telescope. The protein (p53) binds to the promoter in vitro."
    doc = nlp(text)
    doc.user_data["document"] = "one"
    parses = LinkGrammar()(list(doc.sents))
    assert all(len(linkages) > 1 for linkages in parses)
    doc.user_data["gold"] = [
        {
            "parse": "gold",
            "start": sentence.start,
            "heads": [sentence.start + head for head in linkages[1].heads],
            "labels": list(linkages[1].labels),
            "tags": ["X"] * len(sentence),
            "links": [[sentence.start + a, sentence.start + b, k] for a, b, k in linkages[1].links],
        }
        for sentence, linkages in zip(doc.sents, parses, strict=True)
    ]
    path = tmp_path / "linkages.conllu"
    write_conllu([doc], str(path))
    (read,) = ConllU(str(path))(nlp)
    task = ParseRanking(source="link_grammar")
    candidates = task.candidates(read)
    labels: dict[str, list[float]] = {}
    for candidate in candidates:
        labels.setdefault(candidate.query, []).append(candidate.label)
    assert [values[1] for values in labels.values()] == [1.0, 1.0]
    assert all(min(values) < 1 for values in labels.values())
    assert task.unreachable(read, candidates) == 0


@needs_program
@pytest.mark.parametrize(
    "text",
    [
        "The ( p53 ) -dependent ) ( effect [ of ] IL-2 / IL-4 was 5 % ( p < 0.01 ) .",
        "Expression of NF-kappa B's α-subunit wasn't altered , e.g. in 3T3 cells .",
        "Binding of A to B [ 1 , 2 ] increased 2.5-fold ; see Fig. 3A .",
        "]",
        "( )",
        "Found 2 linkages (2 had no P.P. violations)",
    ],
)
def test_hard_tokens_never_give_a_parse_that_does_not_fit(text):
    """The program may find no linkage, but what it finds has a head for every token."""
    (sentence,) = sentences(text)
    for parse in LinkGrammar(linkages=4, seconds=1)([sentence])[0]:
        assert len(parse.heads) == len(parse.labels) == len(sentence)
        assert [label == "ROOT" for label in parse.labels].count(True) == 1
        assert all(0 <= a < b < len(sentence) for a, b, _ in parse.links)
