"""CoNLL-U treebanks: one word per line, possibly with several parses of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span

from textrank.formats.base import FileReader, require_document_id
from textrank.io import (
    MAX_ITEM_BYTES,
    ItemBudget,
    ItemFilter,
    check_utf8,
    iter_lines,
    open_atomic,
    parse_items,
)

GOLD_PARSE = "gold"
LINKAGE_COMMENT, LINKAGE_COLUMN = "linkage", "deps"  # of blocks with links in column 9
# Older treebanks have other tags in the fourth column, which spaCy would refuse.
UPOS_TAG = re.compile(
    "ADJ|ADP|ADV|AUX|CCONJ|DET|INTJ|NOUN|NUM|PART|PRON|PROPN|PUNCT|SCONJ|SYM|VERB|X|SPACE"
)
FEATURE_COLUMN = re.compile(r"_|[^=|]+=[^=|]+(\|[^=|]+=[^=|]+)*")
COMMENT = re.compile(r"#\s*([^=\s]+(?: id)?)\s*=\s*(.*)")


@dataclass(frozen=True)
class ConllU(FileReader):
    """Documents of a CoNLL-U file, with its tokens, tags and trees.

    ``# newdoc id`` or ``# doc_id`` begins a document; without either, sentences whose ``sent_id``
    differs only in its last number belong together. A block with the ``sent_id`` of the block
    before it is a further parse of that sentence, named by ``# parse``. The parse named ``gold``,
    or a single unnamed one, is the gold tree: it is set on the Doc and listed in
    ``doc.user_data["gold"]``. All others go to ``doc.user_data["parses"]``, with ``# score`` where
    given. Both lists hold ``{"sentence", "parse", "start", "heads", "labels", "tags"}``; heads are
    token indices of the Doc, the root is its own head, and its label is ``ROOT`` as in spaCy.

    A linkage of Link Grammar has links without direction, and may have cycles. The comment
    ``# linkage = deps`` says that a block is one: its column 9 (DEPS) then lists all links of a
    word as ``word:type|word:type``, each link at one or both of its words. The row gets ``links``,
    sorted lists of left token, right token and type. Columns 7 and 8 hold any tree of the words.
    Without the comment column 9 is ignored.

    Multiword tokens are replaced by their words, empty nodes are skipped. Without a gold tree for
    every sentence the Doc has sentences and tags but no tree. With ``skip_bad`` a document with an
    error is left out and counted in one warning. ``limit`` is the largest number of bytes of a
    document.
    """

    path: str
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents in file order, with the analysis of the file.

        ``nlp`` gives the vocabulary only; its components do not run. ``item_filter`` selects
        documents by number and takes the errors of malformed ones; None reads all. Raises
        ValueError if the file cannot be read and, without a filter, if it has no document or
        (unless ``skip_bad``) a malformed one.
        """
        name = Path(self.path).name.split(".")[0]
        documents = _documents(_blocks(self.path, self.limit), name, self.path, self.limit)
        yield from parse_items(
            documents,
            lambda d: _build_doc(nlp, self.path, *d),
            path=self.path,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
        )


@dataclass
class _Block:
    """One parse of a sentence as read: comments (``# key = value``) by key, and word lines."""

    number: int  # of its first line in the file
    comments: dict[str, str] = field(default_factory=dict)
    rows: list[tuple[int, str]] = field(default_factory=list)  # line number, line
    size: int = 0  # of its rows, as ItemBudget counts


