"""Train tagger, parser and entity recognisers of the shipped language pipeline."""

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
from workshop.evidence import EvidenceSettings, NamedText, add_variants, train_evidence
from workshop.name_kinds import KindDoc, train_kinds
from workshop.networks import (
    Settings,
    add_auxiliary_tagger,
    add_names,
    add_syntax,
    blank_nlp,
    get_state,
)
from workshop.prepare import (
    MAX_RUN_SENTENCES,
    NameDocs,
    Treebank,
    sentences_to_doc,
    split_into_runs,
)
from workshop.protein_spans import train_proteins
from workshop.self_training import predict_names
from workshop.treebanks import Sentence

from textrank.language._encoder import use_numpy_products
from textrank.language._ner_network import TABLE_BITS, WeightTable, WordTable
from textrank.language.morphology import build_tables

RECOGNIZERS = ("genes", "ner")  # recognisers with an evidence table
EVIDENCE = EvidenceSettings()
NO_NAME_PENALTY = 0.1  # subtracted from the score of being in no name
EPOCH_SHARES = {"tags": 0.25, "proteins": 0.5}  # share of the examples in an epoch; else all
SELF_TRAINED = ("genes",)  # recognisers whose evidence is also trained on self-labelled sentences
EVIDENCE_SHARES = {
    "genes": 0.5,
    "ner": 0.3,
}  # of evidence in the scores of a recognizer; else a half
ProgressCallback = Callable[[str], None]
_TrainingStep = Callable[[list[Example], Optimizer, dict[str, float]], None]


def train_syntax(
    train: Sequence[Sequence[Sentence]], settings: Settings, watch: ProgressCallback
) -> dict[str, bytes]:
    """Train tagger and parser on one shared network and return their weights by component.

    ``train`` are runs of consecutive sentences, one Doc each. ``watch`` is called with a line of
    progress after each epoch. Random numbers are seeded with ``settings.seed``.
    """
    fix_random_seed(settings.seed)
    draw = random.Random(settings.seed)
    nlp = blank_nlp()
    add_syntax(nlp, settings)
    use_numpy_products(nlp)
    examples = make_examples([sentences_to_doc(nlp.vocab, run, breaks=draw) for run in train])
    nlp.initialize(lambda: examples)

    def step(batch: list[Example], optimizer: Optimizer, losses: dict[str, float]) -> None:
        """Update tagger, parser and network on a batch; add to ``losses``, in place."""
        nlp.update(batch, sgd=optimizer, drop=settings.dropout, losses=losses)

    return _train_epochs(nlp, [(step, examples, 1.0)], settings, draw, watch)


