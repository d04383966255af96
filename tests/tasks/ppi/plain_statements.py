"""What statement models see of a pair in plain loops, as the docstrings of blocks define it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence

from tests.tasks.ppi.plain_trees import SentenceTree, TreePair
from textrank.tasks.ppi.pairs import Name
from textrank.tasks.ppi.statement_features import suffix
from textrank.tasks.ppi.vocabulary import CUE_CLASSES

NEAR = 3
HIGH = 3
OPENINGS = ("to", "in", "we")
SHORT = 4
FEW = 4
FEW_ORDERED = 2
WINDOW = 6
SIDES = ("first", "second")


def cues(told: TreePair) -> list[Name]:
    stems, found = told.pair.context.stems, list[Name]()
    if told.tree.cues:
        place, kind = _places(told), _kind(told)
        for cue, names in told.tree.cues:
            where, side = _standing(told, cue, place), side_of(told, cue)
            for name in names:
                found += [("cue", name, *standing) for standing in where]
                found += [("cue side", name, side), ("cue", name)]
                if where[0][0] != "elsewhere":
                    found.append(("cue with", name, where[0][0], kind))
    if told.pair.context.texts[-1] == "?":
        found.append(("question mark",))
    opening = stems[0] if stems[0] in CUE_CLASSES or stems[0] in OPENINGS else "other"
    return [*found, ("opening", opening)]


def _kind(told: TreePair) -> str:
    """What happens, by the likeliest trigger, or by the top where there is none."""
    kinds = told.kinds(told.triggers[0] if told.triggers else told.top)
    return kinds[0] if kinds else "other"


def _places(told: TreePair) -> Mapping[int, str]:
    """What the words of the path are, and the likeliest trigger."""
    place = dict.fromkeys(told.path, "path")
    place.update(dict.fromkeys(place.keys() & told.pair.own, "name"))
    if told.triggers:
        place[told.triggers[0]] = "trigger"
    place[told.top] = "top"
    return place


def _standing(told: TreePair, cue: int, place: Mapping[int, str]) -> list[Name]:
    """How a cue stands to the path; the first is the most exact."""
    heads, relations = told.tree.heads, told.tree.relations
    head, relation = heads[cue], relations[cue]
    if cue in place:
        return [("on path", place[cue], relation)]
    if head in place:
        part = _part(told, head)
        at = place[head]
        return [("at", at, relation, part), ("at", at, relation), ("at", at)]
    up = told.tree.above(told.top)
    high = up[1 : 1 + HIGH]
    if cue in high or head in high:
        beside = () if cue in high else (relation,)
        steps = [relations[t] for t in up[: up.index(cue if cue in high else head)]]
        title = "beside above" if beside else "above"
        few = str(len(steps)), steps[-1]
        return [(title, *steps, *beside), (title, *few, *beside), (title, steps[0], *beside)]
    if heads[head] in place:
        at, over = place[heads[head]], relations[head]
        part = _part(told, heads[head])
        return [("below", at, over, relation), ("below", at, over), ("below", over, part)]
    return [("elsewhere", side_of(told, cue))]


def _part(told: TreePair, token: int) -> str:
    """Whether a word lies on the way up from the first name, from the second, or on both."""
    one, two = told.paths
    if token in one:
        return "both" if token in two else "first"
    return "second" if token in two else "neither"


def side_of(told: TreePair, token: int) -> str:
    """Where a word stands in the order of the sentence."""
    begin, end = told.pair.bounds
    if token < begin:
        return "just before" if begin - token <= NEAR else "before"
    if token > end:
        return "just after" if token - end <= NEAR else "after"
    return "just before second" if 0 < min(told.pair.second) - token <= 2 else "between"


def roles(told: TreePair) -> list[Name]:
    return [name for part in PARTS for name in part(told)]


def _top_of(told: TreePair) -> list[Name]:
    (one, two), voice = told.reached, told.voice
    tag = told.pair.tags[told.top][:1]
    found: list[Name] = [
        ("parts", voice, one, two),
        ("ends", _end(told, 0), _end(told, 1)),
    ]
    for name in _names(told, told.top):
        found += [
            ("top", name, tag),
            ("top", name, voice),
            ("top with both", name, voice, one, two),
            ("top with first", name, voice, one),
            ("top with second", name, voice, two),
        ]
    return found


def _skeletons(told: TreePair) -> list[Name]:
    """Classes from name to name, with and without the relations to the top."""
    top = told.classes(told.top)[:1] or ("other",)
    first, second = (
        [classes[0] for t in way[:-1] if (classes := told.classes(t))] for way in told.paths
    )
    second.reverse()
    ends = [reached.rpartition(" ")[-1] for reached in told.reached]
    return [
        ("skeleton", *first, "^", *top, "^", *second),
        ("parts in", told.voice, *first, ends[0], "^", *top, "^", ends[1], *second),
    ]


def _ways(told: TreePair) -> list[Name]:
    """Words between a name and the top."""
    voice, tops = told.voice, told.classes(told.top) or ("other",)
    own, relations = told.pair.own, told.tree.relations
    found: list[Name] = []
    for side, way in zip(SIDES, told.paths, strict=True):
        for token in way[:-1]:
            if token in own:
                continue
            for name in _names(told, token):
                found += [("way", side, name, relations[token]), ("way", side, name)]
                found += [("way to top", side, name, top, voice) for top in tops]
    return found


def _beside(told: TreePair) -> list[Name]:
    """Words of events that hang on the path."""
    path, tree = told.path, told.tree
    found: list[Name] = []
    for side, way in zip(SIDES, told.paths, strict=True):
        for token in way[:-1]:
            for child in tree.classed_children[token]:
                if child not in path:
                    relation = tree.relations[child]
                    found += [("beside", side, name, relation) for name in told.classes(child)]
    for child in tree.classed_children[told.top]:
        if child not in path and told.classes(child):
            relation = tree.relations[child]
            found += [("beside top", name, relation) for name in _names(told, child)]
    return found


def _triggers(told: TreePair) -> list[Name]:
    found: list[Name] = []
    for token in told.triggers[:1]:
        where = "path" if token in told.path else side_of(told, token)
        for name in _names(told, token):
            found += [("trigger", name, where), ("trigger", name)]
    for token in told.triggers[:FEW]:
        kinds = told.tree.kinds[token]
        where = "path" if token in told.inner else side_of(told, token)
        found += [("event", kind, where) for kind in kinds]
    return found


def _between(told: TreePair) -> list[Name]:
    tree, own = told.tree, told.pair.own
    begin, end = told.pair.bounds
    found: list[Name] = []
    if end - begin - 1 - len(own) <= SHORT:
        middle = [token for token in range(begin + 1, end) if token not in own]
        if len(middle) <= SHORT:
            word = told.pair.word
            found.append(("between", *((told.kinds(t) or (word(t),))[0] for t in middle)))
    for token in tree.classed[bisect_right(tree.classed, begin) : bisect_left(tree.classed, end)]:
        if token not in own:
            found += [("class between", name) for name in tree.classes[token]]
    return found


PARTS = (_top_of, _skeletons, _ways, _beside, _triggers, _between)


def _names(told: TreePair, token: int) -> tuple[str, ...]:
    """The classes of a word and the word itself, blinded where it is a name."""
    return (*told.classes(token), f"“{told.pair.word(token)}”")


def _end(told: TreePair, side: int) -> str:
    way = told.paths[side]
    return told.tree.relations[way[0]] if len(way) > 1 else "top"


def facts(pair: TreePair, side: int) -> set[Name]:
    """What is told of one name of a pair."""
    tree, name = pair.tree, pair.pair.second if side else pair.pair.first
    begin, end = min(name), max(name)
    found = {*_around(tree, begin, end), *_on_way(tree, pair.paths[side])}
    for event in pair.triggers[:FEW_ORDERED]:
        here = (begin < event, event == pair.top, event in pair.path)
        found.update(_ordered(tree, event, *here))
    return found


def _on_way(tree: SentenceTree, way: Sequence[int]) -> Iterator[Name]:
    """From a name up to the top."""
    top, relations = way[-1], tree.relations
    voice, ends = "passive" if top in tree.passive else "active", suffix(tree.context.texts[top])
    part, tops = tree.reached(way), _named(tree, top)
    yield "part", part
    yield "part", part, voice
    yield "part", part, voice, "ending", ends
    yield "part", part, voice, tops[0], ends
    for name in tops:
        yield "part", part, voice, name
    yield "end", relations[way[0]] if len(way) > 1 else "top"
    for token in way[1:-1]:
        for name in _named(tree, token):
            yield "way", name
            yield "way", name, relations[token]
            yield "way", name, "ending", suffix(tree.context.texts[token])
    yield from _governor(tree, way)
    yield from _beside_way(tree, way)


def _governor(tree: SentenceTree, way: Sequence[int]) -> Iterator[Name]:
    """The word that a name hangs on, below the top."""
    if len(way) > 2:
        relation, ends = tree.relations[way[0]], suffix(tree.context.texts[way[1]])
        yield "governor", ends, relation
        for name in _named(tree, way[1]):
            yield "governor", name, relation
            yield "governor", name, relation, ends


def _beside_way(tree: SentenceTree, way: Sequence[int]) -> Iterator[Name]:
    """Words of events that hang on the way."""
    for token in way[:-1]:
        for child in tree.children[token]:
            if child not in way:
                for name in tree.classes[child]:
                    yield "beside", name, tree.relations[child]
                    yield "beside", name, "ending", suffix(tree.context.texts[child])


def _around(tree: SentenceTree, begin: int, end: int) -> Iterator[Name]:
    """Words next to a name, and the nearest words of events."""
    words = [_word(tree, token) for token in range(begin - 3, begin)]
    after = [_word(tree, token) for token in range(end + 1, end + 4)]
    yield "previous", words[2]
    yield "previous", *words[1:]
    yield "next", after[0]
    yield "next", *after[:2]
    words = [_kind_of(tree, token) for token in range(begin - 3, begin)]
    after = [_kind_of(tree, token) for token in range(end + 1, end + 4)]
    for size in (1, 2, 3):
        yield "classes before", *words[3 - size :]
        yield "classes after", *after[:size]
    last = len(tree.heads)
    for where, tokens in (
        ("left", range(begin - 1, max(begin - 1 - WINDOW, -1), -1)),
        ("right", range(end + 1, min(end + 1 + WINDOW, last))),
    ):
        event = next((token for token in tokens if tree.kinds[token]), None)
        if event is not None:
            for name in _named(tree, event):
                yield "nearest", where, name
                yield "nearest", where, name, suffix(tree.context.texts[event])


def _ordered(tree: SentenceTree, event: int, first: bool, top: bool, inner: bool) -> Iterator[Name]:
    """Whether the name comes before a word of events."""
    order = "name first" if first else "name later"
    form = tree.context.tags[event]
    if top:
        form = "passive" if event in tree.passive else "active"
    for name in _named(tree, event):
        yield "order", name, order, form
    for kind in tree.kinds[event][:1]:
        where = "path" if inner else "elsewhere"
        yield "order", kind, order, suffix(tree.context.texts[event]), where


def _named(tree: SentenceTree, token: int) -> tuple[str, ...]:
    """The classes of a word and the word itself; all names are alike."""
    return (*tree.classes[token], f"“{tree.context.words[token]}”")


def _word(tree: SentenceTree, token: int) -> str:
    words = tree.context.words
    return "<" if token < 0 else ">" if token >= len(words) else words[token]


def _kind_of(tree: SentenceTree, token: int) -> str:
    """The first class of a word and how it ends, or the word."""
    own = tree.classes[token] if 0 <= token < len(tree.heads) else ()
    return f"{own[0]} {suffix(tree.context.texts[token])}" if own else _word(tree, token)