@dataclass
class _Tree:
    """Parsed block; heads count the words of the sentence from 0, and the root is its own head.

    Lists have one entry per word: ``columns`` the ten columns of its line, ``spaces`` whether a
    blank follows it, ``labels`` its dependency type. ``parse`` and ``score`` are the comments of
    that name, "" if missing; ``sentence`` is the id. ``links`` are those of a linkage, left word
    first and sorted, with words counted from 0; None for a block that is none.
    """

    sentence: str
    parse: str
    score: str
    words: list[str] = field(default_factory=list)
    columns: list[list[str]] = field(default_factory=list)
    spaces: list[bool] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    links: list[tuple[int, int, str]] | None = None

    def tags(self) -> list[str]:
        """Return the language-specific tags (column 5) of the words as written, ``_`` for none."""
        return [column[4] for column in self.columns]

    def to_dict(self, start: int) -> dict[str, Any]:
        """Return the row for ``user_data``.

        Keys: ``sentence`` (id), ``parse`` (name, "" if missing), ``start``, ``heads``, ``labels``
        and ``tags`` (lists with one entry per word), ``score``, a number, if the file gives one,
        and ``links`` if the block is a linkage. ``start`` is the sentence's first token in the
        Doc; heads become token indices of the Doc, the root is its own head.
        """
        row: dict[str, Any] = {"sentence": self.sentence, "parse": self.parse, "start": start}
        row["heads"] = [start + head for head in self.heads]
        row |= {"labels": self.labels, "tags": self.tags()}
        if self.links is not None:
            row["links"] = [[start + a, start + b, kind] for a, b, kind in self.links]
        return row | ({"score": float(self.score)} if self.score else {})


def _blocks(path: str, limit: int) -> Iterator[_Block]:
    """Iterate over the blocks of a file, separated by blank lines.

    Comments without words belong to the next block; at the end of the file they are dropped.
    Comments that are not ``key = value`` are ignored, and of equal keys the last counts. ``limit``
    is the largest number of bytes of a block; raises ValueError for a larger one.
    """
    block: _Block | None = None
    budget = ItemBudget(path, limit)
    for number, line in iter_lines(path, limit):
        if not line.strip():
            if block is not None and block.rows:
                yield block
                block = None
                budget.start_item()
            continue
        block = block or _Block(number)
        budget.add(line, block.number)
        if line.startswith("#"):
            match = COMMENT.fullmatch(line.rstrip())
            if match:
                block.comments[match[1]] = match[2]
        else:
            block.rows.append((number, line))
            block.size += max(len(line), ItemBudget.LINE_COST)
    if block is not None and block.rows:
        yield block


def _documents(
    blocks: Iterable[_Block], name: str, path: str, limit: float
) -> Iterator[tuple[str, list[_Block]]]:
    """Group adjacent blocks by document and iterate over ``(id, blocks)``.

    ``name`` is the id if neither comments nor sentence ids give one. Once a comment has given an
    id, sentence ids are no longer considered, and a block without such a comment belongs to the
    document before it. An id that comes back later begins another document. Raises ValueError for
    a document of more than ``limit`` bytes; ``path`` is for the message.
    """
    current, document_blocks = "", list[_Block]()
    size = 0
    has_ids = False
    for block in blocks:
        document_id = block.comments.get("newdoc id", block.comments.get("doc_id", ""))
        has_ids = has_ids or bool(document_id)
        if not has_ids:  # the sentence ids of treebanks without documents begin with the document's
            document_id = re.sub(r"[-._:]?s?\d+$", "", block.comments.get("sent_id", "")) or name
        if document_id and document_id != current:
            if document_blocks:
                yield current, document_blocks
            current, document_blocks, size = document_id, [], 0
        document_blocks.append(block)
        size += block.size
        if size > limit:
            raise ValueError(
                f"{path}, line {document_blocks[0].number}: the document that begins here has more "
                f"than {int(limit):,} bytes. Add '# newdoc id' comments, or raise the limit "
                "(--max-bytes, or the reader's setting)."
            )
    if document_blocks:
        yield current, document_blocks


