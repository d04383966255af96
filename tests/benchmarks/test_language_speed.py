"""Tokens per second of the shipped pipeline: all of it, tags and parse alone, two processes."""

from __future__ import annotations

import resource
import time
from itertools import cycle, islice

import pytest
from workshop.prepare import read_bc2gm_sentences

from textrank.language import load_nlp

pytestmark = [pytest.mark.benchmark, pytest.mark.corpus]

TEXTS = 600  # for one process
MANY = 3000  # for two: large enough that starting them does not count


@pytest.fixture(scope="module")
def texts(data):
    """Texts of about 250 words, which is what an abstract has; half of them come twice."""
    sentences = [" ".join(words) for words, _ in read_bc2gm_sentences(data, "train")]
    groups = [" ".join(sentences[i : i + 9]) for i in range(0, len(sentences), 9)]
    return list(islice(cycle(groups), MANY))


def seconds(nlp, texts, **options):
    """Wall time, processor time of this process and of its children, and the number of tokens."""
    wall, own, others = time.perf_counter(), time.process_time(), _children()
    tokens = sum(len(doc) for doc in nlp.pipe(texts, **options))
    return time.perf_counter() - wall, time.process_time() - own, _children() - others, tokens


def _children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_speed_of_the_pipeline_in_parts(texts, capsys):
    rows = []
    runs = {
        "all components": None,
        "tags and parse": ["tagger", "parser"],
        "names": ["genes", "ner"],
    }
    for name, only in runs.items():
        nlp = load_nlp(only=only)
        list(nlp.pipe(texts[:20]))
        wall, own, _, tokens = min(seconds(nlp, texts[:TEXTS]) for _ in range(3))
        rows.append((name, tokens / wall, tokens / own))
    with capsys.disabled():
        print(f"\n{'':20} {'tokens/s':>10} {'per CPU s':>10}")
        for name, speed, own in rows:
            print(f"{name:20} {speed:10.0f} {own:10.0f}")
    speed = {name: value for name, _, value in rows}
    assert speed["tags and parse"] > speed["all components"]
    assert speed["names"] > speed["all components"]


def test_speed_of_two_processes(texts, capsys):
    """The ratio of wall times needs two idle cores; the one of processor times does not.

    The latter is what is to be had when both cores are always at work: two processes do what one
    does and carry Docs between them.
    """
    nlp = load_nlp()
    list(nlp.pipe(texts[:20]))
    one_wall, one, _, tokens = seconds(nlp, texts)
    two_wall, parent, workers, _ = seconds(nlp, texts, n_process=2, batch_size=32)
    with capsys.disabled():
        micro = 1e6 / tokens
        print(f"\n{tokens} tokens: {one_wall:.1f} s with one process, {two_wall:.1f} s with two")
        print(f"ratio of wall times {one_wall / two_wall:.2f}")
        print(
            f"µs of processor a token: one process {one * micro:.1f}; two: workers "
            f"{workers * micro:.1f}, parent {parent * micro:.1f}"
        )
        print(f"ratio to be had {2 * one / (workers + parent):.2f}")
    assert parent < one / 2
