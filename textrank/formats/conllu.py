"""CoNLL-U: trees a word a line; a sentence may come with several parses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span

from textrank.formats.base import FileReader, require_document_id
from textrank.io import MAX_ITEM_BYTES, ItemFilter, check_utf8, iter_lines, open_atomic, parse_items

GOLD = "gold"
# Older treebanks have other tags in the fourth column, which spaCy would refuse.
UPOS = re.compile(
    "ADJ|ADP|ADV|AUX|CCONJ|DET|INTJ|NOUN|NUM|PART|PRON|PROPN|PUNCT|SCONJ|SYM|VERB|X|SPACE"
)
FEATURES = re.compile(r"_|[^=|]+=[^=|]+(\|[^=|]+=[^=|]+)*")
COMMENT = re.compile(r"#\s*([^=\s]+(?: id)?)\s*=\s*(.*)")


@dataclass(frozen=True)
class ConllU(FileReader):
    """Documents of a CoNLL-U file, with its tokens, tags and trees.

    ``# newdoc id`` or ``# doc_id`` begin a document; without either, sentences whose ``sent_id``
    differs in its last number only belong together. Blocks with the ``sent_id`` of the block before
    are further parses of that sentence, named by ``# parse``. The parse named ``gold``, or an only
    and unnamed one, is the gold tree: it is set on the Doc and listed in ``doc.user_data["gold"]``.
    All others go to ``doc.user_data["parses"]``, with ``# score`` where given. Both lists hold
    ``{"sentence", "parse", "start", "heads", "labels", "tags"}``; heads are tokens of the
    Doc, the root's is itself, and its label is ``ROOT`` as in spaCy.

    Multiword tokens give their words, empty nodes are passed over. Without a gold tree
    the Doc has sentences and tags but no tree. With ``skip_bad`` a document with an error is
    left out and counted in one warning.
    """

    path: str
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        documents = _documents(_blocks(self.path, self.limit), Path(self.path).name.split(".")[0])
        yield from parse_items(
            documents,
            lambda d: _doc(nlp, self.path, *d),
            path=self.path,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
        )


@dataclass
class _Block:
    """One tree: its comments and its lines of words."""

    number: int  # of its first line
    about: dict[str, str] = field(default_factory=dict)
    rows: list[tuple[int, str]] = field(default_factory=list)


@dataclass
class _Tree:
    """A parsed block; heads count words of the sentence from 0, the root's is its own."""

    sentence: str
    parse: str
    score: str
    words: list[str] = field(default_factory=list)
    columns: list[list[str]] = field(default_factory=list)
    spaces: list[bool] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)

    def tags(self) -> list[str]:
        return [column[4] for column in self.columns]

    def to_dict(self, start: int) -> dict[str, Any]:
        row: dict[str, Any] = {"sentence": self.sentence, "parse": self.parse, "start": start}
        row["heads"] = [start + head for head in self.heads]
        row |= {"labels": self.labels, "tags": self.tags()}
        return row | ({"score": float(self.score)} if self.score else {})


def _blocks(path: str, limit: int) -> Iterator[_Block]:
    block: _Block | None = None
    for number, line in iter_lines(path, limit):
        if not line.strip():
            if block is not None and block.rows:
                yield block
                block = None
            continue
        block = block or _Block(number)
        if line.startswith("#"):
            found = COMMENT.fullmatch(line.rstrip())
            if found:
                block.about[found[1]] = found[2]
        else:
            block.rows.append((number, line))
    if block is not None and block.rows:
        yield block


def _documents(blocks: Iterable[_Block], name: str) -> Iterator[tuple[str, list[_Block]]]:
    """Blocks of one document after the other, each with its id."""
    current, found = "", list[_Block]()
    named = False
    for block in blocks:
        given = block.about.get("newdoc id", block.about.get("doc_id", ""))
        named = named or bool(given)
        if not named:  # the sentence ids of treebanks without documents begin with the document's
            given = re.sub(r"[-._:]?s?\d+$", "", block.about.get("sent_id", "")) or name
        if given and given != current:
            if found:
                yield current, found
            current, found = given, []
        found.append(block)
    if found:
        yield current, found