def _build_doc(nlp: Language, path: str, document: str, blocks: list[_Block]) -> Doc:
    """Build the Doc of one document, with gold and further parses in ``user_data``.

    ``path`` is used in messages, ``document`` is the id. Tokens are those of the gold parse of each
    sentence, else of its first parse; heads are set only if every sentence has a gold parse. Raises
    ValueError if a tree is malformed or two parses of a sentence have different words.
    """
    sentences: list[list[_Tree]] = []
    for block in blocks:
        tree = _parse_tree(block, path, str(len(sentences) + 1))
        if sentences and "sent_id" in block.comments and tree.sentence == sentences[-1][0].sentence:
            _check_same_words(sentences[-1][0], tree, path, block)
            sentences[-1].append(tree)
        else:
            sentences.append([tree])
    golds = [_find_gold(trees) for trees in sentences]
    shown = [gold or trees[0] for gold, trees in zip(golds, sentences, strict=True)]
    doc = _trees_to_doc(nlp, shown, tree=all(gold is not None for gold in golds))
    starts = [0]
    for tree in shown:
        starts.append(starts[-1] + len(tree.words))
    doc.user_data["document"] = document
    doc.user_data["sentences"] = [tree.sentence for tree in shown]
    doc.user_data["gold"] = [g.to_dict(start) for g, start in zip(golds, starts, strict=False) if g]
    others = zip(golds, sentences, starts, strict=False)
    parses = [t.to_dict(start) for gold, trees, start in others for t in trees if t is not gold]
    if parses:
        doc.user_data["parses"] = parses
    return doc


def _find_gold(trees: list[_Tree]) -> _Tree | None:
    """Return the gold tree among the parses of a sentence, or None.

    It is the first one named ``GOLD_PARSE``, or a single one without a name.
    """
    gold_trees = [tree for tree in trees if tree.parse == GOLD_PARSE]
    if gold_trees or (len(trees) == 1 and not trees[0].parse):
        return (gold_trees or trees)[0]
    return None


def _parse_tree(block: _Block, path: str, name: str) -> _Tree:
    """Parse and check a block; ``name`` is the sentence id if no comment gives one.

    Multiword lines only decide whether a blank follows; empty nodes are skipped. Raises ValueError
    with file and line if a line is malformed or the words do not form a tree.
    """
    comments = block.comments
    tree = _Tree(
        comments.get("sent_id", name), comments.get("parse", ""), comments.get("score", "")
    )
    location = f"{path}, line {block.number}"
    try:
        float(tree.score or 0)
    except ValueError:
        raise ValueError(
            f"{location}: score {tree.score!r:.40} is not a number. Correct it."
        ) from None
    no_space_after: dict[str, bool] = {}  # by last word of a multiword token
    multiword_end = 0
    for name, value in comments.items():
        check_utf8(name + value, location)
    for number, line in block.rows:
        row = check_utf8(line, f"{path}, line {number}").split("\t")
        if len(row) != 10:
            raise ValueError(
                f"{path}, line {number}: {len(row)} columns. CoNLL-U has ten, separated by tabs."
            )
        if multiword := re.fullmatch(r"(\d{1,9})-(\d{1,9})", row[0]):
            no_space_after[multiword[2]] = "SpaceAfter=No" in row[9].split("|")
            multiword_end = int(multiword[2])
        elif not re.fullmatch(r"\d{1,9}\.\d{1,9}", row[0]):
            _add_word(tree, row, no_space_after, multiword_end, f"{path}, line {number}")
    _check_tree(tree, location)
    if comments.get(LINKAGE_COMMENT) == LINKAGE_COLUMN:
        tree.links = _read_links(tree, location)
    return tree


def _read_links(tree: _Tree, location: str) -> list[tuple[int, int, str]]:
    """Return the links in column 9 of a linkage, each once, left word first, sorted.

    Words are counted from 0. Raises ValueError, beginning with ``location``, for an item that is
    not ``word:type`` with the number of another word of the sentence.
    """
    links = set()
    for word, row in enumerate(tree.columns):
        for item in row[8].split("|") if row[8] != "_" else ():
            match = re.fullmatch(r"(\d{1,9}):(.+)", item)
            other = int(match[1]) - 1 if match else -1
            if match is None or not 0 <= other < len(tree.words) or other == word:
                raise ValueError(
                    f"{location}: link {item!r:.40} of word {word + 1} of sentence "
                    f"{tree.sentence!r}. Write number:type of another word, items separated by |."
                )
            links.add((min(word, other), max(word, other), match[2]))
    return sorted(links)


