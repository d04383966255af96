"""Reference for the feature blocks of statement models, in plain loops."""

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


def cues(tree_pair: TreePair) -> list[Name]:
    """Return the features of ``StatementCues``."""
    stems, features = tree_pair.pair.context.stems, list[Name]()
    if tree_pair.tree.cues:
        place, kind = _label_tokens(tree_pair), _event_kind(tree_pair)
        for cue, names in tree_pair.tree.cues:
            where, side = _relate_cue(tree_pair, cue, place), side_of(tree_pair, cue)
            for name in names:
                features += [("cue", name, *standing) for standing in where]
                features += [("cue side", name, side), ("cue", name)]
                if where[0][0] != "elsewhere":
                    features.append(("cue with", name, where[0][0], kind))
    if tree_pair.pair.context.texts[-1] == "?":
        features.append(("question mark",))
    opening = stems[0] if stems[0] in CUE_CLASSES or stems[0] in OPENINGS else "other"
    return [*features, ("opening", opening)]


def _event_kind(tree_pair: TreePair) -> str:
    """Return the event type of the likeliest trigger, of the top if there is none."""
    kinds = tree_pair.kinds(tree_pair.triggers[0] if tree_pair.triggers else tree_pair.top)
    return kinds[0] if kinds else "other"


def _label_tokens(tree_pair: TreePair) -> Mapping[int, str]:
    """Return "path", "name", "trigger" or "top" by token, for the path and likeliest trigger."""
    place = dict.fromkeys(tree_pair.path, "path")
    place.update(dict.fromkeys(place.keys() & tree_pair.pair.entity_tokens, "name"))
    if tree_pair.triggers:
        place[tree_pair.triggers[0]] = "trigger"
    place[tree_pair.top] = "top"
    return place


def _relate_cue(tree_pair: TreePair, cue: int, place: Mapping[int, str]) -> list[Name]:
    """Return descriptions of where a cue is relative to the path, most exact first."""
    heads, relations = tree_pair.tree.heads, tree_pair.tree.relations
    head, relation = heads[cue], relations[cue]
    if cue in place:
        return [("on path", place[cue], relation)]
    if head in place:
        part = _find_branch(tree_pair, head)
        at = place[head]
        return [("at", at, relation, part), ("at", at, relation), ("at", at)]
    up = tree_pair.tree.above(tree_pair.top)
    high = up[1 : 1 + HIGH]
    if cue in high or head in high:
        beside = () if cue in high else (relation,)
        steps = [relations[t] for t in up[: up.index(cue if cue in high else head)]]
        title = "beside above" if beside else "above"
        few = str(len(steps)), steps[-1]
        return [(title, *steps, *beside), (title, *few, *beside), (title, steps[0], *beside)]
    if heads[head] in place:
        at, over = place[heads[head]], relations[head]
        part = _find_branch(tree_pair, heads[head])
        return [("below", at, over, relation), ("below", at, over), ("below", over, part)]
    return [("elsewhere", side_of(tree_pair, cue))]


def _find_branch(tree_pair: TreePair, token: int) -> str:
    """Return on which branch below the top a token lies: first, second, both or neither."""
    one, two = tree_pair.paths
    if token in one:
        return "both" if token in two else "first"
    return "second" if token in two else "neither"


def side_of(tree_pair: TreePair, token: int) -> str:
    """Return where a token stands relative to the pair in the order of the text."""
    begin, end = tree_pair.pair.bounds
    if token < begin:
        return "just before" if begin - token <= NEAR else "before"
    if token > end:
        return "just after" if token - end <= NEAR else "after"
    return "just before second" if 0 < min(tree_pair.pair.second) - token <= 2 else "between"


def roles(tree_pair: TreePair) -> list[Name]:
    """Return the features of ``StatementRoles``."""
    return [name for part in PARTS for name in part(tree_pair)]


def _top_features(tree_pair: TreePair) -> list[Name]:
    """Return features of the top of the path."""
    (one, two), voice = tree_pair.reached, tree_pair.voice
    tag = tree_pair.pair.tags[tree_pair.top][:1]
    features: list[Name] = [
        ("parts", voice, one, two),
        ("ends", _end_relation(tree_pair, 0), _end_relation(tree_pair, 1)),
    ]
    for name in _blinded_names(tree_pair, tree_pair.top):
        features += [
            ("top", name, tag),
            ("top", name, voice),
            ("top with both", name, voice, one, two),
            ("top with first", name, voice, one),
            ("top with second", name, voice, two),
        ]
    return features