def _doc(nlp: Language, path: str, document: str, blocks: list[_Block]) -> Doc:
    sentences: list[list[_Tree]] = []
    for block in blocks:
        tree = _tree(block, path, str(len(sentences) + 1))
        if sentences and "sent_id" in block.about and tree.sentence == sentences[-1][0].sentence:
            _same_words(sentences[-1][0], tree, path, block)
            sentences[-1].append(tree)
        else:
            sentences.append([tree])
    golds = [_gold(trees) for trees in sentences]
    shown = [gold or trees[0] for gold, trees in zip(golds, sentences, strict=True)]
    doc = _set(nlp, shown, tree=all(gold is not None for gold in golds))
    starts = [0]
    for tree in shown:
        starts.append(starts[-1] + len(tree.words))
    doc.user_data["document"] = document
    doc.user_data["sentences"] = [tree.sentence for tree in shown]
    doc.user_data["gold"] = [g.to_dict(at) for g, at in zip(golds, starts, strict=False) if g]
    others = zip(golds, sentences, starts, strict=False)
    parses = [t.to_dict(at) for gold, trees, at in others for t in trees if t is not gold]
    if parses:
        doc.user_data["parses"] = parses
    return doc


def _gold(trees: list[_Tree]) -> _Tree | None:
    named = [tree for tree in trees if tree.parse == GOLD]
    if named or (len(trees) == 1 and not trees[0].parse):
        return (named or trees)[0]
    return None


def _tree(block: _Block, path: str, name: str) -> _Tree:
    about = block.about
    tree = _Tree(about.get("sent_id", name), about.get("parse", ""), about.get("score", ""))
    place = f"{path}, line {block.number}"
    try:
        float(tree.score or 0)
    except ValueError:
        raise ValueError(f"{place}: score {tree.score!r:.40} is no number. Correct it.") from None
    glued: dict[str, bool] = {}  # last word of a multiword token: whether no blank follows
    until = 0
    for name, value in about.items():
        check_utf8(name + value, place)
    for number, line in block.rows:
        row = check_utf8(line, f"{path}, line {number}").split("\t")
        if len(row) != 10:
            raise ValueError(
                f"{path}, line {number}: {len(row)} columns. CoNLL-U has ten, separated by tabs."
            )
        if found := re.fullmatch(r"(\d{1,9})-(\d{1,9})", row[0]):
            glued[found[2]] = "SpaceAfter=No" in row[9].split("|")
            until = int(found[2])
        elif not re.fullmatch(r"\d{1,9}\.\d{1,9}", row[0]):
            _add_word(tree, row, glued, until, f"{path}, line {number}")
    _check_tree(tree, place)
    return tree


def _add_word(tree: _Tree, row: list[str], glued: dict[str, bool], until: int, place: str) -> None:
    if row[0] != str(len(tree.words) + 1):
        raise ValueError(f"{place}: word {row[0]!r:.40} out of order. Number the words from 1.")
    if not row[1] or not re.fullmatch(r"\d{1,9}", row[6]):
        raise ValueError(
            f"{place}: word {row[1]!r:.40} with head {row[6]!r:.40}. Columns 2 and 7 are the word "
            "and the number of its head, 0 for the root."
        )
    if not FEATURES.fullmatch(row[5]):
        raise ValueError(f"{place}: features {row[5]!r:.40}. Write Name=Value|Name=Value, or _.")
    inside = int(row[0]) < until
    apart = not glued.get(row[0], "SpaceAfter=No" in row[9].split("|"))
    tree.words.append(row[1])
    tree.columns.append(row)
    tree.spaces.append(apart and not inside)
    head = int(row[6])
    tree.heads.append(head - 1 if head else len(tree.words) - 1)
    tree.labels.append(row[7] if head else "ROOT")


def _check_tree(tree: _Tree, place: str) -> None:
    """One root, from which every word is reached."""
    size = len(tree.words)
    if not size:
        raise ValueError(f"{place}: sentence {tree.sentence!r} has no words. Remove it.")
    if max(tree.heads) >= size:
        raise ValueError(
            f"{place}: sentence {tree.sentence!r} of {size} words has a head {max(tree.heads) + 1}."
        )
    roots = [i for i, head in enumerate(tree.heads) if head == i]
    children: list[list[int]] = [[] for _ in range(size)]
    for word, head in enumerate(tree.heads):
        if word != head:
            children[head].append(word)
    reached = list(roots)
    for word in reached:
        reached += children[word]
    if len(roots) != 1 or len(reached) != size:
        raise ValueError(
            f"{place}: sentence {tree.sentence!r} has {len(roots)} roots and {len(reached)} of "
            f"{size} words hang from them. A tree has one root and no cycle."
        )


