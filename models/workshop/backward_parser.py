"""Train a parser that reads backwards: ``python -m workshop.backward_parser DATA OUT``.

It makes other errors than the parser of the shipped pipeline. Where the two agree they are mostly
right; where they differ, one of them often is. It is trained on the same sentences, one by one, and
is only used to rank parses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.language import Language
from workshop.component_training import train_syntax
from workshop.language_pipeline import SOURCES
from workshop.networks import Settings, add_syntax, blank_nlp
from workshop.prepare import read_treebank
from workshop.round_weights import round_networks
from workshop.treebanks import Sentence

from textrank.language._encoder import use_numpy_products
from textrank.tasks.parsers import BACKWARD_PARSER

TREEBANKS = ("CRAFT, train part", "GENIA treebank")
SETTINGS = Settings(epochs=4, rows=3000, seed=1)


def reverse_sentence(sentence: Sentence) -> Sentence:
    """Return the sentence with its words, and their annotation, from last to first."""
    last = len(sentence.words) - 1
    return replace(
        sentence,
        words=sentence.words[::-1],
        tags=sentence.tags[::-1],
        heads=[head if head < 0 else last - head for head in sentence.heads[::-1]],
        labels=sentence.labels[::-1],
        spaces=[*list(sentence.spaces)[:-1][::-1], True],
        lemmas=sentence.lemmas[::-1],
    )


def train_backward_parser(
    sentences: Sequence[Sentence], settings: Settings, watch: Callable[[str], None]
) -> Language:
    """Train a parser on reversed sentences, one Doc each.

    The auxiliary tagger shares the network during training and is not in the result.
    """
    return _assemble(
        train_syntax([[reverse_sentence(s)] for s in sentences], settings, watch), settings
    )


def _assemble(state: dict[str, bytes], settings: Settings) -> Language:
    """Return the trained parser with a vocabulary that holds no word of the training text.

    ``state`` has the weights by component.
    """
    nlp = blank_nlp()
    add_syntax(nlp, settings)
    nlp.remove_pipe("tagger")
    for name in nlp.pipe_names:
        component: Any = nlp.get_pipe(name)
        component.from_bytes(state[name], exclude=["vocab"])
        for label in getattr(component, "labels", ()):
            nlp.vocab.strings.add(label)
    nlp.meta.update(
        name=BACKWARD_PARSER.removeprefix("en_"),
        version="0.1.0",
        description="Dependencies of English biomedical sentences read backwards.",
        author="The textrank developers",
        license="CC BY 4.0",
        sources=[source for source in SOURCES if source["name"] in TREEBANKS],
        training=asdict(settings),
        versions={"spacy": version("spacy"), "thinc": version("thinc")},
        requirements=["textrank-kernels"],
    )
    return use_numpy_products(round_networks(nlp))


def main(
    data: Annotated[Path, typer.Argument(help="folder with treebanks/ and ppi/")],
    out: Annotated[Path, typer.Argument(help="folder the parser is written to")],
    epochs: Annotated[int, typer.Option(help="runs through the treebanks")] = SETTINGS.epochs,
) -> None:
    """Train the parser that reads backwards and write it to a folder."""

    def say(message: str) -> None:
        """Print a line with the time."""
        typer.echo(f"{datetime.now(UTC):%H:%M:%S} {message}")

    try:
        settings = replace(SETTINGS, epochs=epochs)
        out.mkdir(parents=True, exist_ok=True)  # before an hour of work, not after
        sentences = [sentence for run in read_treebank(data).train for sentence in run]
    except (OSError, ValueError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    say(f"{len(sentences)} sentences")
    train_backward_parser(sentences, settings, say).to_disk(out)


if __name__ == "__main__":
    typer.run(main)
