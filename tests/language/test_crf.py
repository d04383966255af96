"""Conditional random fields against every sequence of tags written out."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from textrank.language import ner
from textrank.language.ner import compute_marginals, decode_tags, legal_transitions

LENGTHS = [3, 0, 1, 4, 2, 3]  # texts of one batch, an empty one among them


def draw(seed, labels):
    """Emissions, and transitions of which the illegal ones are forbidden."""
    rng = np.random.default_rng(seed)
    tags = 4 * labels + 1
    emissions = rng.normal(scale=3, size=(sum(LENGTHS), tags))
    transitions = rng.normal(size=(tags + 1, tags + 1))
    return emissions, np.where(legal_transitions(labels), transitions, -np.inf)


def sequences(emissions, transitions, allowed):
    """All tags of one text with what they score."""
    words, tags = emissions.shape
    for path in product(range(tags), repeat=words):
        if all(allowed[i, tag] for i, tag in enumerate(path)):
            score = sum(emissions[i, tag] for i, tag in enumerate(path))
            yield path, score + sum(transitions[pair] for pair in pairwise([tags, *path, tags]))


def written_out(emissions, transitions, allowed):
    """Logarithm of the total, chances of tags, expected pairs, best tags: by their definitions."""
    total, best = 0.0, []
    tags, pairs = np.zeros_like(emissions), np.zeros_like(transitions)
    ends = np.cumsum(LENGTHS)
    for start, end in zip(ends - LENGTHS, ends, strict=True):
        if start == end:
            continue
        own = list(sequences(emissions[start:end], transitions, allowed[start:end]))
        weight = sum(np.exp(score) for _, score in own)
        total += np.log(weight)
        best += max(own, key=lambda item: item[1])[0]
        for path, score in own:
            chance = np.exp(score) / weight
            tags[np.arange(start, end), path] += chance
            for pair in pairwise([emissions.shape[1], *path, emissions.shape[1]]):
                pairs[pair] += chance
    return total, tags, pairs, best


@pytest.mark.parametrize("labels", [1, 2])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("some", [False, True])
def test_chances_are_those_of_all_sequences_written_out(labels, seed, some):
    emissions, transitions = draw(seed, labels)
    allowed = np.ones(emissions.shape, dtype=bool)
    if some:
        allowed = np.random.default_rng(seed).random(emissions.shape) < 0.5
        allowed[:, 0] = True
    found = compute_marginals(emissions, transitions, LENGTHS, allowed)
    total, tags, pairs, _ = written_out(emissions, transitions, allowed)
    assert found.log_partition == pytest.approx(total)
    np.testing.assert_allclose(found.tag_marginals, tags, atol=1e-12)
    np.testing.assert_allclose(found.transition_counts, pairs, atol=1e-12)


@pytest.mark.parametrize("labels", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_the_best_tags_are_the_best_of_all_sequences(labels, seed):
    emissions, transitions = draw(seed, labels)
    everything = np.ones(emissions.shape, dtype=bool)
    *_, best = written_out(emissions, transitions, everything)
    assert decode_tags(emissions, transitions, LENGTHS).tolist() == best


@pytest.mark.parametrize("seed", range(20))
def test_a_text_that_is_cut_has_the_tags_of_the_whole(seed, monkeypatch):
    labels, lengths = 1 + seed % 3, [200, 0, 1, 150]
    rng = np.random.default_rng(seed)
    tags = 4 * labels + 1
    emissions = rng.normal(scale=2, size=(sum(lengths), tags))
    emissions[:, 0] += 6
    transitions = rng.normal(scale=0.2, size=(tags + 1, tags + 1))
    transitions = np.where(legal_transitions(labels), transitions, -np.inf)
    monkeypatch.setattr(ner, "_MIN_PIECE_WORDS", 2)
    cuts = ner._find_cuts(emissions, transitions, np.cumsum([200, 1, 150]))
    found = decode_tags(emissions, transitions, lengths)
    monkeypatch.setattr(ner, "_MAX_CUT_RATIO", 0)
    assert len(cuts) > 5
    assert found.tolist() == decode_tags(emissions, transitions, lengths).tolist()


@pytest.mark.parametrize("scale", [0.1, 0.5])
@pytest.mark.parametrize("seed", range(10))
def test_words_that_are_surely_in_no_name_are_in_none(seed, scale, monkeypatch):
    labels, lengths = 1 + seed % 3, [120, 1, 80]
    rng = np.random.default_rng(seed)
    tags = 4 * labels + 1
    emissions = rng.normal(size=(sum(lengths), tags))
    emissions[:, 0] += np.repeat(rng.choice([-2.0, 4.0], size=67), 3)  # names beside runs of none
    transitions = rng.normal(scale=scale, size=(tags + 1, tags + 1))
    transitions = np.where(legal_transitions(labels), transitions, -np.inf)
    sure = ner._is_surely_outside(emissions, transitions, np.cumsum(lengths))
    monkeypatch.setattr(ner, "_MAX_CUT_RATIO", 0)
    assert not decode_tags(emissions, transitions, lengths)[sure].any()
    assert sure.any() or scale > 0.1


def test_chances_are_the_gradient_of_the_total():
    emissions, transitions = draw(0, 1)
    found = compute_marginals(emissions, transitions, LENGTHS)
    for array, gradient in (
        (emissions, found.tag_marginals),
        (transitions, found.transition_counts),
    ):
        for place in np.ndindex(array.shape):
            if not np.isfinite(array[place]):
                assert gradient[place] == 0
                continue
            totals = []
            for change in (1e-5, -1e-5):
                array[place] += change
                totals.append(compute_marginals(emissions, transitions, LENGTHS).log_partition)
                array[place] -= change
            slope = (totals[0] - totals[1]) / 2e-5
            assert gradient[place] == pytest.approx(slope, abs=1e-6)


def test_no_name_begins_without_an_end():
    rng = np.random.default_rng(0)
    transitions = np.where(legal_transitions(2), 0.0, -np.inf)
    tags = decode_tags(rng.normal(size=(500, 9)), transitions, [300, 200])
    following = [*tags[1:300], 9, *tags[301:], 9]
    assert set(zip(tags.tolist(), following, strict=True)) <= set(
        map(tuple, np.argwhere(legal_transitions(2)).tolist())
    )
    assert len(set(tags.tolist())) == 9


def test_scores_far_apart_and_impossible_answers_stay_finite():
    emissions, transitions = draw(1, 2)
    far = compute_marginals(emissions * 1e4, transitions, LENGTHS)
    assert np.isfinite(far.log_partition)
    np.testing.assert_allclose(far.tag_marginals.sum(axis=1), 1)
    inside = np.zeros(emissions.shape, dtype=bool)
    inside[:, 2] = True  # inside a name that never began
    found = compute_marginals(emissions, transitions, LENGTHS, inside)
    assert np.isfinite(found.log_partition)
    np.testing.assert_allclose(found.tag_marginals.sum(axis=1), 1)


def test_texts_without_words_are_no_trouble():
    _, transitions = draw(0, 1)
    found = compute_marginals(np.zeros((0, 5)), transitions, [0, 0])
    assert (found.log_partition, found.tag_marginals.shape) == (0, (0, 5))
    assert len(decode_tags(np.zeros((0, 5)), transitions, [0])) == 0
