"""Train weights of words that indicate a human or a mouse text that names neither."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from silver import Text, without_species
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from textrank.tasks.identifiers.names import HUMAN, MOUSE, extract_cue_words, find_species

MAX_CHARACTERS = 2500  # of a text
MIN_TEXTS = 15  # in which a word must occur
N_CUE_WORDS = 400


def learn_cue_weights(texts: Iterable[Text]) -> dict[str, float]:
    """Return the log-odds of mouse against human for each cue word; "" has the intercept.

    A logistic regression on texts that mention one of the two species at least three times as often
    as all others, with the mentions masked. The intercept puts 0 halfway between the mean scores of
    human and mouse texts.
    """
    species = [
        (one.text[:MAX_CHARACTERS], _find_species(one.text[:MAX_CHARACTERS])) for one in texts
    ]
    clear_texts = [(text, taxon == MOUSE) for text, taxon in species if taxon]
    count = CountVectorizer(analyzer=_find_words, binary=True, min_df=MIN_TEXTS)
    X = count.fit_transform([text for text, _ in clear_texts])
    y = np.array([mouse for _, mouse in clear_texts])
    logistic = LogisticRegression(C=0.05, max_iter=500, class_weight="balanced").fit(X, y)
    strongest = np.argsort(-np.abs(logistic.coef_[0]), kind="stable")[:N_CUE_WORDS]
    weights = logistic.coef_[0][strongest]
    scores = X[:, strongest] @ weights
    names = count.get_feature_names_out()[strongest]
    middle = (scores[y].mean() + scores[~y].mean()) / 2
    return {"": -float(middle), **dict(zip(names.tolist(), weights.tolist(), strict=True))}


def _find_species(text: str) -> int:
    """Return HUMAN or MOUSE if a text is mainly about it, else 0."""
    counts = Counter(word.taxon for word in find_species(text) if word.weight == 1.0)
    (first, count), *others = [*counts.most_common(), (0, 0)]
    is_clear = count >= max(2, 3 * sum(n for _, n in others))
    return first if is_clear and first in (HUMAN, MOUSE) else 0


def _find_words(text: str) -> list[str]:
    """Return the cue words of a text without its species words, sorted."""
    return sorted(word for word in extract_cue_words(without_species(text)) if "xxx" not in word)