def train_names(
    corpora: Mapping[str, NameDocs],
    tagged: Sequence[Sentence],
    words: Mapping[str, Any],
    unlabelled: Sequence[NamedText],
    settings: Settings,
    watch: ProgressCallback,
    *,
    kinds: Sequence[KindDoc] = (),
    evidence: EvidenceSettings = EVIDENCE,
) -> dict[str, bytes]:
    """Train the network of names and all entity recognisers; return their weights by component.

    There are four steps. First the recognisers of ``corpora`` ("genes", "ner", "proteins") and a
    tagger train one shared network, in batches of one corpus each; the tagger is dropped
    afterwards. Then an evidence table is trained for each of RECOGNIZERS and mixed into its scores.
    Then the evidence of SELF_TRAINED is trained again, with texts that the recogniser has labelled,
    and the recogniser "proteins" is trained on the finished network. Last, the recogniser "kinds"
    is trained.

    Parameters
    ----------
    corpora
        Docs with names in ``doc.ents``, by name of the recogniser.
    tagged
        Sentences with part-of-speech tags, for the auxiliary tagger.
    words
        Arrays of the ``WordTable``.
    unlabelled
        Sentences without names, for self-training.
    settings
        Shape and training of the network.
    watch
        Called with a line of progress.
    kinds
        Abstracts with names of three kinds; without any, "kinds" is not trained.
    evidence
        Training of the evidence tables.
    """
    fix_random_seed(settings.seed)
    nlp = blank_nlp()
    add_names(nlp, settings)
    add_auxiliary_tagger(nlp, settings)
    use_numpy_products(nlp)
    network: Any = nlp.get_pipe("names_tok2vec")
    network.model.attrs["words"] = dict(words)
    texts = {name: [to_named_text(doc) for doc in corpus.train] for name, corpus in corpora.items()}
    vocab = next(iter(corpora.values())).train[0].vocab
    docs = {
        name: [to_doc(vocab, text) for text in add_variants(items, evidence)]
        for name, items in texts.items()
    }
    docs["tags"] = [
        sentences_to_doc(vocab, run, breaks=None)
        for run in split_into_runs(tagged, MAX_RUN_SENTENCES)
    ]
    examples = {name: make_examples(items) for name, items in docs.items()}
    network.initialize(lambda: [items[0] for items in examples.values()], nlp=nlp)
    for name, items in examples.items():
        component: Any = nlp.get_pipe(name)
        component.initialize(lambda items=items: items, nlp=nlp)
    steps = [
        (
            _make_step(network, nlp.get_pipe(name), name, settings),
            items,
            EPOCH_SHARES.get(name, 1.0),
        )
        for name, items in examples.items()
    ]
    _train_epochs(nlp, steps, settings, random.Random(settings.seed), watch)
    learned = {}
    for name in RECOGNIZERS:
        learned[name] = _train_recognizer_evidence(nlp, name, texts[name], evidence)
        watch(f"evidence of {name}")
    mix_in_evidence(nlp, learned)
    self_train_evidence(nlp, texts, unlabelled, evidence, watch)
    _train_kinds_if_any(nlp, kinds, watch)
    return {name: items for name, items in get_state(nlp).items() if name != "tags"}


def retrain_evidence(
    state: Mapping[str, bytes],
    corpora: Mapping[str, NameDocs],
    unlabelled: Sequence[NamedText],
    settings: Settings,
    watch: ProgressCallback,
    *,
    kinds: Sequence[KindDoc] = (),
) -> dict[str, bytes]:
    """Train what does not change the network: evidence, "proteins" and "kinds"; return all weights.

    ``state`` are the weights of the network and of the recognisers "genes" and "ner", which are
    kept. Other arguments are those of ``train_names``.
    """
    nlp = blank_nlp()
    add_names(nlp, settings)
    for name, learned in state.items():
        component: Any = nlp.get_pipe(name)
        component.from_bytes(learned, exclude=["vocab"])
    use_numpy_products(nlp)
    texts = {name: [to_named_text(doc) for doc in docs.train] for name, docs in corpora.items()}
    self_train_evidence(nlp, texts, unlabelled, EVIDENCE, watch)
    _train_kinds_if_any(nlp, kinds, watch)
    return get_state(nlp)


def _train_kinds_if_any(nlp: Language, kinds: Sequence[KindDoc], watch: ProgressCallback) -> None:
    """Train the recogniser "kinds" in place; nothing happens without abstracts."""
    if kinds:
        train_kinds(nlp, kinds)
        watch("kinds")


def self_train_evidence(
    nlp: Language,
    texts: Mapping[str, Sequence[NamedText]],
    unlabelled: Sequence[NamedText],
    evidence: EvidenceSettings,
    watch: ProgressCallback,
) -> None:
    """Train evidence again with self-labelled texts, then the recogniser "proteins", in place.

    For each of SELF_TRAINED the recogniser labels the sentences ``unlabelled``, and its evidence
    table is trained on these and on its ``texts``. Transitions, and the shares of network and
    evidence in the scores, stay as they are.
    """
    network: Any = nlp.get_pipe("names_tok2vec")
    tables = list(network.model.attrs["evidence"])
    for name in SELF_TRAINED:
        self_labelled = predict_names(nlp, name, unlabelled)
        weights, _ = _train_recognizer_evidence(nlp, name, [*texts[name], *self_labelled], evidence)
        tables[RECOGNIZERS.index(name)] = WeightTable.from_weights(weights).pack()
        watch(f"evidence of {name}, taught")
    network.model.attrs["evidence"] = tables
    train_proteins(nlp, texts["proteins"])


