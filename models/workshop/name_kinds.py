"""Train the recogniser of gene names and their kinds on a network that is already trained.

Its scores are linear in the output of the network. They are the weighted sum of scores trained here
on NLM-Gene, GNormPlus and BioRED, of evidence trained on the same corpora, and of the scores of the
recogniser of genes (BC2GM). BioRED does not say which kind a gene name has, so it allows each.

``python -m workshop.name_kinds DATA PIPELINE`` prints metrics of ten folds by document. The network
and the recogniser of genes were trained on none of the three corpora, so a fold trains only the
scores and evidence of this module.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from workshop.evidence import EvidenceSettings, NamedText, allowed_tags, train_evidence
from workshop.prepare import read_scored_sentences
from workshop.protein_spans import HeadSettings, fit_crf

from textrank.language._ner_network import WeightTable, WordTable
from textrank.language.name_kinds import KINDS
from textrank.language.ner import ENTITIES_KEY
from textrank.language.segmentation import BioTokenizer

Array = NDArray[Any]
KINDS_NAME = "kinds"  # of the component
N_EVIDENCE = 4 * len(KINDS) + 1  # columns of evidence of this recogniser, the last ones
KIND_FILES = {
    "nlmgene": "ids/nlmgene-train.pubtator.gz",
    "gnormplus": "ids/gnormplus-train.pubtator.gz",
    "biored": "biored/train.pubtator.gz",
}
LABELS = {
    "Gene": "GENE",
    "FamilyName": "FAMILY",
    "DomainMotif": "DOMAIN",
    "GeneOrGeneProduct": "|".join(KINDS),
}


KIND_HEAD_SETTINGS = HeadSettings(epochs=6)
KIND_EVIDENCE_SETTINGS = EvidenceSettings(epochs=7, bits=17)


@dataclass(frozen=True)
class KindSettings:
    """Weights of the three scores, and training of two of them."""

    head: float = 0.3
    evidence: float = 0.5
    genes: float = 0.2
    missed: float = 0.8  # taken from the score of being in no name
    learn_head: HeadSettings = KIND_HEAD_SETTINGS
    learn_evidence: EvidenceSettings = KIND_EVIDENCE_SETTINGS


KIND_SETTINGS = KindSettings()


@dataclass(frozen=True, eq=False)
class KindDoc:
    """Abstract with its gene names as (start, end, label) characters; labels as in ``LABELS``."""

    corpus: str
    id: str
    doc: Doc
    gold: Sequence[tuple[int, int, str]]

    def named_text(self) -> NamedText:
        """Return words and names; a name that shares a token with an earlier one is left out."""
        names: list[tuple[int, int, str]] = []
        for start, end, label in sorted(self.gold, key=lambda name: (name[0], -name[1])):
            span = self.doc.char_span(start, end, alignment_mode="expand")
            if span is not None and (not names or span.start >= names[-1][1]):
                names.append((span.start, span.end, label))
        words, spaces = [t.text for t in self.doc], [bool(t.whitespace_) for t in self.doc]
        return NamedText(words, spaces, names)


def read_kinds(data: Path, vocab: Vocab) -> list[KindDoc]:
    """Read the abstracts of the three corpora.

    Abstracts that contain a sentence reserved for scoring (``read_scored_sentences``) are left out.
    """
    scored, tokenize = read_scored_sentences(data), BioTokenizer(vocab)
    return [
        KindDoc(corpus, document, tokenize(text), names)
        for corpus, file in KIND_FILES.items()
        for document, text, names in read_pubtator(data / file)
        if not scored.within(text)
    ]


def read_pubtator(path: Path) -> Iterator[tuple[str, str, list[tuple[int, int, str]]]]:
    """Yield (id, text, names) of each abstract of a packed PubTator file.

    Names are (start, end, label), with characters and a value of LABELS. Names of other types, and
    those whose offsets do not give their text, are left out.
    """
    current = title = text = ""
    names: list[tuple[int, int, str]] = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in [*lines, "\n"]:
            fields = line.rstrip("\n").split("\t")
            document, _, rest = line.rstrip("\n").partition("|")
            if rest.startswith("t|"):
                title = rest[2:]
            elif rest.startswith("a|"):
                text, names = f"{title} {rest[2:]}", []
                current = document
            elif len(fields) >= 5 and fields[4] in LABELS:
                start, end = int(fields[1]), int(fields[2])
                if text[start:end] == fields[3]:
                    names.append((start, end, LABELS[fields[4]]))
            elif not line.strip() and text:
                yield current, text, names
                text = ""


def split_sentences(text: NamedText) -> Iterator[NamedText]:
    """Yield the sentences of a text, with their names.

    A sentence ends at a stop that is followed by a space and a capital, never inside a name.
    """
    inside = {i for start, end, _ in text.names for i in range(start, end)}
    start = 0
    for i, word in enumerate(text.words):
        is_last = i + 1 == len(text.words)
        stops = word in (".", "?", "!") and text.spaces[i] and i not in inside
        if is_last or (stops and text.words[i + 1][:1].isupper()):
            end = i + 1
            names = [
                (a - start, b - start, label) for a, b, label in text.names if start <= a < end
            ]
            yield NamedText(text.words[start:end], text.spaces[start:end], names)
            start = end


def train_kinds(
    nlp: Language, docs: Sequence[KindDoc], settings: KindSettings = KIND_SETTINGS
) -> None:
    """Train the component ``kinds`` in place, on the trained network and ``genes``.

    The evidence of kinds is the third table of the network; it is replaced. At least one abstract
    is needed.
    """
    network: Any = nlp.get_pipe("names_tok2vec")
    genes: Any = nlp.get_pipe("genes")
    kinds: Any = nlp.get_pipe(KINDS_NAME)
    texts = [doc.named_text() for doc in docs]
    copies = [Doc(nlp.vocab, words=list(t.words), spaces=list(t.spaces)) for t in texts]
    vectors = [x for i in range(0, len(copies), 32) for x in network.predict(copies[i : i + 32])]
    width = vectors[0].shape[1] - N_EVIDENCE
    weights, steps = fit_crf(
        [x[:, :width] for x in vectors],
        [allowed_tags(text, KINDS) for text in texts],
        settings.learn_head,
    )
    sentences = [sentence for text in texts for sentence in split_sentences(text)]
    table = WordTable(network.model.attrs["words"])
    evidence, evidence_steps = train_evidence(sentences, KINDS, table, settings.learn_evidence)
    packed = WeightTable.from_weights(evidence).pack()
    network.model.attrs["evidence"] = [*network.model.attrs["evidence"][:2], packed]
    if not kinds.labels:
        example = Example(copies[0], copies[0])
        kinds.initialize(lambda: [example], nlp=nlp, labels=list(KINDS))
    gene_layer = genes.model.layers[0].layers[-1].layers[0]
    gene_tags = [0, *[1, 2, 3, 4] * len(KINDS)]  # each kind has the scores of a gene
    W = np.zeros((N_EVIDENCE, width + N_EVIDENCE), dtype=np.float32)
    W[:, :width] = settings.head * weights[:-1].T
    W[:, :width] += settings.genes * gene_layer.get_param("W")[gene_tags, :width]
    W[:, width:] = settings.evidence * np.eye(N_EVIDENCE)
    bias = settings.head * weights[-1] + settings.genes * gene_layer.get_param("b")[gene_tags]
    bias[0] -= settings.missed
    gene_indices = [*gene_tags, 5]
    transitions = (
        settings.head * steps
        + settings.evidence * evidence_steps
        + settings.genes * genes.model.get_param("T")[np.ix_(gene_indices, gene_indices)]
    )
    scores = kinds.model.layers[0].layers[-1].layers[0]
    scores.set_param("W", W)
    scores.set_param("b", bias.astype(np.float32))
    kinds.model.set_param("T", transitions.astype(np.float32))


@dataclass
class Counts:
    """Counts of gold and predicted names over documents, from which ``figures`` are computed."""

    predicted: int = 0
    gold: int = 0
    predicted_touching: int = 0
    gold_touching: int = 0
    exact: int = 0
    kinds: int = 0  # gold names with a kind that a prediction overlaps
    right_kinds: int = 0

    def add(
        self, gold: Sequence[tuple[int, int, str]], predicted: Sequence[tuple[int, int, str]]
    ) -> None:
        """Add the names of a document, as (start, end, label).

        The kind of a gold name is predicted by the name with the longest overlap.
        """
        places, predicted_places = {name[:2] for name in gold}, {name[:2] for name in predicted}
        self.predicted += len(predicted_places)
        self.gold += len(places)
        self.predicted_touching += _count_overlapping(predicted_places, places)
        self.gold_touching += _count_overlapping(places, predicted_places)
        self.exact += len(places & predicted_places)
        for start, end, label in gold:
            overlaps = [(min(b, end) - max(a, start), kind) for a, b, kind in predicted
                        if a < end and start < b]  # fmt: skip
            if overlaps and label in KINDS:
                self.kinds += 1
                self.right_kinds += max(overlaps)[1] == label

    def merge(self, other: Counts) -> None:
        """Add the counts of ``other``, in place."""
        for name, count in vars(other).items():
            setattr(self, name, getattr(self, name) + count)

    def figures(self) -> dict[str, float]:
        """Return overlapping P, R and F, exact F, and the accuracy of kinds."""
        p = self.predicted_touching / max(self.predicted, 1)
        r = self.gold_touching / max(self.gold, 1)
        return {
            "overlap_p": round(p, 4),
            "overlap_r": round(r, 4),
            "overlap_f": round(2 * p * r / (p + r) if p + r else 0.0, 4),
            "exact_f": round(2 * self.exact / max(self.predicted + self.gold, 1), 4),
            "kind_accuracy": round(self.right_kinds / max(self.kinds, 1), 4),
        }


def _count_overlapping(names: set[tuple[int, int]], others: set[tuple[int, int]]) -> int:
    """Return how many names share a character with one of ``others``.

    Names are (start, end), the end exclusive.
    """
    return sum(any(a < d and c < b for c, d in others) for a, b in names)


def score_kinds(nlp: Language, docs: Iterable[KindDoc]) -> dict[str, Counts]:
    """Count the names that the component ``kinds`` predicts for the texts, by corpus."""
    counts: dict[str, Counts] = {}
    docs = list(docs)
    with nlp.select_pipes(enable=["names_tok2vec", KINDS_NAME]):
        for each, answer in zip(docs, nlp.pipe(d.doc.text for d in docs), strict=True):
            spans = answer.spans[ENTITIES_KEY]
            predicted = [(s.start_char, s.end_char, s.label_) for s in spans]
            counts.setdefault(each.corpus, Counts()).add(each.gold, predicted)
    return counts


def cross_validate(
    nlp: Language, docs: Sequence[KindDoc], settings: KindSettings, folds: Sequence[int]
) -> Mapping[str, Counts]:
    """Return the counts of the given folds by corpus; each is predicted from the nine others.

    There are ten folds: the fold of an abstract is the last digit of its PubMed id, so that an
    abstract of two corpora is in one fold. Trains the component ``kinds`` of ``nlp``, in place.
    """
    totals: dict[str, Counts] = {}
    for fold in folds:
        train_kinds(nlp, [d for d in docs if int(d.id) % 10 != fold], settings)
        fold_counts = score_kinds(nlp, [d for d in docs if int(d.id) % 10 == fold])
        for corpus, counts in fold_counts.items():
            totals.setdefault(corpus, Counts()).merge(counts)
            typer.echo(f"fold {fold} {corpus}: {counts.figures()}")
    return totals


def main(
    data: Annotated[Path, typer.Argument(help="folder with ids/, biored/, ppi/ and ner/")],
    pipeline: Annotated[Path, typer.Argument(help="folder of a trained pipeline")],
    folds: Annotated[str, typer.Option(help="digits of the folds to score")] = "0123456789",
    missed: Annotated[float, typer.Option(help="taken from no name")] = KIND_SETTINGS.missed,
) -> None:
    """Print the metrics of names and kinds by document folds."""
    from textrank.language.load import load_nlp

    nlp = load_nlp(pipeline, only=["genes", KINDS_NAME])
    docs = read_kinds(data, nlp.vocab)
    settings = replace(KIND_SETTINGS, missed=missed)
    totals = cross_validate(nlp, docs, settings, [int(fold) for fold in folds])
    for corpus, counts in totals.items():
        typer.echo(f"{corpus}: {counts.figures()}")


if __name__ == "__main__":
    typer.run(main)