def _same_words(first: _Tree, tree: _Tree, path: str, block: _Block) -> None:
    if first.words != tree.words:
        raise ValueError(
            f"{path}, line {block.number}: two blocks have sent_id {tree.sentence!r} but not the "
            "same words. Give sentences ids of their own."
        )


def _set(nlp: Language, trees: list[_Tree], *, tree: bool) -> Doc:
    columns = [[_value(v) for v in row] for t in trees for row in t.columns]
    starts: list[bool | int | None] = [i == 0 for t in trees for i in range(len(t.words))]
    offsets = [0]
    for t in trees:
        offsets.append(offsets[-1] + len(t.words))
    heads = [at + head for at, t in zip(offsets, trees, strict=False) for head in t.heads]
    return Doc(
        nlp.vocab,
        words=[word for t in trees for word in t.words],
        spaces=[space for t in trees for space in t.spaces],
        lemmas=[row[2] for row in columns],
        pos=[row[3] if UPOS.fullmatch(row[3]) else "" for row in columns],
        tags=[row[4] for row in columns],
        morphs=[row[5] for row in columns],
        heads=heads if tree else None,
        deps=[label for t in trees for label in t.labels] if tree else None,
        sent_starts=None if tree else starts,
    )


def _value(text: str) -> str:
    return "" if text == "_" else text


def write_conllu(docs: Iterable[Doc], path: str) -> None:
    """The sentences of each document with their trees: gold and candidates, or the Doc's own."""
    with open_atomic(path) as out:
        for doc in docs:
            out.write(f"# newdoc id = {_line(require_document_id(doc))}\n")
            for index, sentence in enumerate(doc.sents):
                out.write("\n".join(_sentence_rows(doc, sentence, index)) + "\n")


def _sentence_rows(doc: Doc, sentence: Span, index: int) -> Iterator[str]:
    names = doc.user_data.get("sentences", [])
    name = names[index] if index < len(names) else f"{require_document_id(doc)}-{index + 1}"
    parses = [*doc.user_data.get("gold", []), *doc.user_data.get("parses", [])]
    trees = [row for row in parses if "heads" in row and row["start"] == sentence.start]
    for tree in trees or [_own(sentence)]:
        if tree is not None:
            yield f"# sent_id = {_line(name)}"
            if len(trees) > 1 or tree["parse"]:
                yield f"# parse = {_line(tree['parse'] or GOLD)}"
            if "score" in tree:
                yield f"# score = {tree['score']!r}"
            yield f"# text = {_line(sentence.text)}"
            yield from _word_rows(sentence, tree)
            yield ""


def _own(sentence: Span) -> dict[str, Any]:
    if not sentence.doc.has_annotation("DEP"):
        raise ValueError(
            f"the Doc {require_document_id(sentence.doc)!r} has no parse. Parse it before writing CoNLL-U."
        )
    return {
        "parse": "",
        "heads": [token.head.i for token in sentence],
        "labels": [token.dep_ for token in sentence],
        "tags": [token.tag_ for token in sentence],
    }


def _word_rows(sentence: Span, tree: dict[str, Any]) -> Iterator[str]:
    for i, token in enumerate(sentence):
        head = tree["heads"][i]
        number = 0 if head == token.i else head - sentence.start + 1
        fields = [token.text, token.lemma_, token.pos_, tree["tags"][i], str(token.morph)]
        label = tree["labels"][i] if number else "root"
        misc = "" if token.whitespace_ else "SpaceAfter=No"
        row = [str(i + 1), *fields, str(number), label, "", misc]
        yield "\t".join(_line(field) or "_" for field in row)


def _line(text: str) -> str:
    """Without the tabs and newlines that would end a field or a line."""
    return re.sub(r"[\t\n\r]", " ", text)