def _train_recognizer_evidence(
    nlp: Language, name: str, texts: Sequence[NamedText], settings: EvidenceSettings
) -> tuple[Any, Any]:
    """Train the evidence of a recogniser; return weights (rows, tags) and transitions.

    Transitions have shape (tags + 1, tags + 1). With several labels the table has half the rows and
    is trained for two epochs less, because it has more columns.
    """
    network: Any = nlp.get_pipe("names_tok2vec")
    recognizer: Any = nlp.get_pipe(name)
    has_several_labels = len(recognizer.labels) > 1  # a table with many columns has half the rows
    reduced = replace(
        settings,
        bits=TABLE_BITS - has_several_labels,
        epochs=settings.epochs - 2 * has_several_labels,
    )
    return train_evidence(
        texts, recognizer.labels, WordTable(network.model.attrs["words"]), reduced
    )


def to_named_text(doc: Doc) -> NamedText:
    """Return the words and entities of a Doc without its white-space tokens.

    Entities that consist of white space are left out.
    """
    tokens = [token for token in doc if not token.is_space]
    index_of_token = {token.i: n for n, token in enumerate(tokens)}
    spans = [[index_of_token[t.i] for t in ent if t.i in index_of_token] for ent in doc.ents]
    names = [(indices[0], indices[-1] + 1, ent.label_)
             for indices, ent in zip(spans, doc.ents, strict=True) if indices]  # fmt: skip
    return NamedText([t.text for t in tokens], [bool(t.whitespace_) for t in tokens], names)


def to_doc(vocab: Vocab, text: NamedText) -> Doc:
    """Return a Doc with the words of a text and its names in ``doc.ents``."""
    doc = Doc(vocab, words=list(text.words), spaces=list(text.spaces))
    doc.set_ents([Span(doc, *name) for name in text.names])
    return doc


def mix_in_evidence(
    nlp: Language,
    learned: Mapping[str, tuple[Any, Any]],
    *,
    no_name_penalty: float = NO_NAME_PENALTY,
) -> None:
    """Mix the scores of the network with those of evidence in each recogniser, in place.

    ``learned`` has weights and transitions of the evidence by recogniser. Its share of the scores
    is ``EVIDENCE_SHARES[name]``, 0.5 by default. ``no_name_penalty`` is subtracted from the score
    of being in no name: without it recall is too low (the best value for evidence alone is 0.2 on a
    held-out sixth of BC2GM train).
    """
    network: Any = nlp.get_pipe("names_tok2vec")
    network.model.attrs["evidence"] = [
        WeightTable.from_weights(weights).pack() for weights, _ in learned.values()
    ]
    n_unused = network.model.get_dim("nO") - network.model.attrs["shape"]["width"]
    n_unused -= sum(weights.shape[1] for weights, _ in learned.values())
    if n_unused:  # columns of recognisers that learn later
        empty = WeightTable.from_weights(np.zeros((1, n_unused))).pack()
        network.model.attrs["evidence"].append(empty)
    first_column = network.model.attrs["shape"]["width"]
    for name, (weights, steps) in learned.items():
        recognizer: Any = nlp.get_pipe(name)
        scores = recognizer.model.layers[0].layers[-1].layers[0]
        share = EVIDENCE_SHARES.get(name, 0.5)
        W = scores.get_param("W") * (1 - share)
        W[:, network.model.attrs["shape"]["width"] :] = 0
        tags = np.arange(weights.shape[1])
        W[tags, first_column + tags] = share
        bias = scores.get_param("b") * (1 - share)
        bias[0] -= no_name_penalty
        scores.set_param("W", W)
        scores.set_param("b", bias)
        transitions = (1 - share) * recognizer.model.get_param("T") + share * steps
        recognizer.model.set_param("T", transitions.astype(np.float32))
        first_column += weights.shape[1]


