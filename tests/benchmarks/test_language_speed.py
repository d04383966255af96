"""Tokens per second of the shipped pipeline: all of it, tags and parse alone, two processes."""

from __future__ import annotations

import time
from itertools import islice

import pytest

from textrank.language import load_nlp
from textrank.language.prepare import bc2gm_sentences

pytestmark = [pytest.mark.benchmark, pytest.mark.corpus]


@pytest.fixture(scope="module")
def texts(data):
    """Texts of about 250 words, which is what an abstract has."""
    sentences = (" ".join(words) for words, _ in bc2gm_sentences(data, "train"))
    return [" ".join(islice(sentences, 9)) for _ in range(600)]


def seconds(nlp, texts, **options):
    """Wall and processor time of this process, and the number of tokens."""
    wall, own = time.perf_counter(), time.process_time()
    tokens = sum(len(doc) for doc in nlp.pipe(texts, **options))
    return time.perf_counter() - wall, time.process_time() - own, tokens


def test_speed_of_the_pipeline_in_parts_and_in_two_processes(texts, capsys):
    rows = []
    runs = {
        "all components": (None, {}),
        "tags and parse": (["tagger", "parser"], {}),
        "names": (["genes", "ner"], {}),
        "all, two processes": (None, {"n_process": 2, "batch_size": 40}),
    }
    for name, (only, options) in runs.items():
        nlp = load_nlp(only=only)
        list(nlp.pipe(texts[:20]))
        wall, own, tokens = min(seconds(nlp, texts, **options) for _ in range(3))
        rows.append((name, tokens / wall, "" if options else f"{tokens / own:10.0f}"))
    with capsys.disabled():
        print(f"\n{'':20} {'tokens/s':>10} {'per CPU s':>10}")
        for name, speed, own in rows:
            print(f"{name:20} {speed:10.0f} {own}")
    speed = {name: value for name, value, _ in rows}
    assert speed["tags and parse"] > speed["all components"]
