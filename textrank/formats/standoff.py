"""brat standoff: a text file and, beside it, its annotations in a file ``.ann``."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias
from urllib.parse import unquote

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.base import (
    FileReader,
    Mention,
    Record,
    UniqueFileNames,
    build_docs,
    check_mention_text,
    get_mentions,
    get_relations,
    mention_text,
)
from textrank.io import (
    MAX_ITEM_BYTES,
    MAX_UNPACKED_BYTES,
    ItemFilter,
    check_utf8,
    iter_lines,
    open_new_text,
    read_text,
    update_folder,
)

ARGUMENTS = ("Arg1", "Arg2")


@dataclass(frozen=True)
class Brat(FileReader):
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
    limit: int = MAX_ITEM_BYTES

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        return build_docs(
            self._texts(),
            self._record,
            nlp,
            path=self.path,
            cut=self.cut,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
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
        for number, line in iter_lines(notes, self.limit) if notes.exists() else ():
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
            check_mention_text(place, self.text, mention, words)
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
    stems = UniqueFileNames()
    with update_folder(path) as folder:
        for doc in docs:
            stem = stems.name_for(doc)
            with open_new_text(folder / f"{stem}.txt") as out:
                out.write(doc.text)
            with open_new_text(folder / f"{stem}.ann") as out:
                out.writelines(row + "\n" for row in _annotation_lines(doc, source))


def _annotation_lines(doc: Doc, source: str) -> Iterator[str]:
    mentions = get_mentions(doc)
    fitting = all(re.fullmatch(r"T\d+", m.id) for m in mentions)
    names = {m.id: m.id if fitting else f"T{i}" for i, m in enumerate(mentions, 1)}
    for m in mentions:
        places = ";".join(f"{start} {end}" for start, end in m.pieces)
        words = re.sub(r"\s", " ", mention_text(doc, m))
        yield f"{names[m.id]}\t{_word(m.label or 'Entity')} {places}\t{words}"
    number = 0
    for row in get_relations(doc, source):
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
class BioNLP(FileReader):
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
    limit: int = MAX_UNPACKED_BYTES

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        documents = self._documents()
        return build_docs(
            sorted(documents.items()),
            self._record,
            nlp,
            path=self.path,
            cut=self.cut,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
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
            check_mention_text(place, self.text, mention, words)
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
