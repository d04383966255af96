"""Words by which a text sounds of man or of the mouse, where it does not name them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from silver import Text, without_species
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from textrank.tasks.identifiers.names import HUMAN, MOUSE, extract_cue_words, find_species

READ = 2500  # characters of a text
OFTEN = 15  # texts that a word must be in
KEPT = 400  # words


def learned(texts: Iterable[Text]) -> dict[str, float]:
    """How much words speak for the mouse, in log-odds; under the empty word what all texts add.

    Learned from texts that name one of the two far more than anything else, without these words.
    """
    species = [(one.text[:READ], _species(one.text[:READ])) for one in texts]
    clear = [(text, taxon == MOUSE) for text, taxon in species if taxon]
    count = CountVectorizer(analyzer=_words, binary=True, min_df=OFTEN)
    X = count.fit_transform([text for text, _ in clear])
    y = np.array([mouse for _, mouse in clear])
    logistic = LogisticRegression(C=0.05, max_iter=500, class_weight="balanced").fit(X, y)
    kept = np.argsort(-np.abs(logistic.coef_[0]), kind="stable")[:KEPT]
    weights = logistic.coef_[0][kept]
    scores = X[:, kept] @ weights
    names = count.get_feature_names_out()[kept]
    middle = (scores[y].mean() + scores[~y].mean()) / 2
    return {"": -float(middle), **dict(zip(names.tolist(), weights.tolist(), strict=True))}


def _species(text: str) -> int:
    """The one of man and mouse that a text is about; 0 where that is not clear."""
    named = Counter(word.taxon for word in find_species(text) if word.weight == 1.0)
    (first, most), *others = [*named.most_common(), (0, 0)]
    clear = most >= max(2, 3 * sum(count for _, count in others))
    return first if clear and first in (HUMAN, MOUSE) else 0


def _words(text: str) -> list[str]:
    return sorted(word for word in extract_cue_words(without_species(text)) if "xxx" not in word)
