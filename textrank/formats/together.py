"""Several corpora read as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc


@dataclass(frozen=True)
class Together:
    """The documents of several corpora, one corpus after the other, to train one model on all.

    A document keeps its id, with the name of its corpus before it, so that ids of different
    corpora cannot meet. Texts that two corpora share are held out together as always.
    """

    corpora: Mapping[str, Any]  # readers; the config layer looks at blocks before they are built

    def __post_init__(self) -> None:
        object.__setattr__(self, "corpora", dict(self.corpora))
        if not self.corpora:
            raise ValueError("corpora must name at least one corpus, got none")

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        for name, read in self.corpora.items():
            for doc in read(nlp):
                doc.user_data["document"] = f"{name}/{doc.user_data.get('document', '')}"
                yield doc
