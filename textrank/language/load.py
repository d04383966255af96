"""``load_nlp``: the shipped pipeline or any other of spaCy, with only what a task needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.util import registry

from textrank.io import shipped_folder
from textrank.language._encoder import fast_products
from textrank.language._ner_network import build_word_network
from textrank.language.morphology import Morphology
from textrank.language.ner import GeneRecognizer, NameRecognizer, build_tag_network
from textrank.language.sentences import SentenceSplitter
from textrank.language.syntax import WordParser, WordTagger, WordTok2Vec
from textrank.language.tokenizer import bio_tokenizer

SHIPPED_PIPELINE = "en_textrank_bio"
MAX_TEXT_CHARACTERS = 2_000_000  # characters of a text; a million take about 3 GB

# What a component reads that others write; networks they listen to are found in the config.
_NEEDS: dict[str, tuple[str, ...]] = {
    "morphology": ("tagger", "parser"),
    "lemmatizer": ("tagger", "morphologizer", "attribute_ruler"),
    "attribute_ruler": ("tagger",),
    "identifiers": ("genes",),
    "proteins": ("names_tok2vec",),  # which does not know of a listener that is switched off
}
_ALWAYS = ("sentences",)  # costs next to nothing, and every task looks at sentences


def register_components() -> tuple[type, ...]:
    """Makes the names that the shipped pipeline's config uses known to spaCy.

    The package's entry points do the same where it is installed; this serves a source tree. The
    classes given are those of the components, whose factories came with their modules.
    """
    registry.tokenizers.register("textrank.bio_tokenizer.v1", func=bio_tokenizer)
    registry.architectures.register("textrank.NameNetwork.v1", func=build_word_network)
    registry.architectures.register("textrank.NameTags.v1", func=build_tag_network)
    registry.callbacks.register("textrank.fast_products.v1", func=fast_products)
    networks = (WordTok2Vec, WordTagger, WordParser, GeneRecognizer, NameRecognizer)
    return (SentenceSplitter, Morphology, *networks)


def load_nlp(
    name: str | Path | None = None,
    *,
    only: Sequence[str] | None = None,
    max_length: int = MAX_TEXT_CHARACTERS,
) -> Language:
    """A spaCy pipeline: the shipped biomedical one, or another by its name or path.

    The shipped one also gives each name its identifier (component ``identifiers``). ``only`` names
    the components that are run (of the shipped one: tagger, parser, morphology, ner, genes,
    proteins, identifiers); what these build on is run too, the rest stays switched off until
    ``nlp.enable_pipe``, as ``proteins`` does when nothing is named. A text of more than
    ``max_length`` characters is refused.

    >>> doc = load_nlp(only=["genes"])("We saw that GRB2 binds SOS1.")
    >>> [name.text for name in doc.spans["entities"]]
    ['GRB2', 'SOS1']
    """
    nlp = _load(SHIPPED_PIPELINE if name is None else name)
    if name is None and "identifiers" not in nlp.component_names:
        nlp.add_pipe("textrank_identifiers", "identifiers")
    nlp.max_length = max_length
    if only is not None:
        wanted = resolve_components(nlp, only)
        for component in set(nlp.disabled) & set(wanted):
            nlp.enable_pipe(component)
        nlp.select_pipes(enable=wanted)
    return nlp


def model_path(name: str = SHIPPED_PIPELINE) -> Path:
    """The folder of a shipped model, for ``spacy.load``."""
    path = shipped_folder("models") / name
    if not path.is_dir():
        raise ValueError(
            f"no shipped model {name!r} in {path.parent}; there is {SHIPPED_PIPELINE!r}"
        )
    return path


def _load(name: str | Path) -> Language:
    register_components()
    if name == SHIPPED_PIPELINE:
        return spacy.load(model_path())
    try:
        return spacy.load(_known(name))
    except OSError as error:
        raise ValueError(
            f"no spaCy pipeline {str(name)!r}: neither an installed package nor a folder with a "
            f"config.cfg. Install it, or leave the name out for the shipped {SHIPPED_PIPELINE!r}. ({error})"
        ) from error


def _known(name: str | Path) -> Path | str:
    """The folder of a pipeline, or the name of a package that is one; no other code is imported.

    spaCy would import whatever package has the name and call its ``load``.
    """
    if (path := Path(name)).exists():
        if (path / "config.cfg").is_file():
            return path
        raise ValueError(f"{path}: no config.cfg in it, so it is no spaCy pipeline. Name another.")
    spec = find_spec(str(name)) if str(name).isidentifier() else None
    root = Path(spec.origin).parent if spec is not None and spec.origin else None
    try:
        meta = None if root is None else json.loads((root / "meta.json").read_text("utf-8"))
    except (OSError, ValueError):
        meta = None
    if not isinstance(meta, dict) or not {"lang", "name", "version"} <= meta.keys():
        raise ValueError(
            f"no spaCy pipeline {str(name)!r}: neither an installed model package nor a folder "
            f"with a config.cfg. Install it, or leave the name out for the shipped {SHIPPED_PIPELINE!r}."
        )
    return str(name)


def resolve_components(nlp: Language, only: Sequence[str]) -> list[str]:
    """The components named and all that they build on."""
    unknown = [component for component in only if component not in nlp.component_names]
    if unknown:
        raise ValueError(
            f"no component {unknown[0]!r} in this pipeline; it has {', '.join(nlp.component_names)}"
        )
    wanted = [*only, *(name for name in _ALWAYS if name in nlp.component_names)]
    for component in wanted:  # grows while it is walked
        needs = [*_NEEDS.get(component, ()), *_upstream(nlp, component)]
        wanted += [n for n in needs if n in nlp.component_names and n not in wanted]
    return wanted


def _upstream(nlp: Language, component: str) -> list[str]:
    """Networks of the pipeline that the component listens to."""
    pipe = nlp.get_pipe(component)
    found = []
    for name, other in nlp.components:
        listening = getattr(other, "listener_map", {})
        if pipe is not other and component in listening:
            found.append(name)
    return found