def _add_word(
    tree: _Tree, row: list[str], glued: dict[str, bool], until: int, location: str
) -> None:
    """Append one word line to ``tree``, in place.

    ``row`` has its ten columns. ``glued`` says for the last word of a multiword token whether no
    blank follows it; ``until`` is the number of the last word of the latest multiword token, 0 if
    there was none. Raises ValueError if the line is malformed.
    """
    if row[0] != str(len(tree.words) + 1):
        raise ValueError(f"{location}: word {row[0]!r:.40} out of order. Number the words from 1.")
    if not row[1] or not re.fullmatch(r"\d{1,9}", row[6]):
        raise ValueError(
            f"{location}: word {row[1]!r:.40} with head {row[6]!r:.40}. Columns 2 and 7 are the "
            "word and the number of its head, 0 for the root."
        )
    if not FEATURE_COLUMN.fullmatch(row[5]):
        raise ValueError(f"{location}: features {row[5]!r:.40}. Write Name=Value|Name=Value, or _.")
    is_inside_multiword = int(row[0]) < until
    space_follows = not glued.get(row[0], "SpaceAfter=No" in row[9].split("|"))
    tree.words.append(row[1])
    tree.columns.append(row)
    tree.spaces.append(space_follows and not is_inside_multiword)
    head = int(row[6])
    tree.heads.append(head - 1 if head else len(tree.words) - 1)
    tree.labels.append(row[7] if head else "ROOT")


def _check_tree(tree: _Tree, location: str) -> None:
    """Raise ValueError unless the words form one tree with a single root; also without words.

    Heads beyond the last word are refused too. ``location`` begins the message.
    """
    size = len(tree.words)
    if not size:
        raise ValueError(f"{location}: sentence {tree.sentence!r} has no words. Remove it.")
    if max(tree.heads) >= size:
        raise ValueError(
            f"{location}: sentence {tree.sentence!r} of {size} words has a head "
            f"{max(tree.heads) + 1}."
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
            f"{location}: sentence {tree.sentence!r} has {len(roots)} roots and {len(reached)} of "
            f"{size} words hang from them. A tree has one root and no cycle."
        )


def _check_same_words(first: _Tree, tree: _Tree, path: str, block: _Block) -> None:
    """Raise ValueError unless two parses of a sentence have the same words.

    ``block`` is that of ``tree``; with ``path`` it locates the error in the message.
    """
    if first.words != tree.words:
        raise ValueError(
            f"{path}, line {block.number}: two blocks have sent_id {tree.sentence!r} but not the "
            "same words. Give sentences ids of their own."
        )


def _trees_to_doc(nlp: Language, trees: list[_Tree], *, tree: bool) -> Doc:
    """Return a Doc of the sentences, in order, with lemmas, tags and morphology of the file.

    ``tree`` says whether to set heads and labels; if False only sentence starts are set. Tags that
    are not universal parts of speech are left out of ``pos``, and ``_`` is an empty value.
    """
    columns = [[_blank_if_underscore(v) for v in row] for t in trees for row in t.columns]
    starts: list[bool | int | None] = [i == 0 for t in trees for i in range(len(t.words))]
    offsets = [0]
    for t in trees:
        offsets.append(offsets[-1] + len(t.words))
    heads = [offset + head for offset, t in zip(offsets, trees, strict=False) for head in t.heads]
    return Doc(
        nlp.vocab,
        words=[word for t in trees for word in t.words],
        spaces=[space for t in trees for space in t.spaces],
        lemmas=[row[2] for row in columns],
        pos=[row[3] if UPOS_TAG.fullmatch(row[3]) else "" for row in columns],
        tags=[row[4] for row in columns],
        morphs=[row[5] for row in columns],
        heads=heads if tree else None,
        deps=[label for t in trees for label in t.labels] if tree else None,
        sent_starts=None if tree else starts,
    )


def _blank_if_underscore(text: str) -> str:
    """Return the value of a column; ``_`` means that it is empty."""
    return "" if text == "_" else text


