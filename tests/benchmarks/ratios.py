"""Speeds as ratios measured in one run: one BLAS thread, CPU time, interleaved repeats."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping

import numpy as np
from threadpoolctl import threadpool_limits


def measure(candidates: Mapping[str, Callable[[], object]], repeats: int = 5) -> dict[str, list]:
    """Return the CPU seconds of each candidate, by repeat; their order is rotated."""
    names = list(candidates)
    seconds: dict[str, list] = {name: [] for name in names}
    with threadpool_limits(1):
        for repeat in range(repeats):
            for name in names[repeat % len(names) :] + names[: repeat % len(names)]:
                gc.collect()
                start = time.process_time()
                candidates[name]()
                seconds[name].append(time.process_time() - start)
    return seconds


def table(title: str, seconds: dict[str, list], unit: str, bars: Mapping[str, float]) -> None:
    """Print the median ratio of each candidate to the unit; fail if one exceeds its limit."""
    print(f"\n{title}   (unit: {unit}, {np.median(seconds[unit]):.2f} s)")
    print(f"{'':44s} {'ratio':>7s} {'min .. max':>16s} {'bar':>6s}")
    over = []
    for name, times in seconds.items():
        ratios = np.array(times) / np.array(seconds[unit])
        median, bar = float(np.median(ratios)), bars.get(name)
        shown = "" if bar is None else f"{bar:6.2f}"
        print(f"{name:44s} {median:7.2f} {ratios.min():7.2f} .. {ratios.max():5.2f} {shown:>6s}")
        if bar is not None and median > bar:
            over.append(f"{name}: {median:.2f} > {bar:.2f}")
    assert not over, "; ".join(over)


def gaussian(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return a Gaussian Gram matrix of 50 random features, and normal labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 50))
    square = (X * X).sum(axis=1)
    K = np.exp(-(square[:, None] + square - 2 * X @ X.T).clip(min=0) / 100)
    y = np.tanh(X @ rng.standard_normal(50)) + 0.3 * rng.standard_normal(n)
    return (K + K.T) / 2, y


def labels(n: int, average: int, seed: int = 0) -> np.ndarray:
    """Return the group of each of n shuffled rows; groups have 1 to 2 average - 1 rows."""
    rng = np.random.default_rng(seed)
    found, group = np.empty(n, dtype=np.intp), 0
    rows, at = rng.permutation(n), 0
    while at < n:
        size = int(rng.integers(1, 2 * average))
        found[rows[at : at + size]] = group
        at, group = at + size, group + 1
    return found
