"""BioNLP shared task standoff: texts with names (``.a1``) and events (``.a2``), unfolded to pairs.

An event has a trigger, a type and arguments, which are names or other events. A pair of names
follows from it where both are found by going down: two Themes of a Binding, or the Cause and the
innermost Theme of a regulation or modification.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.records import Mention, Record, check_words, docs_of
from textrank.io import WHOLE, read_text

Files: TypeAlias = Mapping[str, str]  # suffix -> text
Chain: TypeAlias = tuple[str, tuple[str, ...]]  # a name, and the events that lead down to it

NAMES = ("Protein", "Gene_or_gene_product", "Complex")
SUFFIXES = (".txt", ".a1", ".a2")
_EVENTS = {
    "binding": "Binding",
    "phosphorylation": "Phosphorylation",
    "degradation": "Degradation Protein_catabolism Catabolism",
    "activation": "Positive_regulation Activation",
    "inhibition": "Negative_regulation Inactivation",
    "regulation": "Regulation",
    "modification": "Acetylation Methylation Ubiquitination Glycosylation Hydroxylation "
    "Dephosphorylation Deacetylation Demethylation Deubiquitination Deglycosylation "
    "Dehydroxylation DNA_methylation DNA_demethylation Protein_modification Catalysis",
}
TYPES = {event: kind for kind, events in _EVENTS.items() for event in events.split()}
LOSSES = ("Negative_regulation", "Inactivation", "Degradation", "Protein_catabolism")
OPPOSITE = {"activation": "inhibition", "inhibition": "activation"}
MARKS = {"Negation": "negated", "Speculation": "speculated"}
STATUSES = ("asserted", "negated", "speculated")  # of several statements the first one counts


@dataclass(frozen=True)
class BioNLP:
    """Documents of BioNLP shared tasks: a folder of ``.txt``, ``.a1``, ``.a2``, or its tar archive.

    Names of the kinds ``names`` become entities, pairs of them that an event joins gold, each with
    ``type``, ``direction`` ("a>b" from the first of its entities to the second), ``status`` and
    ``trigger`` (characters). The outermost event that joins two names decides the type; a loss of
    the cause turns activation and inhibition round. Where several events say different things of a
    pair, an asserted one outweighs a negated one, and that a speculated one. Gold holds negated
    and speculated pairs too, labelled true: they are stated, if as untrue; with ``asserted`` only
    asserted pairs are true. Sections of one article are of one origin and held out together.

    ``cut`` cuts a token that a name covers in part. With ``skip_bad`` a document with an error
    is left out and counted in one warning.
    """

    path: str
    names: Sequence[str] = NAMES
    asserted: bool = False
    cut: bool = True
    skip_bad: bool = False
    limit: int = WHOLE

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        documents = self._documents()
        return docs_of(
            sorted(documents.items()),
            self._record,
            nlp,
            path=self.path,
            cut=self.cut,
            skip_bad=self.skip_bad,
        )

    def _documents(self) -> dict[str, dict[str, str]]:
        """The files of each document by suffix."""
        path = Path(self.path)
        found: dict[str, dict[str, str]] = {}
        pairs = _of_folder(path, self.limit) if path.is_dir() else _of_archive(path, self.limit)
        for name, text in pairs:
            found.setdefault(name.stem, {})[name.suffix] = text
        return found

    def _record(self, item: tuple[str, Files]) -> Record:
        stem, files = item
        place = f"{self.path}, {stem}"
        if ".txt" not in files:
            raise ValueError(f"{place}: annotations without a text. Add {stem}.txt.")
        text = files[".txt"]
        page = _Page(text, place, frozenset(self.names))
        for suffix in (".a1", ".a2"):
            for number, line in enumerate(files.get(suffix, "").splitlines(), 1):
                page.read(line, f"{place}{suffix}, line {number}", names=suffix == ".a1")
        gold = [{**row, "label": self._label(row)} for row in page.statements()]
        if ".a1" not in files:
            return Record(stem, text, place)
        data = {"origin": _origin(stem)}
        breaks = [m.end() for m in re.finditer(r"\n", text)]
        return Record(stem, text, place, page.mentions, gold, breaks=breaks, data=data)

    def _label(self, row: Mapping[str, Any]) -> bool:
        return row["status"] == "asserted" or not self.asserted


def _of_folder(path: Path, limit: int) -> Iterator[tuple[PurePosixPath, str]]:
    for file in sorted(path.iterdir()):
        if file.suffix in SUFFIXES:
            yield PurePosixPath(file.name), read_text(file, limit)


def _of_archive(path: Path, limit: int) -> Iterator[tuple[PurePosixPath, str]]:
    """The texts in a tar file, read in memory: nothing is unpacked to the disk."""
    left = limit
    try:
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                name = PurePosixPath(member.name)
                if not member.isfile() or name.suffix not in SUFFIXES:
                    continue
                left -= member.size
                if left < 0:
                    raise ValueError(
                        f"{path}: more than {limit:,} bytes after unpacking. Split the archive, "
                        "or raise the reader's limit if you trust it."
                    )
                stream = archive.extractfile(member)
                yield name, (stream.read() if stream else b"").decode("utf-8-sig")
    except FileNotFoundError as error:
        raise ValueError(f"{path}: no such file. Check the path.") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: {name} is not UTF-8 ({error.reason}). Convert it.") from error
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ValueError(
            f"{path}: not a readable tar archive ({error}). Name a folder of .txt, .a1 and .a2 "
            "files or a tar archive of them."
        ) from error


def _origin(stem: str) -> str:
    """The article that a section is of; the name itself where it is no section.

    >>> _origin("PMC-1310901-00-TIAB"), _origin("PMID-10072510")
    ('PMC-1310901', 'PMID-10072510')
    """
    article = re.match(r"PM(?:C|ID)-?\d+", stem)
    return article[0] if article else stem


@dataclass(frozen=True)
class Event:
    """A trigger with its type and arguments; roles without the numbers behind them."""

    type: str
    trigger: str
    arguments: tuple[tuple[str, str], ...]

    def of(self, role: str) -> list[str]:
        """The arguments in a role."""
        return [end for own, end in self.arguments if own == role]


@dataclass
class _Page:
    """The annotations of one document, read line by line."""

    text: str
    place: str
    kinds: frozenset[str]
    mentions: list[Mention] = field(default_factory=list)
    triggers: dict[str, Mention] = field(default_factory=dict)
    events: dict[str, Event] = field(default_factory=dict)
    marks: dict[str, set[str]] = field(default_factory=dict)

    def read(self, line: str, place: str, *, names: bool) -> None:
        """One line of ``.a1`` (``names``) or ``.a2``."""
        kind = line[:1]
        if kind not in ("T", "E", "M", "A"):
            return  # equivalences, coreference, notes
        name, _, rest = line.partition("\t")
        body, _, words = rest.partition("\t")
        if not body.strip():
            raise ValueError(f"{place}: {line!r:.80} is no annotation. Write ID, tab, what it is.")
        if kind == "T":
            self._mention(name, body, words, place, names)
        elif kind == "E":
            self._event(name, body, place)
        else:
            mark, _, of = body.partition(" ")
            if mark in MARKS:
                self.marks.setdefault(of.strip(), set()).add(MARKS[mark])

    def _mention(self, name: str, body: str, words: str, place: str, names: bool) -> None:
        label, _, ranges = body.partition(" ")
        if not re.fullmatch(r"\d{1,12} \d{1,12}(;\d{1,12} \d{1,12})*", ranges):
            raise ValueError(f"{place}: {ranges!r:.80} are no offsets. Write 'start end'.")
        pieces = [tuple(map(int, piece.split())) for piece in ranges.split(";")]
        mention = Mention(name, label, tuple(sorted((start, end) for start, end in pieces)))
        if words:
            check_words(place, self.text, mention, words)
        if not names:
            self.triggers[name] = mention
        elif label in self.kinds:
            self.mentions.append(mention)

    def _event(self, name: str, body: str, place: str) -> None:
        parts = [part.split(":", 1) for part in body.split()]
        if not parts or any(len(part) != 2 for part in parts):
            raise ValueError(f"{place}: {body!r:.80} is no event. Write 'Binding:T3 Theme:T1'.")
        (kind, trigger), *arguments = parts
        ends = tuple((role.rstrip("0123456789"), end) for role, end in arguments)
        self.events[name] = Event(kind, trigger, ends)

    def statements(self) -> list[dict[str, Any]]:
        """One row for every two names that some event joins."""
        known = {mention.id for mention in self.mentions}
        found: dict[frozenset[str], list[EventLink]] = {}
        for name, event in self.events.items():
            if event.type in TYPES:
                for link in _links(name, self.events, known):
                    found.setdefault(frozenset((link.cause, link.theme)), []).append(link)
        return [self._row(links) for links in found.values()]

    def _row(self, links: Sequence[EventLink]) -> dict[str, Any]:
        status = min((self._status(link) for link in links), key=STATUSES.index)
        stated = [link for link in links if self._status(link) == status]
        inner = {event for link in stated for event in link.below}
        link = next((link for link in stated if link.event not in inner), stated[0])
        trigger = self.triggers.get(self.events[link.event].trigger)
        return {
            "entities": [link.cause, link.theme],
            "type": link.type,
            "direction": link.direction,
            "status": status,
            "trigger": [list(piece) for piece in trigger.pieces] if trigger else [],
        }

    def _status(self, link: EventLink) -> str:
        marks = self.marks.get(link.event, set())
        return next((status for status in STATUSES[1:] if status in marks), STATUSES[0])


@dataclass(frozen=True)
class EventLink:
    """Two names that an event joins, and the events between it and them."""

    event: str
    cause: str
    theme: str
    type: str
    direction: str
    below: frozenset[str]


def _links(name: str, events: Mapping[str, Event], known: set[str]) -> Iterator[EventLink]:
    event = events[name]
    if event.type == "Binding":
        themes = [end for end in event.of("Theme") if end in known]
        for number, second in enumerate(themes):
            for first in themes[:number]:
                if first != second:
                    yield EventLink(name, first, second, "binding", "none", frozenset())
    themes_below = [chain for end in event.of("Theme") for chain in _innermost(end, events, known)]
    for end in event.of("Cause"):
        for cause, above in _innermost(end, events, known):
            for theme, below in themes_below:
                if cause != theme:
                    kind = _type(event, above, below, events)
                    yield EventLink(name, cause, theme, kind, "a>b", frozenset((*above, *below)))


def _type(
    event: Event, above: Sequence[str], below: Sequence[str], events: Mapping[str, Event]
) -> str:
    """The type of the outermost event, of what is catalysed, turned round by a loss of the cause.

    >>> loss = {"E1": Event("Negative_regulation", "T3", (("Theme", "T1"),))}
    >>> _type(Event("Positive_regulation", "T4", ()), ["E1"], [], loss)
    'inhibition'
    """
    kind = TYPES[event.type]
    if event.type == "Catalysis" and below:
        kind = TYPES.get(events[below[0]].type, kind)
    losses = sum(events[name].type in LOSSES for name in above)
    return OPPOSITE.get(kind, kind) if losses % 2 else kind


def _innermost(
    end: str, events: Mapping[str, Event], known: set[str], above: tuple[str, ...] = ()
) -> list[Chain]:
    """The names at the bottom of an argument, each with the events on the way down."""
    if end in known:
        return [(end, above)]
    if end not in events or end in above:  # a name of another kind, or a circle
        return []
    down = events[end].of("Theme")
    return [chain for below in down for chain in _innermost(below, events, known, (*above, end))]
