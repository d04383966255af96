"""brat standoff: a text file and, beside it, its annotations in a file ``.ann``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.records import (
    Mention,
    Record,
    Stems,
    check_words,
    docs_of,
    mentions_of,
    relations_of,
    words_of,
)
from textrank.io import LIMIT, changed_folder, check_utf8, fresh_text, lines, read_text

ARGUMENTS = ("Arg1", "Arg2")


@dataclass(frozen=True)
class Brat:
    """Documents annotated with brat: a folder of ``.txt`` and ``.ann`` files, or one of them.

    Text-bound annotations (``T``, in one piece or several) become entities, relations (``R``) gold.
    Events (``E``), equivalences (``*``) and attributes (``A``, ``M``) are kept in
    ``doc.user_data["events"]``, ``["equivalent"]`` and ``["attributes"]``, normalisations (``N``)
    in ``["concepts"]``; notes (``#``) are comments. The names of a text without ``.ann`` are left
    to a recogniser in ``nlp``.

    ``cut`` cuts a token that a name covers in part. With ``skip_bad`` a document with an error
    is left out and counted in one warning.
    """

    path: str
    cut: bool = True
    skip_bad: bool = False
    limit: int = LIMIT

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        return docs_of(
            self._texts(), self._record, nlp, path=self.path, cut=self.cut, skip_bad=self.skip_bad
        )

    def _texts(self) -> list[Path]:
        path = Path(self.path)
        if not path.is_dir():
            return [path.with_suffix(".txt") if path.suffix == ".ann" else path]
        texts = sorted(path.glob("*.txt"))
        alone = {p.stem for p in path.glob("*.ann")} - {p.stem for p in texts}
        if alone:
            raise ValueError(f"{path}: no text file for {min(alone)}.ann. Add {min(alone)}.txt.")
        return texts

    def _record(self, path: Path) -> Record:
        text = read_text(path, self.limit)
        notes = path.with_suffix(".ann")
        page = _Annotations(text, str(notes))
        for number, line in lines(notes, self.limit) if notes.exists() else ():
            place = f"{notes}, line {number}"
            page.read(check_utf8(line, place), place)
        gold = page.relations()
        data = {key: value for key, value in page.data.items() if value}
        if not notes.exists():
            return Record(unquote(path.stem), text, str(path))
        return Record(unquote(path.stem), text, str(notes), page.mentions, gold, data=data)


@dataclass
class _Annotations:
    """The lines of one ``.ann`` file, read one after the other."""

    text: str
    place: str
    mentions: list[Mention] = field(default_factory=list)
    pairs: list[dict[str, Any]] = field(default_factory=list)
    data: dict[str, Any] = field(
        default_factory=lambda: {"events": [], "equivalent": [], "attributes": [], "concepts": {}}
    )

    def read(self, line: str, place: str) -> None:
        if not line.strip() or line.startswith("#"):
            return
        name, _, rest = line.partition("\t")
        body, _, tail = rest.partition("\t")
        if not re.fullmatch(r"\*|[A-Z]\S*", name) or not body.strip():
            raise ValueError(
                f"{place}: {line!r:.80} is no annotation. Write ID, tab, type and arguments, as in "
                "'T1<tab>Protein 0 5<tab>GRB2'."
            )
        read = {"T": self._mention, "R": self._relation, "E": self._event, "N": self._concept}
        known = read | {"*": self._equivalence, "A": self._attribute, "M": self._attribute}
        if name[0] not in known:
            raise ValueError(f"{place}: unknown kind of annotation {name!r}. Known: {[*known]}.")
        known[name[0]](name, body, tail, place)

    def _mention(self, name: str, body: str, words: str, place: str) -> None:
        label, _, ranges = body.partition(" ")
        if not re.fullmatch(r"\d{1,12} \d{1,12}(;\d{1,12} \d{1,12})*", ranges):
            raise ValueError(
                f"{place}: {ranges!r:.80} are no offsets. Write 'start end', pieces of a broken "
                "name joined by ';', as in '0 5;16 23'."
            )
        pieces = [tuple(map(int, piece.split())) for piece in ranges.split(";")]
        mention = Mention(name, label, tuple(sorted((start, end) for start, end in pieces)))
        if words:
            check_words(place, self.text, mention, words)
        self.mentions.append(mention)

    def _relation(self, name: str, body: str, _: str, place: str) -> None:
        kind, arguments = self._arguments(body, place)
        if len(arguments) != 2:
            raise ValueError(f"{place}: a relation has two arguments, not {len(arguments)}.")
        self.pairs.append({"id": name, "type": kind, "arguments": arguments})

    def _event(self, name: str, body: str, _: str, place: str) -> None:
        (kind, trigger), *arguments = _named(body, place)
        self.data["events"].append(
            {"id": name, "type": kind, "arguments": [["trigger", trigger], *arguments]}
        )

    def _equivalence(self, _: str, body: str, __: str, place: str) -> None:
        self.data["equivalent"].append(body.split()[1:])

    def _attribute(self, name: str, body: str, _: str, place: str) -> None:
        self.data["attributes"].append([name, *body.split(" ", 2)])

    def _concept(self, _: str, body: str, __: str, place: str) -> None:
        words = body.split(" ", 2)
        if len(words) != 3:
            raise ValueError(f"{place}: {body!r:.80}. Write 'Reference T1 database:number'.")
        self.data["concepts"][words[1]] = words[2]

    def _arguments(self, body: str, place: str) -> tuple[str, list[list[str]]]:
        kind, _, rest = body.partition(" ")
        return kind, _named(rest, place)

    def relations(self) -> list[dict[str, Any]]:
        """Gold pairs of names; a relation of events is an event itself."""
        names = {mention.id for mention in self.mentions}
        gold: list[dict[str, Any]] = []
        known = names | {event["id"] for event in self.data["events"]}
        known |= {pair["id"] for pair in self.pairs}
        for pair in self.pairs:
            roles, ends = zip(*pair["arguments"], strict=True)
            if unknown := [end for end in ends if end not in known]:
                raise ValueError(
                    f"{self.place}: relation {pair['id']} names {unknown[0]!r}, which does not "
                    "exist. Correct the relation."
                )
            if not names.issuperset(ends):
                self.data["events"].append(pair)
                continue
            gold.append({"entities": list(ends), "label": True, "type": pair["type"]})
            if roles != ARGUMENTS:
                gold[-1]["roles"] = list(roles)
        return gold


def _named(text: str, place: str) -> list[list[str]]:
    """``Arg1:T1 Arg2:T3`` as pairs of role and id."""
    parts = [part.split(":", 1) for part in text.split()]
    if not parts or any(len(part) != 2 for part in parts):
        raise ValueError(f"{place}: {text!r:.80} are no arguments. Write 'Arg1:T1 Arg2:T2'.")
    return parts


def write_brat(docs: Iterable[Doc], path: str, *, source: str = "gold") -> None:
    """A ``.txt`` and an ``.ann`` file a document in the folder ``path``, made if need be.

    brat states what is there: pairs labelled false are left out. Ids become T1, T2, ... where they
    are not so already; events, equivalences and attributes, which speak of ids, are then left out
    too. Characters a file name cannot have are written as in web addresses. The folder changes as a
    whole when all are written; other files in it stay.
    """
    stems = Stems()
    with changed_folder(path) as folder:
        for doc in docs:
            stem = stems.of(doc)
            with fresh_text(folder / f"{stem}.txt") as out:
                out.write(doc.text)
            with fresh_text(folder / f"{stem}.ann") as out:
                out.writelines(row + "\n" for row in _annotation_lines(doc, source))


def _annotation_lines(doc: Doc, source: str) -> Iterator[str]:
    mentions = mentions_of(doc)
    fitting = all(re.fullmatch(r"T\d+", m.id) for m in mentions)
    names = {m.id: m.id if fitting else f"T{i}" for i, m in enumerate(mentions, 1)}
    for m in mentions:
        places = ";".join(f"{start} {end}" for start, end in m.pieces)
        words = re.sub(r"\s", " ", words_of(doc, m))
        yield f"{names[m.id]}\t{_word(m.label or 'Entity')} {places}\t{words}"
    number = 0
    for row in relations_of(doc, source):
        if not row.get("label"):
            continue
        number += 1
        roles = zip(row.get("roles", ARGUMENTS), row["entities"], strict=True)
        ends = " ".join(f"{role}:{names[end]}" for role, end in roles)
        yield f"R{number}\t{_word(row.get('type') or 'Interaction')} {ends}"
    if fitting:
        yield from _further_lines(doc)
    concepts = doc.user_data.get("concepts", {}).items()
    for number, (name, concept) in enumerate(concepts, 1):
        yield f"N{number}\tReference {names.get(name, name)} {_word(concept)}"


def _further_lines(doc: Doc) -> Iterator[str]:
    for event in doc.user_data.get("events", []):
        (role, first), *rest = event["arguments"]
        kind = _word(event["type"])
        # An event leads with its trigger; a relation of events has two plain arguments.
        head = f"{kind}:{first}" if role == "trigger" else f"{kind} {role}:{first}"
        yield "\t".join([event["id"], " ".join([head, *(f"{r}:{end}" for r, end in rest)])])
    for group in doc.user_data.get("equivalent", []):
        yield "*\tEquiv " + " ".join(group)
    for name, *words in doc.user_data.get("attributes", []):
        yield f"{name}\t{' '.join(words)}"


def _word(text: str) -> str:
    """Types have no blanks in this format."""
    return re.sub(r"\s+", "_", text)
