"""Training of the two halves of the shipped pipeline: tagger with parser, and names."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spacy.language import Language
from spacy.lookups import load_lookups
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, Optimizer, fix_random_seed
from workshop.networks import (
    Settings,
    add_names,
    add_syntax,
    add_tags,
    blank_nlp,
    state_of,
)
from workshop.prepare import RUN, NameDocs, Treebank, doc_of, runs
from workshop.treebanks import Sentence
from workshop.vectors import word_vectors

from textrank.language.lexical import plain, use_vectors
from textrank.language.morphology import build_tables
from textrank.language.products import use_fast_products

Watch = Callable[[str], None]
_Step = Callable[[list[Example], Optimizer, dict[str, float]], None]


def train_syntax(
    train: Sequence[Sequence[Sentence]], settings: Settings, watch: Watch
) -> dict[str, bytes]:
    """What tagger and parser learn together on one network, from runs of sentences."""
    fix_random_seed(settings.seed)
    draw = random.Random(settings.seed)
    nlp = blank_nlp()
    add_syntax(nlp, settings)
    use_fast_products(nlp)
    examples = examples_of([doc_of(nlp.vocab, run, breaks=draw) for run in train])
    nlp.initialize(lambda: examples)

    def step(batch: list[Example], optimizer: Optimizer, losses: dict[str, float]) -> None:
        nlp.update(batch, sgd=optimizer, drop=settings.dropout, losses=losses)

    return _train(nlp, [(step, examples)], settings, draw, watch)


def train_names(
    corpora: Mapping[str, NameDocs],
    tagged: Sequence[Sentence],
    settings: Settings,
    watch: Watch,
) -> dict[str, bytes]:
    """What the recognizers of names learn by turns on one network, each from its own corpus.

    The network knows vectors of the words of all texts. It also learns to tell the parts of speech
    of the sentences ``tagged``, for what that teaches about words; the tagger itself is dropped.
    """
    fix_random_seed(settings.seed)
    nlp = blank_nlp()
    add_names(nlp, settings)
    add_tags(nlp, settings)
    use_fast_products(nlp)
    network: Any = nlp.get_pipe("names_tok2vec")
    docs = {name: own.train for name, own in corpora.items()}
    vocab = docs["genes"][0].vocab
    docs["tags"] = [doc_of(vocab, run, breaks=None) for run in runs(tagged, RUN)]
    words, vectors = word_vectors(
        [[token.text for token in doc] for own in docs.values() for doc in own],
        plain,
        settings.vectors,
        seed=settings.seed,
    )
    use_vectors(network.model, words, vectors)
    watch(f"vectors of {len(words)} words")
    examples = {name: examples_of(own) for name, own in docs.items()}
    network.initialize(lambda: [own[0] for own in examples.values()], nlp=nlp)
    for name, own in examples.items():
        component: Any = nlp.get_pipe(name)
        component.initialize(lambda own=own: own, nlp=nlp)
    steps = [
        (_step_alone(network, nlp.get_pipe(name), name, settings), own)
        for name, own in examples.items()
    ]
    learned = _train(nlp, steps, settings, random.Random(settings.seed), watch)
    return {name: state for name, state in learned.items() if name != "tags"}


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
    corpora: Sequence[tuple[_Step, list[Example]]],
    settings: Settings,
    draw: random.Random,
    watch: Watch,
) -> dict[str, bytes]:
    """Runs through all batches in random order, epoch by epoch; the weights are averages."""

    def order() -> list[tuple[_Step, list[Example]]]:
        steps = [(step, b) for step, own in corpora for b in batches(own, settings.words, draw)]
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
        return state_of(nlp)


def falling(rate: float, steps: int) -> Optimizer:
    """Adam whose learning rate falls linearly from ``rate`` to a hundredth of it."""
    rates: Any = (rate * max(0.01, 1 - step / steps) for step in range(10**9))
    return Adam(rates, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0, use_averages=True)


def batches(examples: Sequence[Example], words: int, draw: random.Random) -> list[list[Example]]:
    """The examples in a new order, in groups of about so many words."""
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
    """A Doc of the same words with nothing said about them."""
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