def _class_sequences(tree_pair: TreePair) -> list[Name]:
    """Return the classes along the path, with and without the relations to the top."""
    top = tree_pair.classes(tree_pair.top)[:1] or ("other",)
    first, second = (
        [classes[0] for t in branch[:-1] if (classes := tree_pair.classes(t))]
        for branch in tree_pair.paths
    )
    second.reverse()
    ends = [reached.rpartition(" ")[-1] for reached in tree_pair.reached]
    return [
        ("skeleton", *first, "^", *top, "^", *second),
        ("parts in", tree_pair.voice, *first, ends[0], "^", *top, "^", ends[1], *second),
    ]


def _features_on_branches(tree_pair: TreePair) -> list[Name]:
    """Return features of the tokens between each entity and the top."""
    voice, tops = tree_pair.voice, tree_pair.classes(tree_pair.top) or ("other",)
    entity_tokens, relations = tree_pair.pair.entity_tokens, tree_pair.tree.relations
    features: list[Name] = []
    for side, branch in zip(SIDES, tree_pair.paths, strict=True):
        for token in branch[:-1]:
            if token in entity_tokens:
                continue
            for name in _blinded_names(tree_pair, token):
                features += [("way", side, name, relations[token]), ("way", side, name)]
                features += [("way to top", side, name, top, voice) for top in tops]
    return features


def _features_beside_path(tree_pair: TreePair) -> list[Name]:
    """Return features of event words that depend on the path."""
    path, tree = tree_pair.path, tree_pair.tree
    features: list[Name] = []
    for side, branch in zip(SIDES, tree_pair.paths, strict=True):
        for token in branch[:-1]:
            for child in tree.classed_children[token]:
                if child not in path:
                    relation = tree.relations[child]
                    features += [
                        ("beside", side, name, relation) for name in tree_pair.classes(child)
                    ]
    for child in tree.classed_children[tree_pair.top]:
        if child not in path and tree_pair.classes(child):
            relation = tree.relations[child]
            features += [
                ("beside top", name, relation) for name in _blinded_names(tree_pair, child)
            ]
    return features


def _trigger_features(tree_pair: TreePair) -> list[Name]:
    """Return features of the likeliest triggers."""
    features: list[Name] = []
    for token in tree_pair.triggers[:1]:
        where = "path" if token in tree_pair.path else side_of(tree_pair, token)
        for name in _blinded_names(tree_pair, token):
            features += [("trigger", name, where), ("trigger", name)]
    for token in tree_pair.triggers[:FEW]:
        kinds = tree_pair.tree.kinds[token]
        where = "path" if token in tree_pair.inner else side_of(tree_pair, token)
        features += [("event", kind, where) for kind in kinds]
    return features


def _features_between(tree_pair: TreePair) -> list[Name]:
    """Return features of the words between the entities."""
    tree, entity_tokens = tree_pair.tree, tree_pair.pair.entity_tokens
    begin, end = tree_pair.pair.bounds
    features: list[Name] = []
    if end - begin - 1 - len(entity_tokens) <= SHORT:
        middle = [token for token in range(begin + 1, end) if token not in entity_tokens]
        if len(middle) <= SHORT:
            word = tree_pair.pair.word
            features.append(("between", *((tree_pair.kinds(t) or (word(t),))[0] for t in middle)))
    for token in tree.classed[bisect_right(tree.classed, begin) : bisect_left(tree.classed, end)]:
        if token not in entity_tokens:
            features += [("class between", name) for name in tree.classes[token]]
    return features


PARTS = (
    _top_features,
    _class_sequences,
    _features_on_branches,
    _features_beside_path,
    _trigger_features,
    _features_between,
)


def _blinded_names(tree_pair: TreePair, token: int) -> tuple[str, ...]:
    """Return the classes of a word and the word; entities are placeholders."""
    return (*tree_pair.classes(token), f"“{tree_pair.pair.word(token)}”")


def _end_relation(tree_pair: TreePair, side: int) -> str:
    """Return the relation of an entity to its head, "top" if the entity is the top."""
    branch = tree_pair.paths[side]
    return tree_pair.tree.relations[branch[0]] if len(branch) > 1 else "top"