def write_conllu(docs: Iterable[Doc], path: str) -> None:
    """Write the sentences of each document with their trees to ``path``, replaced atomically.

    For each sentence these are the gold and candidate parses in ``user_data`` that begin at its
    first token, else the Doc's own parse. Raises ValueError for a Doc without an id or sentence
    boundaries, or if neither parse exists.
    """
    with open_atomic(path) as out:
        for doc in docs:
            out.write(f"# newdoc id = {_remove_tabs(require_document_id(doc))}\n")
            for index, sentence in enumerate(doc.sents):
                out.write("\n".join(_iter_sentence_lines(doc, sentence, index)) + "\n")


def _iter_sentence_lines(doc: Doc, sentence: Span, index: int) -> Iterator[str]:
    """Iterate over the lines of all parses of one sentence, each ended by a blank line.

    ``index`` is the number of the sentence in the Doc, from 0; it selects the id in
    ``user_data["sentences"]`` or, without one, makes ``<document>-<index + 1>``. Gold comes first.
    Parses of ``user_data`` belong to the sentence if their ``start`` is its first token; without
    any, the Doc's own parse is written, and ValueError raised if it has none.
    """
    names = doc.user_data.get("sentences", [])
    name = names[index] if index < len(names) else f"{require_document_id(doc)}-{index + 1}"
    parses = [*doc.user_data.get("gold", []), *doc.user_data.get("parses", [])]
    trees = [row for row in parses if "heads" in row and row["start"] == sentence.start]
    for tree in trees or [_doc_tree(sentence)]:
        if tree is not None:
            yield f"# sent_id = {_remove_tabs(name)}"
            if len(trees) > 1 or tree["parse"]:
                yield f"# parse = {_remove_tabs(tree['parse'] or GOLD_PARSE)}"
            if "score" in tree:
                yield f"# score = {tree['score']!r}"
            if "links" in tree:
                yield f"# {LINKAGE_COMMENT} = {LINKAGE_COLUMN}"
            yield f"# text = {_remove_tabs(sentence.text)}"
            yield from _iter_word_lines(sentence, tree)
            yield ""


def _doc_tree(sentence: Span) -> dict[str, Any]:
    """Return the Doc's own parse of a sentence as a row; raise ValueError if there is none.

    The row is as in ``user_data`` (``heads`` are token indices of the Doc), without a name.
    """
    if not sentence.doc.has_annotation("DEP"):
        raise ValueError(
            f"the Doc {require_document_id(sentence.doc)!r} has no parse. Parse it before writing "
            "CoNLL-U."
        )
    return {
        "parse": "",
        "heads": [token.head.i for token in sentence],
        "labels": [token.dep_ for token in sentence],
        "tags": [token.tag_ for token in sentence],
    }


def _iter_word_lines(sentence: Span, tree: dict[str, Any]) -> Iterator[str]:
    """Iterate over the word lines of a sentence with the heads, labels and tags of ``tree``.

    ``tree`` is a row of ``user_data`` with one entry per token. Words are numbered from 1, the head
    of the root is 0, and empty columns are ``_``. A link of a linkage is written at its right word;
    "|" in its type becomes "/".
    """
    links: dict[int, list[str]] = {}
    for left, right, kind in sorted(tree.get("links", ())):
        number = int(left) - sentence.start + 1
        links.setdefault(int(right), []).append(f"{number}:{kind}".replace("|", "/"))
    for i, token in enumerate(sentence):
        head = tree["heads"][i]
        number = 0 if head == token.i else head - sentence.start + 1
        fields = [token.text, token.lemma_, token.pos_, tree["tags"][i], str(token.morph)]
        label = tree["labels"][i] if number else "root"
        misc = "" if token.whitespace_ else "SpaceAfter=No"
        row = [str(i + 1), *fields, str(number), label, "|".join(links.get(token.i, [])), misc]
        yield "\t".join(_remove_tabs(field) or "_" for field in row)


def _remove_tabs(text: str) -> str:
    """Replace each tab, newline and carriage return, which end columns and lines, by a blank."""
    return re.sub(r"[\t\n\r]", " ", text)
