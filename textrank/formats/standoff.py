"""Standoff formats: brat (``.txt``, ``.ann``) and BioNLP shared tasks (``.txt``, ``.a1``, ``.a2``).

``Brat`` keeps what the annotators wrote. ``BioNLP`` turns nested events into relations between two
proteins (``EventLink``), with type, direction and status.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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

DEFAULT_ROLES = ("Arg1", "Arg2")


# brat ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Brat(FileReader):
    """Documents annotated with brat: a folder of ``.txt`` and ``.ann`` files, or one of the files.

    Text-bound annotations (``T``, in one piece or several) become entities and relations (``R``)
    gold. Events (``E``), equivalences (``*``) and attributes (``A``, ``M``) go to
    ``doc.user_data["events"]``, ``["equivalent"]`` and ``["attributes"]``, normalisations (``N``)
    to ``["concepts"]``; notes (``#``) are ignored. A text without ``.ann`` leaves names to the
    recogniser in ``nlp``.

    Attributes
    ----------
    path
        Folder or file.
    cut
        Split tokens at the edges of a name that covers them in part.
    skip_bad
        Leave out documents with errors and count them in one warning.
    limit
        Largest number of bytes of a text, or of a line of annotations.
    """

    path: str
    cut: bool = True
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the documents sorted by file name, analysed by ``nlp``.

        ``item_filter`` selects documents by number and takes the errors of malformed ones; None
        reads all. ``on_batch_end`` is as in ``FileReader.read``. Raises ValueError if the file
        cannot be read and, without a filter, if it has no document or (unless ``skip_bad``) a
        malformed one.
        """
        return build_docs(
            self._texts(),
            self._record,
            nlp,
            path=self.path,
            cut=self.cut,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
            on_batch_end=on_batch_end,
        )

    def _texts(self) -> list[Path]:
        """Return the text files, sorted; for a single file, ``.txt`` or ``.ann``, its text file.

        That file is not checked to exist. Raises ValueError if an ``.ann`` file of the folder has
        no text.
        """
        path = Path(self.path)
        if not path.is_dir():
            return [path.with_suffix(".txt") if path.suffix == ".ann" else path]
        texts = sorted(path.glob("*.txt"))
        without_text = {p.stem for p in path.glob("*.ann")} - {p.stem for p in texts}
        if without_text:
            raise ValueError(
                f"{path}: no text file for {min(without_text)}.ann. Add {min(without_text)}.txt."
            )
        return texts

    def _record(self, path: Path) -> Record:
        """Read a text file with the annotations next to it.

        The id is the percent-decoded file name without suffix. Without an ``.ann`` file mentions
        and gold are None. Raises ValueError if a line of annotations is malformed.
        """
        text = read_text(path, self.limit)
        annotation_file = path.with_suffix(".ann")
        annotations = _Annotations(text, str(annotation_file))
        for number, line in (
            iter_lines(annotation_file, self.limit) if annotation_file.exists() else ()
        ):
            location = f"{annotation_file}, line {number}"
            annotations.read(check_utf8(line, location), location)
        gold = annotations.relations()
        data = {key: value for key, value in annotations.data.items() if value}
        if not annotation_file.exists():
            return Record(unquote(path.stem), text, str(path))
        return Record(
            unquote(path.stem), text, str(annotation_file), annotations.mentions, gold, data=data
        )


@dataclass
class _Annotations:
    """Annotations of one document in brat's format, filled line by line with ``read``.

    The methods ``_add_…`` take the three tab-separated fields of a line (id, type with arguments,
    covered words) and its location, and raise ValueError if the line is malformed. ``pairs`` are
    all relations as read; ``relations`` returns those between mentions. ``data`` goes to
    ``doc.user_data``.
    """

    text: str
    location: str
    mentions: list[Mention] = field(default_factory=list)
    pairs: list[dict[str, Any]] = field(default_factory=list)
    data: dict[str, Any] = field(
        default_factory=lambda: {"events": [], "equivalent": [], "attributes": [], "concepts": {}}
    )

    def read(self, line: str, location: str) -> None:
        """Parse one line of an ``.ann`` file; raise ValueError if it is malformed.

        The first letter of the id decides: T, R, E, N, A, M or ``*``; another one is malformed.
        Blank lines and notes (``#``) are ignored.
        """
        if not line.strip() or line.startswith("#"):
            return
        name, _, rest = line.partition("\t")
        body, _, tail = rest.partition("\t")
        if not re.fullmatch(r"\*|[A-Z]\S*", name) or not body.strip():
            raise ValueError(
                f"{location}: {line!r:.80} is not an annotation. Write ID, tab, type and "
                "arguments, as in 'T1<tab>Protein 0 5<tab>GRB2'."
            )
        main_parsers = {
            "T": self._add_mention,
            "R": self._add_relation,
            "E": self._add_event,
            "N": self._add_concept,
        }
        parsers = main_parsers | {
            "*": self._add_equivalence,
            "A": self._add_attribute,
            "M": self._add_attribute,
        }
        if name[0] not in parsers:
            raise ValueError(
                f"{location}: unknown kind of annotation {name!r}. Available: {[*parsers]}."
            )
        parsers[name[0]](name, body, tail, location)

    def _add_mention(self, name: str, body: str, words: str, location: str) -> None:
        """Add a text-bound annotation, ``Protein 0 5`` with the covered words.

        Pieces are sorted. Raises ValueError if the offsets are malformed, or the words are given
        and differ from the text.
        """
        label, _, ranges = body.partition(" ")
        if not re.fullmatch(r"\d{1,12} \d{1,12}(;\d{1,12} \d{1,12})*", ranges):
            raise ValueError(
                f"{location}: {ranges!r:.80} are not offsets. Write 'start end', several pieces "
                "of a name joined by ';', as in '0 5;16 23'."
            )
        pieces = [tuple(map(int, piece.split())) for piece in ranges.split(";")]
        mention = Mention(name, label, tuple(sorted((start, end) for start, end in pieces)))
        if words:
            check_mention_text(location, self.text, mention, words)
        self.mentions.append(mention)

    def _add_relation(self, name: str, body: str, _: str, location: str) -> None:
        """Append a relation, ``Binding Arg1:T1 Arg2:T2``, to ``pairs``.

        Raises ValueError unless it has two arguments; their ids are checked in ``relations``.
        """
        type_name, arguments = self._split_arguments(body, location)
        if len(arguments) != 2:
            raise ValueError(f"{location}: a relation has two arguments, not {len(arguments)}.")
        self.pairs.append({"id": name, "type": type_name, "arguments": arguments})

    def _add_event(self, name: str, body: str, _: str, location: str) -> None:
        """Add an event, ``Binding:T3 Theme:T1 Theme2:T2``, to ``data["events"]``.

        Its arguments are ``[role, id]``, the first one ``["trigger", id]``; ids are not checked.
        Raises ValueError if the line has another form.
        """
        (type_name, trigger), *arguments = _parse_arguments(body, location)
        self.data["events"].append(
            {"id": name, "type": type_name, "arguments": [["trigger", trigger], *arguments]}
        )

    def _add_equivalence(self, _: str, body: str, __: str, location: str) -> None:
        """Append the ids of equivalent mentions, ``Equiv T1 T2``, to ``data["equivalent"]``.

        The first word is dropped and the ids are not checked; only ``body`` is used.
        """
        self.data["equivalent"].append(body.split()[1:])

    def _add_attribute(self, name: str, body: str, _: str, location: str) -> None:
        """Append an attribute, ``Negation E1``, to ``data["attributes"]``.

        The entry is ``[id, name, target]``, with its value as fourth if given, all strings. Nothing
        is checked.
        """
        self.data["attributes"].append([name, *body.split(" ", 2)])

    def _add_concept(self, _: str, body: str, __: str, location: str) -> None:
        """Add a normalisation, ``Reference T1 database:number``, to ``data["concepts"]``.

        The key is the mention id, which is not checked; the last one of a mention counts. Raises
        ValueError unless there are three words.
        """
        words = body.split(" ", 2)
        if len(words) != 3:
            raise ValueError(f"{location}: {body!r:.80}. Write 'Reference T1 database:number'.")
        self.data["concepts"][words[1]] = words[2]

    def _split_arguments(self, body: str, location: str) -> tuple[str, list[list[str]]]:
        """Return the type and the ``[role, id]`` pairs of a relation.

        Raises ValueError if there is no pair or one is malformed.
        """
        type_name, _, rest = body.partition(" ")
        return type_name, _parse_arguments(rest, location)

    def relations(self) -> list[dict[str, Any]]:
        """Return the relations between two mentions as gold rows; the label of all is True.

        Rows have ``roles`` unless these are Arg1 and Arg2. Relations of events are appended to
        ``data["events"]``, so call it once, after all lines are read. Raises ValueError if an
        argument is unknown.
        """
        mention_ids = {mention.id for mention in self.mentions}
        gold: list[dict[str, Any]] = []
        all_ids = mention_ids | {event["id"] for event in self.data["events"]}
        all_ids |= {pair["id"] for pair in self.pairs}
        for pair in self.pairs:
            roles, arguments = zip(*pair["arguments"], strict=True)
            if unknown_ids := [argument for argument in arguments if argument not in all_ids]:
                raise ValueError(
                    f"{self.location}: relation {pair['id']} refers to {unknown_ids[0]!r}, which "
                    "does not exist. Correct the relation."
                )
            if not mention_ids.issuperset(arguments):
                self.data["events"].append(pair)
                continue
            gold.append({"entities": list(arguments), "label": True, "type": pair["type"]})
            if roles != DEFAULT_ROLES:
                gold[-1]["roles"] = list(roles)
        return gold


def _parse_arguments(text: str, location: str) -> list[list[str]]:
    """Return ``Arg1:T1 Arg2:T3`` as ``[role, id]`` pairs; the ids are not checked to exist.

    Raises ValueError, beginning with ``location``, if there is no pair or one is malformed.
    """
    parts = [part.split(":", 1) for part in text.split()]
    if not parts or any(len(part) != 2 for part in parts):
        raise ValueError(f"{location}: {text!r:.80} are not arguments. Write 'Arg1:T1 Arg2:T2'.")
    return parts


def write_brat(docs: Iterable[Doc], path: str, *, source: str = "gold") -> None:
    """Write a ``.txt`` and an ``.ann`` file per document into the folder ``path``.

    Only relations with a true label are written, since brat cannot express others; ``source`` is
    "gold", or the name of a task whose results the Docs have. Mention ids become T1, T2, … unless
    all have that form already; in that case events, equivalences and attributes, which refer to
    ids, are written too. Concepts are always written, as normalisations. File names are
    percent-encoded ids. The folder is created if needed and changes in one step at the end; other
    files in it stay.

    Raises ValueError if a Doc has no id or two have the same.
    """
    file_names = UniqueFileNames()
    with update_folder(path) as folder:
        for doc in docs:
            file_name = file_names.name_for(doc)
            with open_new_text(folder / f"{file_name}.txt") as out:
                out.write(doc.text)
            with open_new_text(folder / f"{file_name}.ann") as out:
                out.writelines(row + "\n" for row in _iter_annotation_lines(doc, source))


def _iter_annotation_lines(doc: Doc, source: str) -> Iterator[str]:
    """Iterate over the lines of the ``.ann`` file of a Doc, without line ends.

    Mentions come first, then true relations of ``source``, then events, equivalences and
    attributes, and concepts. Relations are numbered from R1, concepts from N1. If any mention id is
    not T and a number, mentions are renumbered from T1, and events, equivalences and attributes are
    left out. A missing label of a mention becomes ``Entity``, a missing type of a relation
    ``Interaction``. Each run of white space in labels, types and concepts becomes ``_``; each white
    space character in the text of a mention becomes a space.
    """
    mentions = get_mentions(doc)
    keeps_ids = all(re.fullmatch(r"T\d+", m.id) for m in mentions)
    ids = {m.id: m.id if keeps_ids else f"T{i}" for i, m in enumerate(mentions, 1)}
    for m in mentions:
        ranges = ";".join(f"{start} {end}" for start, end in m.pieces)
        words = re.sub(r"\s", " ", mention_text(doc, m))
        yield f"{ids[m.id]}\t{_replace_blanks(m.label or 'Entity')} {ranges}\t{words}"
    number = 0
    for row in get_relations(doc, source):
        if not row.get("label"):
            continue
        number += 1
        roles = zip(row.get("roles", DEFAULT_ROLES), row["entities"], strict=True)
        arguments = " ".join(f"{role}:{ids[mention_id]}" for role, mention_id in roles)
        yield f"R{number}\t{_replace_blanks(row.get('type') or 'Interaction')} {arguments}"
    if keeps_ids:
        yield from _iter_event_lines(doc)
    concepts = doc.user_data.get("concepts", {}).items()
    for number, (name, concept) in enumerate(concepts, 1):
        yield f"N{number}\tReference {ids.get(name, name)} {_replace_blanks(concept)}"


def _iter_event_lines(doc: Doc) -> Iterator[str]:
    """Iterate over the lines of events, equivalences and attributes in ``user_data``.

    They come in this order, with the ids that they have there.
    """
    for event in doc.user_data.get("events", []):
        (role, first), *rest = event["arguments"]
        type_name = _replace_blanks(event["type"])
        # An event leads with its trigger; a relation of events has two plain arguments.
        head = f"{type_name}:{first}" if role == "trigger" else f"{type_name} {role}:{first}"
        yield "\t".join([event["id"], " ".join([head, *(f"{r}:{end}" for r, end in rest)])])
    for group in doc.user_data.get("equivalent", []):
        yield "*\tEquiv " + " ".join(group)
    for name, *words in doc.user_data.get("attributes", []):
        yield f"{name}\t{' '.join(words)}"


def _replace_blanks(text: str) -> str:
    """Replace each run of white space by one ``_``, since types cannot contain spaces in brat."""
    return re.sub(r"\s+", "_", text)


# BioNLP shared tasks ------------------------------------------------------------------------------

DocumentFiles: TypeAlias = Mapping[str, str]  # suffix -> text
Participant: TypeAlias = tuple[
    str, tuple[str, ...]
]  # mention id, and the events that lead down to it
PROTEIN_LABELS = ("Protein", "Gene_or_gene_product", "Complex")
BIONLP_SUFFIXES = (".txt", ".a1", ".a2")
_EVENT_TYPES = {
    "binding": "Binding Dissociation",
    "phosphorylation": "Phosphorylation",
    "degradation": "Degradation Protein_catabolism Catabolism",
    "activation": "Positive_regulation Activation",
    "inhibition": "Negative_regulation Inactivation",
    "regulation": "Regulation",
    "modification": "Acetylation Methylation Ubiquitination Glycosylation Hydroxylation "
    "Dephosphorylation Deacetylation Demethylation Deubiquitination Deglycosylation "
    "Dehydroxylation DNA_methylation DNA_demethylation Protein_modification Catalysis",
}
RELATION_TYPES = {event: kind for kind, events in _EVENT_TYPES.items() for event in events.split()}
LOSS_EVENTS = ("Negative_regulation", "Inactivation", "Degradation", "Protein_catabolism")
OPPOSITE_TYPES = {"activation": "inhibition", "inhibition": "activation"}
MODIFICATION_TYPES = ("phosphorylation", "modification")  # by which two proteins meet
REGULATION_TYPES = ("activation", "inhibition", "regulation")  # of events of any kind
RELATIONS = ("physical", "regulation")  # kinds of relations, which have a definition each
STATUS_OF_MODIFIER = {"Negation": "negated", "Speculation": "speculated"}
STATUSES = ("asserted", "negated", "speculated")  # by priority if events disagree


@dataclass(frozen=True)
class BioNLP(FileReader):
    """Documents of BioNLP shared tasks: a folder of ``.txt``, ``.a1`` and ``.a2`` files, or a tar.

    Mentions whose label is in ``names`` become entities. Two entities that an event joins become a
    gold relation with ``type``, ``direction`` ("a>b" from the first of its entities to the second),
    ``status``, ``relations`` and ``trigger`` (character ranges). The outermost event that joins two
    entities gives the type; an odd number of loss events on the side of the cause swaps activation
    and inhibition. A regulation of a modification that is not negative has the type of the
    modification. If several events join a pair, asserted ones take precedence over negated ones,
    and these over speculated ones. Sections of one article share an ``origin`` and are held out
    together.

    Two themes of a binding or dissociation are joined, and every cause with every theme. A theme
    that is an event stands for its themes; a cause that is an event stands for its causes,
    instruments and themes ("A regulates B by phosphorylating C" joins A with B). What holds for a
    name also holds for names that are equivalent to it (``Equiv``); two equivalent names are never
    joined. ``relations`` are the definitions that the events of a pair satisfy, of ``RELATIONS``:
    "physical" for binding, dissociation, modification and regulation of a modification,
    "regulation" for everything else.

    Attributes
    ----------
    path
        Folder or tar archive.
    names
        Labels of the ``.a1`` file that count as proteins.
    asserted
        Whether only asserted relations have a true label. If False negated and speculated ones are
        true as well, since they are stated.
    cut
        Split tokens at the edges of a name that covers them in part.
    skip_bad
        Leave out documents with errors and count them in one warning.
    limit
        Largest number of bytes of a file, or of the unpacked archive.
    """

    path: str
    names: Sequence[str] = PROTEIN_LABELS
    asserted: bool = False
    cut: bool = True
    skip_bad: bool = False
    limit: int = MAX_UNPACKED_BYTES

    def __post_init__(self) -> None:
        """Convert ``names`` to a tuple."""
        object.__setattr__(self, "names", tuple(self.names))

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the documents sorted by id, analysed by ``nlp``.

        All files are read into memory when it is called. ``item_filter`` selects documents by
        number and takes the errors of malformed ones; None reads all. ``on_batch_end`` is as in
        ``FileReader.read``. Raises ValueError if the file cannot be read and, without a filter, if
        it has no document or (unless ``skip_bad``) a malformed one.
        """
        documents = self._documents()
        return build_docs(
            sorted(documents.items()),
            self._record,
            nlp,
            path=self.path,
            cut=self.cut,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
            on_batch_end=on_batch_end,
        )

    def _documents(self) -> dict[str, dict[str, str]]:
        """Return the texts of all files by document (file name without suffix), then by suffix.

        All are held in memory. Of two files of an archive with the same name, in different folders
        of it, the later replaces the earlier. Raises ValueError if a file cannot be read.
        """
        path = Path(self.path)
        documents: dict[str, dict[str, str]] = {}
        texts = (
            _iter_folder_texts(path, self.limit)
            if path.is_dir()
            else _iter_archive_texts(path, self.limit)
        )
        for name, text in texts:
            documents.setdefault(name.stem, {})[name.suffix] = text
        return documents

    def _record(self, item: tuple[str, DocumentFiles]) -> Record:
        """Make a Record of ``(document id, texts by suffix)``.

        Newlines end sentences. ``data["origin"]`` is the article that the document is a part of.
        Without an ``.a1`` file mentions and gold are None and newlines and origin are not used.
        Raises ValueError if the text is missing or a line is malformed.
        """
        stem, files = item
        location = f"{self.path}, {stem}"
        if ".txt" not in files:
            raise ValueError(f"{location}: annotations without a text. Add {stem}.txt.")
        text = files[".txt"]
        annotations = _EventAnnotations(text, location, frozenset(self.names))
        for suffix in (".a1", ".a2"):
            for number, line in enumerate(files.get(suffix, "").splitlines(), 1):
                annotations.read(line, f"{location}{suffix}, line {number}", names=suffix == ".a1")
        gold = [{**row, "label": self._label(row)} for row in annotations.statements()]
        if ".a1" not in files:
            return Record(stem, text, location)
        data = {"origin": _article_of(stem)}
        breaks = [m.end() for m in re.finditer(r"\n", text)]
        return Record(stem, text, location, annotations.mentions, gold, breaks=breaks, data=data)

    def _label(self, row: Mapping[str, Any]) -> bool:
        """Return the label of a gold relation.

        True if its ``status`` is "asserted" or the setting ``asserted`` is False.
        """
        return row["status"] == "asserted" or not self.asserted


def _iter_folder_texts(path: Path, limit: int) -> Iterator[tuple[PurePosixPath, str]]:
    """Iterate over ``(file name, text)`` of the BioNLP files in a folder, sorted by name.

    ``limit`` is the largest number of bytes of a file.
    """
    for file in sorted(path.iterdir()):
        if file.suffix in BIONLP_SUFFIXES:
            yield PurePosixPath(file.name), read_text(file, limit)


def _iter_archive_texts(path: Path, limit: int) -> Iterator[tuple[PurePosixPath, str]]:
    """Iterate over ``(member name, text)`` of the BioNLP files in a tar archive, in its order.

    Nothing is unpacked to disk. Raises ValueError if the archive is missing or damaged, unpacks to
    more than ``limit`` bytes in all, or a file is not UTF-8.
    """
    bytes_left = limit
    try:
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                name = PurePosixPath(member.name)
                if not member.isfile() or name.suffix not in BIONLP_SUFFIXES:
                    continue
                bytes_left -= member.size
                if bytes_left < 0:
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


def _article_of(stem: str) -> str:
    """Return the id of the article that a section belongs to, by its file name.

    Names that do not begin like a PMC or PubMed id are returned unchanged.

    >>> _article_of("PMC-1310901-00-TIAB"), _article_of("PMID-10072510")
    ('PMC-1310901', 'PMID-10072510')
    """
    article = re.match(r"PM(?:C|ID)-?\d+", stem)
    return article[0] if article else stem


@dataclass(frozen=True)
class Event:
    """BioNLP event: a trigger (id of its mention) with a type and arguments.

    ``arguments`` are ``(role, id)`` of mentions or other events; numbers at the end of roles
    (``Theme2``) are removed.
    """

    type: str
    trigger: str
    arguments: tuple[tuple[str, str], ...]

    def arguments_of(self, role: str) -> list[str]:
        """Return the ids of the arguments with a role, in the order of the file; [] if none."""
        return [argument for argument_role, argument in self.arguments if argument_role == role]


@dataclass
class _EventAnnotations:
    """Annotations of one document, filled line by line with ``read``.

    Attributes
    ----------
    text, location
        Text of the document, and its name for messages.
    kinds
        Labels of mentions to keep.
    mentions
        Mentions of the ``.a1`` file with these labels, in file order.
    triggers
        Trigger words of events, by id.
    events
        Events by id.
    marks
        Status values ("negated", "speculated") by event id.
    equivalents
        For each mention that has equivalents, by id: the ids of these and of the mention itself.
    """

    text: str
    location: str
    kinds: frozenset[str]
    mentions: list[Mention] = field(default_factory=list)
    triggers: dict[str, Mention] = field(default_factory=dict)
    events: dict[str, Event] = field(default_factory=dict)
    marks: dict[str, set[str]] = field(default_factory=dict)
    equivalents: dict[str, frozenset[str]] = field(default_factory=dict)

    def read(self, line: str, location: str, *, names: bool) -> None:
        """Parse a line of ``.a1`` (``names`` True) or ``.a2`` (False), in place.

        Only mentions, events, negations, speculations and equivalences are stored; coreference,
        notes, blank lines and other modifications are ignored. Raises ValueError if the line is
        malformed.
        """
        line_type = line[:1]
        if line_type not in ("T", "E", "M", "A", "*"):
            return  # coreference, notes
        name, _, rest = line.partition("\t")
        body, _, words = rest.partition("\t")
        if not body.strip():
            raise ValueError(f"{location}: {line!r:.80} is not an annotation. Write ID, tab, type.")
        if line_type == "T":
            self._add_mention(name, body, words, location, names)
        elif line_type == "E":
            self._add_event(name, body, location)
        elif line_type == "*":
            self._add_equivalence(body)
        else:
            modifier, _, event_id = body.partition(" ")
            if modifier in STATUS_OF_MODIFIER:
                self.marks.setdefault(event_id.strip(), set()).add(STATUS_OF_MODIFIER[modifier])

    def _add_mention(self, name: str, body: str, words: str, location: str, names: bool) -> None:
        """Add a mention of ``.a1`` if its label is wanted, or a trigger of ``.a2``.

        ``names`` is True for ``.a1``. Raises ValueError if offsets are malformed or ``words`` are
        given and differ from the text.
        """
        label, _, ranges = body.partition(" ")
        if not re.fullmatch(r"\d{1,12} \d{1,12}(;\d{1,12} \d{1,12})*", ranges):
            raise ValueError(f"{location}: {ranges!r:.80} are not offsets. Write 'start end'.")
        pieces = [tuple(map(int, piece.split())) for piece in ranges.split(";")]
        mention = Mention(name, label, tuple(sorted((start, end) for start, end in pieces)))
        if words:
            check_mention_text(location, self.text, mention, words)
        if not names:
            self.triggers[name] = mention
        elif label in self.kinds:
            self.mentions.append(mention)

    def _add_event(self, name: str, body: str, location: str) -> None:
        """Add an event, ``Binding:T3 Theme:T1 Theme2:T2``, under its id ``name``.

        Digits at the end of a role are dropped: Theme2 becomes Theme. An event with the same id is
        replaced. What it refers to is not checked. Raises ValueError if it is malformed.
        """
        parts = [part.split(":", 1) for part in body.split()]
        if not parts or any(len(part) != 2 for part in parts):
            raise ValueError(
                f"{location}: {body!r:.80} is not an event. Write 'Binding:T3 Theme:T1'."
            )
        (type_name, trigger), *arguments = parts
        participants = tuple((role.rstrip("0123456789"), end) for role, end in arguments)
        self.events[name] = Event(type_name, trigger, participants)

    def _add_equivalence(self, body: str) -> None:
        """Join the sets of equivalent mentions that ``Equiv T1 T2`` names.

        Relations of other kinds are ignored.
        """
        kind, *members = body.split()
        if kind == "Equiv":
            joined = frozenset(members).union(*(self.equivalents.get(m, ()) for m in members))
            self.equivalents |= dict.fromkeys(joined, joined)

    def statements(self) -> list[dict[str, Any]]:
        """Return one gold row (without label) per pair of mentions that an event joins.

        Mentions that are equivalent to those of an event are joined too. Pairs are unordered and
        come in the order of the first event that joins them. Keys of a row: ``entities`` (cause,
        theme), ``type``, ``direction``, ``status``, ``relations`` and ``trigger``. Where several
        events join a pair, the status that comes first in ``STATUSES`` counts, and the first
        outermost event with it gives the other values; ``relations`` are those of all events.
        Events whose type is not in ``RELATION_TYPES`` join nothing by themselves.
        """
        mention_ids = dict.fromkeys(mention.id for mention in self.mentions)
        links_by_pair: dict[frozenset[str], list[EventLink]] = {}
        for name, event in self.events.items():
            if event.type in RELATION_TYPES:
                for link in _iter_links(name, self.events, mention_ids):
                    for copy in self._iter_equivalent_links(link, mention_ids):
                        pair = frozenset((copy.cause, copy.theme))
                        links_by_pair.setdefault(pair, []).append(copy)
        return [self._row(links) for links in links_by_pair.values()]

    def _iter_equivalent_links(
        self, link: EventLink, mention_ids: Collection[str]
    ) -> Iterator[EventLink]:
        """Iterate over a link and its copies with equivalent mentions at either end.

        The link itself comes first, copies in the order of ``mention_ids``, which has the ids of
        all mentions. Nothing is given if cause and theme are equivalent to each other.
        """
        causes, themes = (
            [end, *(m for m in mention_ids if m != end and m in self.equivalents.get(end, ()))]
            for end in (link.cause, link.theme)
        )
        if link.theme not in causes:
            for cause in causes:
                for theme in themes:
                    yield replace(link, cause=cause, theme=theme)

    def _row(self, links: Sequence[EventLink]) -> dict[str, Any]:
        """Return the gold row of a pair from all events that join it.

        The status of highest priority counts, and among its events the first outermost one, that
        is, the first that is not below another. Keys are ``entities`` (cause, theme), ``type``,
        ``direction``, ``status``, ``relations`` (of all events, in the order of ``RELATIONS``) and
        ``trigger`` (character ranges, [] if unknown).
        """
        status = min((self._status(link) for link in links), key=STATUSES.index)
        status_links = [link for link in links if self._status(link) == status]
        inner_events = {event for link in status_links for event in link.below}
        link = next(
            (link for link in status_links if link.event not in inner_events), status_links[0]
        )
        trigger = self.triggers.get(self.events[link.event].trigger)
        return {
            "entities": [link.cause, link.theme],
            "type": link.type,
            "direction": link.direction,
            "status": status,
            "relations": [name for name in RELATIONS if name in {link.relation for link in links}],
            "trigger": [list(piece) for piece in trigger.pieces] if trigger else [],
        }

    def _status(self, link: EventLink) -> str:
        """Return "asserted", "negated" or "speculated" for the event of a link.

        An event that is both negated and speculated is "negated"; modifications of events below it
        do not count.
        """
        marks = self.marks.get(link.event, set())
        return next((status for status in STATUSES[1:] if status in marks), STATUSES[0])


@dataclass(frozen=True)
class EventLink:
    """Two mentions that an event joins.

    Attributes
    ----------
    event
        Id of the event.
    cause, theme
        Ids of the two mentions; for a binding, two themes in the order of its arguments.
    type
        Value of ``RELATION_TYPES``.
    direction
        "a>b" from cause to theme, or "none" for a binding.
    relation
        Value of ``RELATIONS``.
    below
        Ids of the events between this one and the mentions.
    """

    event: str
    cause: str
    theme: str
    type: str
    direction: str
    relation: str
    below: frozenset[str]


def _iter_links(
    name: str, events: Mapping[str, Event], mention_ids: Collection[str]
) -> Iterator[EventLink]:
    """Iterate over the pairs that event ``name`` joins.

    These are first every two themes of a binding or dissociation, then each cause with each theme
    of any event, in the order of the arguments. A theme that is an event stands for the mentions
    below it, a cause also for its own causes and instruments (``_find_participants``).
    ``mention_ids`` are the ids of all mentions. A mention is never paired with itself; a pair may
    come several times. The event must exist and have a type of ``RELATION_TYPES``.
    """
    event = events[name]
    themes = [
        chain
        for argument in event.arguments_of("Theme")
        for chain in _find_participants(argument, events, mention_ids)
    ]
    if RELATION_TYPES[event.type] == "binding":
        for number, (second, below) in enumerate(themes):
            for first, above in themes[:number]:
                if first != second:
                    inner = frozenset((*above, *below))
                    yield EventLink(name, first, second, "binding", "none", "physical", inner)
    for argument in event.arguments_of("Cause"):
        for cause, above in _find_participants(argument, events, mention_ids, agents=True):
            for theme, below in themes:
                if cause != theme:
                    relation_type = _link_type(event, above, below, events)
                    relation = _link_relation(event, below, events)
                    inner = frozenset((*above, *below))
                    yield EventLink(name, cause, theme, relation_type, "a>b", relation, inner)


def _link_type(
    event: Event, above: Sequence[str], below: Sequence[str], events: Mapping[str, Event]
) -> str:
    """Return the relation type of the pair of a cause and a theme of an event.

    It is the type of the event itself, or for a catalysis of the event below. If ``above``, the
    events on the side of the cause, contain an odd number of loss events, activation and inhibition
    are swapped. An activation or regulation (after that) of a modification has the type of the
    modification. ``below`` are the events on the side of the theme, outermost first; only the first
    one counts.

    >>> loss = {"E1": Event("Negative_regulation", "T3", (("Theme", "T1"),))}
    >>> _link_type(Event("Positive_regulation", "T4", ()), ["E1"], [], loss)
    'inhibition'
    """
    relation_type = RELATION_TYPES[event.type]
    if event.type == "Catalysis" and below:
        relation_type = RELATION_TYPES.get(events[below[0]].type, relation_type)
    losses = sum(events[name].type in LOSS_EVENTS for name in above)
    relation_type = (
        OPPOSITE_TYPES.get(relation_type, relation_type) if losses % 2 else relation_type
    )
    if relation_type in ("activation", "regulation") and below:
        inner_type = RELATION_TYPES.get(events[below[0]].type, "")
        relation_type = inner_type if inner_type in MODIFICATION_TYPES else relation_type
    return relation_type


def _link_relation(event: Event, below: Sequence[str], events: Mapping[str, Event]) -> str:
    """Return the kind of relation, of ``RELATIONS``, between the cause and the theme of an event.

    "physical" for a modification and for a regulation of a modification, else "regulation";
    ``below`` are the events on the side of the theme, outermost first, of which only the first
    counts. A regulation of a binding is a regulation, because its cause need not be bound.
    """
    own_type = RELATION_TYPES[event.type]
    inner_type = RELATION_TYPES.get(events[below[0]].type, "") if below else ""
    is_modification = own_type in MODIFICATION_TYPES or (
        own_type in REGULATION_TYPES and inner_type in MODIFICATION_TYPES
    )
    return "physical" if is_modification else "regulation"


def _find_participants(
    argument: str,
    events: Mapping[str, Event],
    mention_ids: Collection[str],
    above: tuple[str, ...] = (),
    *,
    agents: bool = False,
) -> list[Participant]:
    """Return the mentions that an argument stands for, each with the events on the path down to it.

    A mention stands for itself, an event for its themes; with ``agents``, for its causes and
    instruments first. Events of a path are outermost first; ``above`` are those passed so far. An
    unknown id or a cycle of events gives nothing.
    """
    if argument in mention_ids:
        return [(argument, above)]
    if (
        argument not in events or argument in above
    ):  # a mention of another label, or a cycle of events
        return []
    event, path = events[argument], (*above, argument)
    chains: list[Participant] = []
    for role in ("Cause", "Instrument") if agents else ():
        for agent in event.arguments_of(role):
            chains += _find_participants(agent, events, mention_ids, path, agents=True)
    for theme in event.arguments_of("Theme"):
        chains += _find_participants(theme, events, mention_ids, path)
    return chains
