"""Components of the shipped pipeline and their networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import spacy
from spacy.language import Language
from workshop.round_weights import round_networks

from textrank.language._encoder import use_numpy_products
from textrank.language.load import register_components
from textrank.language.morphology import add_morphology
from textrank.language.ner import PROTEINS_KEY

TEMPERATURE = 1.2  # of the probabilities of kinds, chosen on a held-out fifth of the abstracts
OPTIONAL = ("genes", PROTEINS_KEY)  # components that are disabled by default


@dataclass(frozen=True)
class Settings:
    """Shape of a word-in-context network and how it is trained."""

    epochs: int = 6
    words: int = 1000  # a batch
    dropout: float = 0.15
    rate: float = 0.0015  # falls linearly to zero
    width: int = 96
    depth: int = 4
    rows: int = 5000  # of the tables of hashed words: they cost megabytes, not time
    vectors: int = 0  # width of the vectors from unlabelled text; only names have any
    evidence: int = 0  # number of tags with evidence beside the network; only names have any
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError if a size is below 1 or a rate is out of range."""
        for name in ("epochs", "words", "width", "depth", "rows"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, got {self.dropout}")
        for name in ("vectors", "evidence"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be below 0, got {getattr(self, name)}")
        if self.rate <= 0:
            raise ValueError(f"rate must be positive, got {self.rate}")


def blank_nlp() -> Language:
    """Return an English pipeline without components, with our tokenizer."""
    register_components()
    settings = {
        "batch_size": 32,  # abstracts; a thousand at once would not fit the processor's cache
        "tokenizer": {"@tokenizers": "textrank.bio_tokenizer.v1"},
        "after_pipeline_creation": {"@callbacks": "textrank.fast_products.v1"},
    }
    return spacy.blank("en", config={"nlp": settings})


def add_syntax(nlp: Language, settings: Settings) -> None:
    """Add an untrained tagger and parser on one network."""
    embed = {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "pretrained_vectors": None,
        "width": settings.width,
        "depth": settings.depth,
        "embed_size": settings.rows,
        "window_size": 1,
        "maxout_pieces": 3,
        "subword_features": True,
    }
    nlp.add_pipe("textrank_tok2vec", name="tok2vec", config={"model": embed})
    nlp.add_pipe("textrank_tagger", "tagger", config={"model": _tagger_config(settings, "tok2vec")})
    nlp.add_pipe("textrank_parser", "parser", config={"model": _parser_config(settings, "tok2vec")})


def add_names(nlp: Language, settings: Settings) -> None:
    """Add the untrained entity recognisers on one network, "names_tok2vec".

    Corpora disagree on what a name is, so each recogniser has its own scores; they share the
    network. "genes" is trained on BC2GM, "ner" (five types) on JNLPBA, PROTEINS_KEY (proteins, as
    short as possible) on the event corpora, and "kinds" (kinds of gene names) on NLM-Gene,
    GNormPlus and BioRED.
    """
    network = {
        "@architectures": "textrank.NameNetwork.v1",
        "width": settings.width,
        "rows": settings.rows,
        "depth": settings.depth,
        "vectors": settings.vectors,
        "evidence": settings.evidence,
    }
    words = {"model": network, "spelt": True}
    nlp.add_pipe("textrank_tok2vec", name="names_tok2vec", config=words)
    tags = {
        "@architectures": "textrank.NameTags.v1",
        "tok2vec": _listener_config(settings, "names_tok2vec"),
    }
    kinds = {"model": tags, "temperature": TEMPERATURE}
    nlp.add_pipe("textrank_kinds", name="kinds", config=kinds)
    nlp.add_pipe("textrank_genes", name="genes", config={"model": tags})
    nlp.add_pipe("textrank_names", name="ner", config={"model": tags})
    narrow = {"model": tags, "key": PROTEINS_KEY, "narrow": True}
    nlp.add_pipe("textrank_genes", name=PROTEINS_KEY, config=narrow)


def add_auxiliary_tagger(nlp: Language, settings: Settings) -> None:
    """Add a tagger "tags" on the network of names, which is only used during training."""
    nlp.add_pipe("tagger", name="tags", config={"model": _tagger_config(settings, "names_tok2vec")})


def _tagger_config(settings: Settings, upstream: str) -> dict[str, object]:
    """Return the config of a tagger on the network ``upstream``."""
    return {"@architectures": "spacy.Tagger.v2", "tok2vec": _listener_config(settings, upstream)}


def _parser_config(settings: Settings, upstream: str) -> dict[str, object]:
    """Return the config of a parser on the network ``upstream``."""
    return {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "parser",
        "extra_state_tokens": False,
        "hidden_width": 64,
        "maxout_pieces": 2,
        "use_upper": True,
        "tok2vec": _listener_config(settings, upstream),
    }


def _listener_config(settings: Settings, upstream: str) -> dict[str, object]:
    """Return the config of a listener to the network ``upstream``."""
    return {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": settings.width + settings.evidence,
        "upstream": upstream,
    }


def get_state(nlp: Language, names: Sequence[str] | None = None) -> dict[str, bytes]:
    """Return the weights of the components as bytes, by name, without their vocabulary.

    ``names`` selects components; None returns all.
    """
    components: list[tuple[str, Any]] = nlp.pipeline
    return {
        name: component.to_bytes(exclude=["vocab"])
        for name, component in components
        if names is None or name in names
    }


def assemble(
    state: Mapping[str, bytes], tables: Mapping[str, Any], syntax: Settings, names: Settings
) -> Language:
    """Build the language pipeline from trained weights and the tables of lemmas.

    ``state`` has the weights of each component as bytes. They are loaded into a new vocabulary,
    because spaCy's own way to take a component over would also copy every word of the training
    text. Parameters are rounded to 12 bits of their mantissa. Optional components are disabled.
    """
    nlp = blank_nlp()
    nlp.add_pipe("textrank_sentences", name="sentences", config={"final": True})
    add_syntax(nlp, syntax)
    add_morphology(nlp, tables)
    add_names(nlp, names)
    for name, learned in state.items():
        component: Any = nlp.get_pipe(name)
        component.from_bytes(learned, exclude=["vocab"])
        for label in getattr(component, "labels", ()):
            nlp.vocab.strings.add(label)
    for name in OPTIONAL:
        nlp.disable_pipe(name)
    return use_numpy_products(round_networks(nlp))