def _make_step(network: Any, recognizer: Any, name: str, settings: Settings) -> _TrainingStep:
    """Return a function that updates the network and one recogniser on a batch of its corpus."""
    listeners = dict(network.listener_map)

    def step(batch: list[Example], optimizer: Optimizer, losses: dict[str, float]) -> None:
        """Update network and recogniser on a batch; add to ``losses``, in place."""
        # The network learns when its last listener has answered, so it hears only the one whose
        # corpus the batch is from.
        network.listener_map = {name: listeners[name]}
        network.update(batch, drop=settings.dropout, losses=losses)
        recognizer.update(batch, drop=settings.dropout, losses=losses)
        network.finish_update(optimizer)
        recognizer.finish_update(optimizer)
        network.listener_map = listeners

    return step


def _train_epochs(
    nlp: Language,
    corpora: Sequence[tuple[_TrainingStep, list[Example], float]],
    settings: Settings,
    draw: random.Random,
    watch: ProgressCallback,
) -> dict[str, bytes]:
    """Train for ``settings.epochs`` in random order; set and return the averaged weights.

    ``corpora`` are (step, examples, share): ``step`` updates the components on a batch, and
    ``share`` is the fraction of the examples that each epoch draws anew. Batches of all corpora are
    shuffled together.
    """

    def draw_batches() -> list[tuple[_TrainingStep, list[Example]]]:
        """Return the batches of one epoch, each with its step, in random order."""
        drawn = [
            (step, draw.sample(items, int(share * len(items))) if share < 1 else items)
            for step, items, share in corpora
        ]
        steps = [
            (step, batch)
            for step, examples in drawn
            for batch in make_batches(examples, settings.words, draw)
        ]
        draw.shuffle(steps)
        return steps

    optimizer = make_optimizer(settings.rate, settings.epochs * len(draw_batches()))
    for epoch in range(1, settings.epochs + 1):
        losses: dict[str, float] = {}
        for step, batch in draw_batches():
            step(batch, optimizer, losses)
            optimizer.step_schedules()  # type: ignore[no-untyped-call]
        loss_text = ", ".join(f"{name} {loss:.0f}" for name, loss in losses.items())
        watch(f"epoch {epoch} of {settings.epochs}: loss {loss_text}")
    with nlp.use_params(optimizer.averages):
        state = get_state(nlp)
    for name, learned in state.items():
        component: Any = nlp.get_pipe(name)
        component.from_bytes(learned, exclude=["vocab"])  # the averages stay
    return state


def make_optimizer(rate: float, steps: int) -> Optimizer:
    """Return an Adam optimiser whose rate falls linearly, from ``rate`` to a hundredth of it.

    ``steps`` is the number of steps in which it falls.
    """
    rates: Any = (rate * max(0.01, 1 - step / steps) for step in range(10**9))
    return Adam(rates, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0, use_averages=True)


def make_batches(
    examples: Sequence[Example], words: int, draw: random.Random
) -> list[list[Example]]:
    """Split shuffled examples into batches of at least ``words`` tokens, except the last."""
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


def make_examples(docs: Sequence[Doc]) -> list[Example]:
    """Return training examples: each annotated Doc with a copy that has no annotation."""
    return [Example(copy_words(doc), doc) for doc in docs]


def copy_words(doc: Doc) -> Doc:
    """Return a Doc of the same words without annotation."""
    return Doc(doc.vocab, words=[t.text for t in doc], spaces=[bool(t.whitespace_) for t in doc])


def build_lemma_tables(treebank: Treebank) -> dict[str, Any]:
    """Build the tables of lemmas from spaCy's general dictionary and the treebanks."""
    kinds = ("noun", "verb", "adj", "adv")
    general = load_lookups("en", ["lemma_exc", "lemma_index"])  # from spacy-lookups-data
    irregular, regular = (
        {kind: general.get_table(table)[kind] for kind in kinds}
        for table in ("lemma_exc", "lemma_index")
    )
    sentences = [sentence for run in treebank.train for sentence in run]
    words = ((w, t) for s in sentences for w, t in zip(s.words, s.tags, strict=True))
    lemmas = (
        triple for s in treebank.lemmas for triple in zip(s.words, s.tags, s.lemmas, strict=True)
    )
    return build_tables(irregular, regular, words, lemmas)
