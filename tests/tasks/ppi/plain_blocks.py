"""Reference for the blocks of pair features, in plain loops, pair by pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from tests.tasks.ppi.plain_pairs import PlainPair
from textrank.tasks.ppi.pairs import (
    FIRST_ENTITY,
    OTHER_ENTITY,
    SECOND_ENTITY,
    Bag,
    Name,
)
from textrank.tasks.ppi.vocabulary import EVENT_CLASSES, NEGATIONS, TRIGGERS, dependency_group

SHORT = 4


def top_of(pair: PlainPair) -> int:
    """Return the highest token of the path, where it turns from climbing to descending."""
    climbs = next((i for i, link in enumerate(pair.links) if link.down), len(pair.links))
    return pair.path[climbs]


def walks(pair: PlainPair) -> Bag:
    """Return the features of ``PathWalks``."""
    if not pair.path:
        return {("length", "none"): 1.0}
    words = [pair.words[token] for token in pair.path]
    tags = [pair.tags[token][:2] for token in pair.path]
    kinds = [link.mark for link in pair.links]
    counts: Counter[Name] = Counter([("length", str(len(kinds)))])
    counts.update(_along(words, tags, kinds))
    counts.update(_beside(pair))
    return {name: float(count) for name, count in counts.items()}


def _along(words: Sequence[str], tags: Sequence[str], kinds: Sequence[str]) -> Iterator[Name]:
    """Yield the walks along the path and the path as a whole."""
    for kind, sequence in (("words", words), ("tags", tags)):
        yield from _walked(f"walk of {kind}", _alternating(sequence, kinds), 3)
        yield (f"path of {kind}", *sequence)
    yield from _walked("walk of words", _alternating(words, kinds), 5)
    yield ("path of dependencies", *kinds)
    yield from (("word", word) for word in words[1:-1])
    yield from (("dependency", kind) for kind in kinds)


def _beside(pair: PlainPair) -> Iterator[Name]:
    """Yield the dependents of path tokens that are off the path."""
    on_path = set(pair.path)
    for token in pair.path:
        for link in pair.context.links[token]:
            if link.down and link.to not in on_path:
                yield "beside", pair.words[token], link.type, pair.words[link.to]
                yield "beside", link.type, pair.words[link.to]


def _walked(prefix: str, sequence: Sequence[str], size: int) -> Iterator[Name]:
    """Yield the n-grams of ``size`` items with a prefix."""
    for start in range(len(sequence) - size + 1):
        yield (prefix, *sequence[start : start + size])


def _alternating(words: Sequence[str], kinds: Sequence[str]) -> list[str]:
    """Return ``w0 d1 w1 ... wk``."""
    rest = zip(kinds, words[1:], strict=True)
    return [words[0], *(part for step in rest for part in step)]


def roles(pair: PlainPair) -> Bag:
    """Return the features of ``TriggerRoles``."""
    parts = (_triggers, _of_path, _of_middle, _around, _patterns, _lengths)
    return dict.fromkeys((name for part in parts for name in part(pair)), 1.0)


def events(pair: PlainPair) -> Bag:
    """Return the features of ``EventRoles``."""
    return dict.fromkeys(_events(pair), 1.0)


def _events(pair: PlainPair) -> Iterator[Name]:
    """Yield the features of ``EventRoles``; they may repeat."""
    names = (FIRST_ENTITY, SECOND_ENTITY, OTHER_ENTITY)
    classes = [w if w in names else EVENT_CLASSES.get(w, ("-",))[0] for w in pair.words]
    for side, tokens in pair.sides.items():
        for token in tokens:
            if classes[token] not in ("-", *names):
                yield "side", side, classes[token]
    if not pair.links:
        return
    along, kinds = [classes[token] for token in pair.path], [link.mark for link in pair.links]
    yield from (("path", name) for name in along[1:-1])
    yield "top", classes[top_of(pair)]
    yield "top between", classes[top_of(pair)], kinds[0], kinds[-1]
    yield from _walked("walk", _alternating(along, kinds), 3)


def _triggers(pair: PlainPair) -> Iterator[Name]:
    """Yield triggers by side, and those on the path."""
    for side, tokens in (*pair.sides.items(), ("path", pair.path)):
        for token in tokens:
            if pair.words[token] in TRIGGERS:
                yield "trigger", side, pair.words[token]
                yield "trigger", "anywhere", pair.words[token]


def _of_path(pair: PlainPair) -> Iterator[Name]:
    """Yield features of the path."""
    if not pair.links:
        return
    top = top_of(pair)
    ends = pair.links[0].mark, pair.links[-1].mark
    yield "top", pair.words[top], pair.tags[top][:2]
    yield ("top between", pair.words[top], *ends)
    yield ("ends of path", *ends)
    for token in pair.path[1:-1]:
        yield "path word", pair.words[token]
        if pair.tags[token].startswith("VB"):
            yield "path verb", pair.words[token]
    coarse = [f"{dependency_group(link.type)}{'>' if link.down else '<'}" for link in pair.links]
    yield ("coarse path", *(kind for kind, _ in groupby(coarse)))


def _of_middle(pair: PlainPair) -> Iterator[Name]:
    """Yield the words between the entities if there are few."""
    middle = pair.sides["middle"]
    if len(middle) <= SHORT:
        yield ("middle", *(pair.words[token] for token in middle))
        yield ("middle tags", *(pair.tags[token] for token in middle))


def _around(pair: PlainPair) -> Iterator[Name]:
    """Yield the words next to the pair."""
    before, after = pair.sides["before"], pair.sides["after"]
    yield "previous", pair.words[before[-1]] if before else "start"
    yield "next", pair.words[after[0]] if after else "end"


def _patterns(pair: PlainPair) -> Iterator[Name]:
    """Yield the order of entities, triggers and negations."""
    symbols = [_symbol(word) for word in pair.words]
    begin, end = min(pair.entity_tokens), max(pair.entity_tokens) + 1
    before, middle, after = (
        "".join(symbol for symbol, _ in groupby(filter(None, part)))
        for part in (symbols[:begin], symbols[begin:end], symbols[end:])
    )
    yield "pattern", middle
    yield "pattern around", f"{before[-1:]} {middle} {after[:1]}"


def _symbol(word: str) -> str:
    """Return the symbol of a word in patterns, "" without one."""
    if word in TRIGGERS:
        return "k"
    return (
        "n"
        if word in NEGATIONS
        else {FIRST_ENTITY: "1", SECOND_ENTITY: "2", OTHER_ENTITY: "X"}.get(word, "")
    )


def _lengths(pair: PlainPair) -> Iterator[Name]:
    """Yield binned lengths."""
    middle = pair.sides["middle"]
    triggers = sum(pair.words[token] in TRIGGERS for token in middle)
    yield "length of path", str(len(pair.links).bit_length()) if pair.path else "none"
    yield "length of middle", str(len(middle).bit_length())
    yield "triggers in middle", str(triggers.bit_length())


def words(pair: PlainPair) -> Bag:
    """Return the features of ``SideWords``."""
    sides = pair.sides.items()
    return Counter((side, pair.words[token]) for side, tokens in sides for token in tokens)


def neighbours(pair: PlainPair, width: int = 3) -> Bag:
    """Return the features of ``LocalContext``."""
    names: Iterator[Name] = (
        name
        for entity, tokens in ((FIRST_ENTITY, pair.first), (SECOND_ENTITY, pair.second))
        for offset, token in _offsets(tokens, len(pair), width)
        for kind, value in (("word", pair.words[token]), ("tag", pair.tags[token]))
        for name in ((entity, kind, str(offset), value), (entity, kind, value))
    )
    return Counter(names)


def _offsets(tokens: Sequence[int], length: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield (offset, token) next to an entity, inside the sentence."""
    for step in range(1, width + 1):
        if tokens[0] - step >= 0:
            yield -step, tokens[0] - step
        if tokens[-1] + step < length:
            yield step, tokens[-1] + step


def runs(pair: PlainPair, longest: int = 3, outer: int = 6, inner: int = 15) -> Bag:
    """Return the features of ``GlobalContext``."""
    before, middle, after = (
        _collapsed([pair.words[token] for token in tokens]) for tokens in pair.sides.values()
    )
    between = [FIRST_ENTITY, *middle[:inner], SECOND_ENTITY]
    windows = {
        "fore": before[len(before) - min(outer, len(before)) :] + between,
        "between": between,
        "after": between + after[:outer],
    }
    sizes = range(1, longest + 1)
    return Counter((name, *run) for name, words in windows.items() for run in ngrams(words, sizes))


def _collapsed(words: Sequence[str]) -> list[str]:
    """Return the words with each run of other entities reduced to one."""
    runs = ((word, list(run)) for word, run in groupby(words))
    return [w for word, run in runs for w in (run[:1] if word == OTHER_ENTITY else run)]


def ngrams(sequence: Sequence[str], sizes: Iterable[int]) -> Iterator[Name]:
    """Yield all n-grams of the given sizes."""
    for size in sizes:
        for start in range(len(sequence) - size + 1):
            yield tuple(sequence[start : start + size])
