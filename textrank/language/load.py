"""Load a spaCy pipeline: the shipped biomedical one (``en_textrank_bio``) or any other.

``load_nlp`` is the entry point. ``resolve_components`` works out which other components the
requested ones depend on, so that a task runs only what it needs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.util import registry

from textrank.io import shipped_folder
from textrank.language._encoder import fast_products
from textrank.language._ner_network import build_word_network
from textrank.language.morphology import Morphology
from textrank.language.name_kinds import KindRecognizer
from textrank.language.ner import GeneRecognizer, NameRecognizer, build_tag_network
from textrank.language.segmentation import SentenceSplitter, bio_tokenizer
from textrank.language.syntax import WordParser, WordTagger, WordTok2Vec

SHIPPED_PIPELINE = "en_textrank_bio"
MAX_TEXT_CHARACTERS = 2_000_000  # a million characters take about 3 GB

# Component -> components whose annotations it reads. Shared networks (spaCy listeners) are not
# listed here: ``_find_upstream_networks`` finds them in the loaded pipeline.
_DEPENDENCIES: dict[str, tuple[str, ...]] = {
    "morphology": ("tagger", "parser"),
    "lemmatizer": ("tagger", "morphologizer", "attribute_ruler"),
    "attribute_ruler": ("tagger",),
    "identifiers": ("kinds",),
    # spaCy does not register a disabled listener with its network, so these are listed.
    "genes": ("names_tok2vec",),
    "proteins": ("names_tok2vec",),
}
_ALWAYS_ENABLED = ("sentences",)  # cheap, and every task needs sentence boundaries


def register_components() -> tuple[type, ...]:
    """Register the names that the shipped pipeline's config uses with spaCy.

    The entry points of the installed package do the same; this call makes a source checkout work.
    Calling it again is harmless.

    Returns
    -------
    tuple of type
        The component classes. Their factories are registered when their modules are imported; the
        tuple only keeps these imports in use.
    """
    registry.tokenizers.register("textrank.bio_tokenizer.v1", func=bio_tokenizer)
    registry.architectures.register("textrank.NameNetwork.v1", func=build_word_network)
    registry.architectures.register("textrank.NameTags.v1", func=build_tag_network)
    registry.callbacks.register("textrank.fast_products.v1", func=fast_products)
    networks = (WordTok2Vec, WordTagger, WordParser)
    recognizers = (KindRecognizer, GeneRecognizer, NameRecognizer)
    return (SentenceSplitter, Morphology, *networks, *recognizers)


def load_nlp(
    name: str | Path | None = None,
    *,
    only: Sequence[str] | None = None,
    max_length: int = MAX_TEXT_CHARACTERS,
) -> Language:
    """Load a spaCy pipeline: the shipped biomedical one, or another by name or path.

    Parameters
    ----------
    name
        Name of an installed spaCy model package, or path of a folder with a ``config.cfg``. None
        loads the shipped pipeline and adds the component ``identifiers``, which links each gene
        name to an identifier; the name of the shipped pipeline loads it without.
    only
        Components to run; of the shipped pipeline tagger, parser, morphology, ner, genes, proteins
        and identifiers are available. The components they depend on run too, and ``sentences``
        always does. All others stay disabled until ``nlp.enable_pipe``. None keeps the components
        that the pipeline enables by default, which for the shipped one excludes ``proteins``.
    max_length
        Longest text, in characters, that the pipeline accepts (``nlp.max_length``).

    Raises
    ------
    ValueError
        If there is no such pipeline or component.

    Examples
    --------
    >>> doc = load_nlp(only=["genes"])("We saw that GRB2 binds SOS1.")
    >>> [name.text for name in doc.spans["entities"]]
    ['GRB2', 'SOS1']
    """
    nlp = _load_pipeline(SHIPPED_PIPELINE if name is None else name)
    if name is None and "identifiers" not in nlp.component_names:
        nlp.add_pipe("textrank_identifiers", "identifiers")
    nlp.max_length = max_length
    if only is not None:
        components = resolve_components(nlp, only)
        for component in set(nlp.disabled) & set(components):
            nlp.enable_pipe(component)
        nlp.select_pipes(enable=components)
    return nlp


def load_shipped(
    *,
    disable: Sequence[str] = (),
    enable: Sequence[str] = (),
    exclude: Sequence[str] = (),
    **overrides: Any,
) -> Language:
    """Load the shipped pipeline with identifiers, with the arguments of ``spacy.load``.

    ``spacy.load("en_textrank_bio")`` calls this, so it gives the components of ``load_nlp()``.
    ``identifiers`` can be disabled, enabled and excluded like the others, except that
    ``enable=["identifiers"]`` alone disables no other component. ``overrides`` are the other
    arguments of ``spacy.load``, such as ``config``. ``nlp.max_length`` becomes
    ``MAX_TEXT_CHARACTERS``. Raises ValueError if the model's folder is missing.
    """
    register_components()
    choices = {"disable": disable, "enable": enable, "exclude": exclude}
    for key, names in choices.items():  # identifiers are not stored with the pipeline
        stored = [name for name in names if name != "identifiers"]
        if stored:
            overrides[key] = stored
    nlp = spacy.load(model_path(), **overrides)
    if "identifiers" not in exclude:
        nlp.add_pipe("textrank_identifiers", "identifiers")
        if "identifiers" in disable or (enable and "identifiers" not in enable):
            nlp.disable_pipe("identifiers")
    nlp.max_length = MAX_TEXT_CHARACTERS
    return nlp


def model_path(name: str = SHIPPED_PIPELINE) -> Path:
    """Return the folder of a shipped spaCy model, which ``spacy.load`` accepts.

    Raises ValueError if there is no such folder.
    """
    path = shipped_folder("models") / name
    if not path.is_dir():
        raise ValueError(
            f"no shipped model {name!r} in {path.parent}; available: {SHIPPED_PIPELINE!r}"
        )
    return path


def _load_pipeline(name: str | Path) -> Language:
    """Register our components, then load a pipeline by name or path.

    The name of the shipped pipeline stands for its folder, whether or not a package of this name is
    installed; no component is added to it. Raises ValueError, with the fix, if the name is neither
    a folder with a ``config.cfg`` nor an installed spaCy model package, or if the pipeline cannot
    be read.
    """
    register_components()
    if name == SHIPPED_PIPELINE:
        return spacy.load(model_path())
    try:
        return spacy.load(_resolve_pipeline(name))
    except OSError as error:
        raise ValueError(
            f"no spaCy pipeline {str(name)!r}: neither an installed package nor a folder with a "
            f"config.cfg. Install it, or omit the name to load the shipped {SHIPPED_PIPELINE!r}. "
            f"({error})"
        ) from error


def _resolve_pipeline(name: str | Path) -> Path | str:
    """Return the folder of a pipeline, or the name of an installed package that is a pipeline.

    ``spacy.load`` imports any package of the given name and calls its ``load``. To run no foreign
    code, a package is accepted only if its ``meta.json`` looks like that of a spaCy model.

    Raises
    ------
    ValueError
        If ``name`` is a path without a ``config.cfg``, or a name without such a package.
    """
    if (path := Path(name)).exists():
        if (path / "config.cfg").is_file():
            return path
        raise ValueError(
            f"{path} is not a spaCy pipeline: it has no config.cfg. Give the folder of a pipeline."
        )
    spec = find_spec(str(name)) if str(name).isidentifier() else None
    root = Path(spec.origin).parent if spec is not None and spec.origin else None
    try:
        meta = None if root is None else json.loads((root / "meta.json").read_text("utf-8"))
    except (OSError, ValueError):
        meta = None
    if not isinstance(meta, dict) or not {"lang", "name", "version"} <= meta.keys():
        raise ValueError(
            f"no spaCy pipeline {str(name)!r}: neither an installed model package nor a folder "
            f"with a config.cfg. Install it, or omit the name to load the shipped "
            f"{SHIPPED_PIPELINE!r}."
        )
    return str(name)


def resolve_components(nlp: Language, requested: Sequence[str]) -> list[str]:
    """Return the requested components and, after them, all components that these depend on.

    Dependencies of dependencies are included; a dependency that the pipeline does not have is left
    out. The sentence splitter is always included if the pipeline has one. Each component is
    returned once, even if it is requested twice. The order is not that of the pipeline.

    Raises
    ------
    ValueError
        If the pipeline lacks a requested component.
    """
    unknown = [component for component in requested if component not in nlp.component_names]
    if unknown:
        raise ValueError(
            f"no component {unknown[0]!r} in this pipeline; available: "
            f"{', '.join(nlp.component_names)}"
        )
    always = (name for name in _ALWAYS_ENABLED if name in nlp.component_names)
    components = list(dict.fromkeys([*requested, *always]))
    for component in components:  # the loop also visits what it appends
        upstream = _find_upstream_networks(nlp, component)
        dependencies = dict.fromkeys([*_DEPENDENCIES.get(component, ()), *upstream])
        components += [n for n in dependencies if n in nlp.component_names and n not in components]
    return components


def _find_upstream_networks(nlp: Language, component: str) -> list[str]:
    """Return the names of the tok2vec components that a component listens to, in pipeline order.

    Raises KeyError if there is no such component. spaCy may not register a disabled listener with
    its network; such a network is missing from the result.
    """
    pipe = nlp.get_pipe(component)
    upstream = []
    for name, other in nlp.components:
        listeners = getattr(other, "listener_map", {})
        if pipe is not other and component in listeners:
            upstream.append(name)
    return upstream