def facts(pair: TreePair, side: int) -> set[Name]:
    """Return the features of ``EntityFactExtractor`` for entity 0 or 1 of a pair."""
    tree, name = pair.tree, pair.pair.second if side else pair.pair.first
    begin, end = min(name), max(name)
    features = {
        *_neighbour_features(tree, begin, end),
        *_features_on_branch(tree, pair.paths[side]),
    }
    for event in pair.triggers[:FEW_ORDERED]:
        here = (begin < event, event == pair.top, event in pair.path)
        features.update(_order_features(tree, event, *here))
    return features


def _features_on_branch(tree: SentenceTree, branch: Sequence[int]) -> Iterator[Name]:
    """Yield features of the branch from an entity up to the top."""
    top, relations = branch[-1], tree.relations
    voice, ends = "passive" if top in tree.passive else "active", suffix(tree.context.texts[top])
    part, tops = tree.reached(branch), _plain_names(tree, top)
    yield "part", part
    yield "part", part, voice
    yield "part", part, voice, "ending", ends
    yield "part", part, voice, tops[0], ends
    for name in tops:
        yield "part", part, voice, name
    yield "end", relations[branch[0]] if len(branch) > 1 else "top"
    for token in branch[1:-1]:
        for name in _plain_names(tree, token):
            yield "way", name
            yield "way", name, relations[token]
            yield "way", name, "ending", suffix(tree.context.texts[token])
    yield from _governor_features(tree, branch)
    yield from _features_beside_branch(tree, branch)


def _governor_features(tree: SentenceTree, branch: Sequence[int]) -> Iterator[Name]:
    """Yield features of the head of an entity, if it is below the top."""
    if len(branch) > 2:
        relation, ends = tree.relations[branch[0]], suffix(tree.context.texts[branch[1]])
        yield "governor", ends, relation
        for name in _plain_names(tree, branch[1]):
            yield "governor", name, relation
            yield "governor", name, relation, ends


def _features_beside_branch(tree: SentenceTree, branch: Sequence[int]) -> Iterator[Name]:
    """Yield features of event words that depend on the branch."""
    for token in branch[:-1]:
        for child in tree.children[token]:
            if child not in branch:
                for name in tree.classes[child]:
                    yield "beside", name, tree.relations[child]
                    yield "beside", name, "ending", suffix(tree.context.texts[child])


def _neighbour_features(tree: SentenceTree, begin: int, end: int) -> Iterator[Name]:
    """Yield features of the words next to an entity, and of the nearest event words."""
    words = [_word_at(tree, token) for token in range(begin - 3, begin)]
    after = [_word_at(tree, token) for token in range(end + 1, end + 4)]
    yield "previous", words[2]
    yield "previous", *words[1:]
    yield "next", after[0]
    yield "next", *after[:2]
    words = [_class_at(tree, token) for token in range(begin - 3, begin)]
    after = [_class_at(tree, token) for token in range(end + 1, end + 4)]
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
            for name in _plain_names(tree, event):
                yield "nearest", where, name
                yield "nearest", where, name, suffix(tree.context.texts[event])


def _order_features(
    tree: SentenceTree, event: int, first: bool, top: bool, inner: bool
) -> Iterator[Name]:
    """Yield whether the entity precedes an event word, with the form of that word."""
    order = "name first" if first else "name later"
    form = tree.context.tags[event]
    if top:
        form = "passive" if event in tree.passive else "active"
    for name in _plain_names(tree, event):
        yield "order", name, order, form
    for kind in tree.kinds[event][:1]:
        where = "path" if inner else "elsewhere"
        yield "order", kind, order, suffix(tree.context.texts[event]), where


def _plain_names(tree: SentenceTree, token: int) -> tuple[str, ...]:
    """Return the classes of a word and the word; all entities have one placeholder."""
    return (*tree.classes[token], f"“{tree.context.words[token]}”")


def _word_at(tree: SentenceTree, token: int) -> str:
    """Return the word at a position, "<" before and ">" after the sentence."""
    words = tree.context.words
    return "<" if token < 0 else ">" if token >= len(words) else words[token]


def _class_at(tree: SentenceTree, token: int) -> str:
    """Return the first class of a word with its suffix, or else the word."""
    classes = tree.classes[token] if 0 <= token < len(tree.heads) else ()
    return f"{classes[0]} {suffix(tree.context.texts[token])}" if classes else _word_at(tree, token)
