"""Train the two halves of the shipped pipeline: tagger with parser, and entity recognisers."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.lookups import load_lookups
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Adam, Optimizer, fix_random_seed
from workshop.evidence import EvidenceSettings, NamedText, train_evidence, with_variants
from workshop.name_kinds import KindDoc, train_kinds
from workshop.networks import (
    Settings,
    add_for_training,
    add_names,
    add_syntax,
    blank_nlp,
    state_of,
)
from workshop.prepare import RUN, NameDocs, Treebank, doc_of, runs
from workshop.protein_spans import train_narrow
from workshop.self_training import labelled
from workshop.treebanks import Sentence

from textrank.language._encoder import use_numpy_products
from textrank.language._ner_network import TABLE_BITS, WeightTable, WordTable
from textrank.language.morphology import build_tables

RECOGNIZERS = ("genes", "ner")  # those with evidence of their own
EVIDENCE = EvidenceSettings()
MISSED = 0.1
TAKEN = {"tags": 0.25, "proteins": 0.5}  # of what only teaches the network about words, an epoch
TAUGHT = ("genes",)  # those whose evidence learns from unlabelled sentences too
SHARES = {"genes": 0.5, "ner": 0.3}  # of evidence in the scores of a recognizer; else a half
Watch = Callable[[str], None]
_Step = Callable[[list[Example], Optimizer, dict[str, float]], None]


def train_syntax(
    train: Sequence[Sequence[Sentence]], settings: Settings, watch: Watch
) -> dict[str, bytes]:
    """Train tagger and parser on one network from runs of sentences, and return their weights."""
    fix_random_seed(settings.seed)
    draw = random.Random(settings.seed)
    nlp = blank_nlp()
    add_syntax(nlp, settings)
    use_numpy_products(nlp)
    examples = examples_of([doc_of(nlp.vocab, run, breaks=draw) for run in train])
    nlp.initialize(lambda: examples)

    def step(batch: list[Example], optimizer: Optimizer, losses: dict[str, float]) -> None:
        nlp.update(batch, sgd=optimizer, drop=settings.dropout, losses=losses)

    return _train(nlp, [(step, examples, 1.0)], settings, draw, watch)


def train_names(
    corpora: Mapping[str, NameDocs],
    tagged: Sequence[Sentence],
    words: Mapping[str, Any],
    unlabelled: Sequence[NamedText],
    settings: Settings,
    watch: Watch,
    *,
    kinds: Sequence[KindDoc] = (),
    evidence: EvidenceSettings = EVIDENCE,
) -> dict[str, bytes]:
    """What the recognizers of names learn by turns on one network, each from its own corpus.

    ``words`` has the arrays of the table of words. The network also learns the parts of speech of
    the sentences ``tagged``, for what they teach about words. Evidence is learned apart from it,
    joined to it, and learned anew with what both find in the sentences ``unlabelled``; the proteins
    learn once more, from both. Last, the recogniser of kinds learns from the abstracts ``kinds``.
    """
    fix_random_seed(settings.seed)
    nlp = blank_nlp()
    add_names(nlp, settings)
    add_for_training(nlp, settings)
    use_numpy_products(nlp)
    network: Any = nlp.get_pipe("names_tok2vec")
    network.model.attrs["words"] = dict(words)
    texts = {name: [named_text(doc) for doc in own.train] for name, own in corpora.items()}
    vocab = next(iter(corpora.values())).train[0].vocab
    docs = {
        name: [named_doc(vocab, text) for text in with_variants(own, evidence)]
        for name, own in texts.items()
    }
    docs["tags"] = [doc_of(vocab, run, breaks=None) for run in runs(tagged, RUN)]
    examples = {name: examples_of(own) for name, own in docs.items()}
    network.initialize(lambda: [own[0] for own in examples.values()], nlp=nlp)
    for name, own in examples.items():
        component: Any = nlp.get_pipe(name)
        component.initialize(lambda own=own: own, nlp=nlp)
    steps = [
        (_step_alone(network, nlp.get_pipe(name), name, settings), own, TAKEN.get(name, 1.0))
        for name, own in examples.items()
    ]
    _train(nlp, steps, settings, random.Random(settings.seed), watch)
    learned = {}
    for name in RECOGNIZERS:
        learned[name] = _evidence(nlp, name, texts[name], evidence)
        watch(f"evidence of {name}")
    join_evidence(nlp, learned)
    teach(nlp, texts, unlabelled, evidence, watch)
    _learn_kinds(nlp, kinds, watch)
    return {name: own for name, own in state_of(nlp).items() if name != "tags"}


def extend_names(
    state: Mapping[str, bytes],
    corpora: Mapping[str, NameDocs],
    unlabelled: Sequence[NamedText],
    settings: Settings,
    watch: Watch,
    *,
    kinds: Sequence[KindDoc] = (),
) -> dict[str, bytes]:
    """What ``train_names`` gives, with network, genes and types as they are in ``state``.

    Only what stands beside the network learns: evidence, and the scores of proteins and kinds.
    """
    nlp = blank_nlp()
    add_names(nlp, settings)
    for name, learned in state.items():
        component: Any = nlp.get_pipe(name)
        component.from_bytes(learned, exclude=["vocab"])
    use_numpy_products(nlp)
    texts = {name: [named_text(doc) for doc in own.train] for name, own in corpora.items()}
    teach(nlp, texts, unlabelled, EVIDENCE, watch)
    _learn_kinds(nlp, kinds, watch)
    return state_of(nlp)


def _learn_kinds(nlp: Language, kinds: Sequence[KindDoc], watch: Watch) -> None:
    """Train the recogniser of kinds if there are abstracts to learn from."""
    if kinds:
        train_kinds(nlp, kinds)
        watch("kinds")


def teach(
    nlp: Language,
    texts: Mapping[str, Sequence[NamedText]],
    unlabelled: Sequence[NamedText],
    evidence: EvidenceSettings,
    watch: Watch,
) -> None:
    """Lets evidence learn anew, also from what it finds together with the network; then proteins.

    Weights of the two in the scores, and transitions, stay as they are.
    """
    network: Any = nlp.get_pipe("names_tok2vec")
    tables = list(network.model.attrs["evidence"])
    for name in TAUGHT:
        found = labelled(nlp, name, unlabelled)
        weights, _ = _evidence(nlp, name, [*texts[name], *found], evidence)
        tables[RECOGNIZERS.index(name)] = WeightTable.from_weights(weights).pack()
        watch(f"evidence of {name}, taught")
    network.model.attrs["evidence"] = tables
    train_narrow(nlp, texts["proteins"])


def _evidence(
    nlp: Language, name: str, texts: Sequence[NamedText], settings: EvidenceSettings
) -> tuple[Any, Any]:
    """Weights and transitions that the evidence of a recognizer learns."""
    network: Any = nlp.get_pipe("names_tok2vec")
    recognizer: Any = nlp.get_pipe(name)
    several = len(recognizer.labels) > 1  # a table with many columns has half the rows
    own = replace(settings, bits=TABLE_BITS - several, epochs=settings.epochs - 2 * several)
    return train_evidence(texts, recognizer.labels, WordTable(network.model.attrs["words"]), own)


def named_text(doc: Doc) -> NamedText:
    """Words and names of a Doc, without white space."""
    kept = [token for token in doc if not token.is_space]
    number = {token.i: n for n, token in enumerate(kept)}
    spans = [[number[t.i] for t in ent if t.i in number] for ent in doc.ents]
    names = [(own[0], own[-1] + 1, ent.label_)
             for own, ent in zip(spans, doc.ents, strict=True) if own]  # fmt: skip
    return NamedText([t.text for t in kept], [bool(t.whitespace_) for t in kept], names)


def named_doc(vocab: Vocab, text: NamedText) -> Doc:
    """Return a Doc with the words of a text and its names in ``doc.ents``."""
    doc = Doc(vocab, words=list(text.words), spaces=list(text.spaces))
    doc.set_ents([Span(doc, *name) for name in text.names])
    return doc


def join_evidence(
    nlp: Language, learned: Mapping[str, tuple[Any, Any]], *, missed: float = MISSED
) -> None:
    """Lets each recognizer mix the scores of the network and of its evidence.

    ``missed`` is taken from the score of being in no name: network and evidence are too cautious,
    evidence alone by .2 on a sixth of BC2GM train.
    """
    network: Any = nlp.get_pipe("names_tok2vec")
    network.model.attrs["evidence"] = [
        WeightTable.from_weights(own).pack() for own, _ in learned.values()
    ]
    rest = network.model.get_dim("nO") - network.model.attrs["shape"]["width"]
    rest -= sum(weights.shape[1] for weights, _ in learned.values())
    if rest:  # columns of recognisers that learn later
        empty = WeightTable.from_weights(np.zeros((1, rest))).pack()
        network.model.attrs["evidence"].append(empty)
    first = network.model.attrs["shape"]["width"]
    for name, (weights, steps) in learned.items():
        recognizer: Any = nlp.get_pipe(name)
        scores = recognizer.model.layers[0].layers[-1].layers[0]
        share = SHARES.get(name, 0.5)
        own = scores.get_param("W") * (1 - share)
        own[:, network.model.attrs["shape"]["width"] :] = 0
        tags = np.arange(weights.shape[1])
        own[tags, first + tags] = share
        bias = scores.get_param("b") * (1 - share)
        bias[0] -= missed
        scores.set_param("W", own)
        scores.set_param("b", bias)
        both = (1 - share) * recognizer.model.get_param("T") + share * steps
        recognizer.model.set_param("T", both.astype(np.float32))
        first += weights.shape[1]


def _step_alone(network: Any, recognizer: Any, name: str, settings: Settings) -> _Step:
    listeners = dict(network.listener_map)

    def step(batch: list[Example], optimizer: Optimizer, losses: dict[str, float]) -> None:
        # The network learns when its last listener has answered, so it hears only the one whose
        # corpus the batch is from.
        network.listener_map = {name: listeners[name]}
        network.update(batch, drop=settings.dropout, losses=losses)
        recognizer.update(batch, drop=settings.dropout, losses=losses)
        network.finish_update(optimizer)
        recognizer.finish_update(optimizer)
        network.listener_map = listeners

    return step


def _train(
    nlp: Language,
    corpora: Sequence[tuple[_Step, list[Example], float]],
    settings: Settings,
    draw: random.Random,
    watch: Watch,
) -> dict[str, bytes]:
    """Runs through all batches in random order, epoch by epoch; the weights are averages.

    Beside the examples of a corpus stands which share of them an epoch has, drawn anew each time.
    """

    def order() -> list[tuple[_Step, list[Example]]]:
        taken = [(step, draw.sample(own, int(share * len(own))) if share < 1 else own)
                 for step, own, share in corpora]  # fmt: skip
        steps = [(step, b) for step, own in taken for b in batches(own, settings.words, draw)]
        draw.shuffle(steps)
        return steps

    optimizer = falling(settings.rate, settings.epochs * len(order()))
    for epoch in range(1, settings.epochs + 1):
        losses: dict[str, float] = {}
        for step, batch in order():
            step(batch, optimizer, losses)
            optimizer.step_schedules()  # type: ignore[no-untyped-call]
        shown = ", ".join(f"{name} {loss:.0f}" for name, loss in losses.items())
        watch(f"epoch {epoch} of {settings.epochs}: loss {shown}")
    with nlp.use_params(optimizer.averages):
        state = state_of(nlp)
    for name, learned in state.items():
        component: Any = nlp.get_pipe(name)
        component.from_bytes(learned, exclude=["vocab"])  # the averages stay
    return state


def falling(rate: float, steps: int) -> Optimizer:
    """Adam whose learning rate falls linearly from ``rate`` to a hundredth of it."""
    rates: Any = (rate * max(0.01, 1 - step / steps) for step in range(10**9))
    return Adam(rates, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0, use_averages=True)


def batches(examples: Sequence[Example], words: int, draw: random.Random) -> list[list[Example]]:
    """Yield shuffled examples in batches of about so many words."""
    order = list(examples)
    draw.shuffle(order)
    groups: list[list[Example]] = [[]]
    size = 0
    for example in order:
        if size >= words:
            groups.append([])
            size = 0
        groups[-1].append(example)
        size += len(example)
    return groups


def examples_of(docs: Sequence[Doc]) -> list[Example]:
    """Docs with their answers beside Docs of the same words without them."""
    return [Example(bare(doc), doc) for doc in docs]


def bare(doc: Doc) -> Doc:
    """Return a Doc of the same words without annotation."""
    return Doc(doc.vocab, words=[t.text for t in doc], spaces=[bool(t.whitespace_) for t in doc])


def lemma_tables(treebank: Treebank) -> dict[str, Any]:
    """Tables of base forms: a general dictionary's, and what the treebanks add."""
    kinds = ("noun", "verb", "adj", "adv")
    general = load_lookups("en", ["lemma_exc", "lemma_index"])  # from spacy-lookups-data
    irregular, known = (
        {kind: general.get_table(table)[kind] for kind in kinds}
        for table in ("lemma_exc", "lemma_index")
    )
    sentences = [sentence for run in treebank.train for sentence in run]
    words = ((w, t) for s in sentences for w, t in zip(s.words, s.tags, strict=True))
    lemmas = (
        triple for s in treebank.lemmas for triple in zip(s.words, s.tags, s.lemmas, strict=True)
    )
    return build_tables(irregular, known, words, lemmas)
