"""Generate several dependency parses of a sentence.

- ``PerturbedParser``: a spaCy parser and copies of it with noise on their parameters.
- ``LinkGrammar``: the linkages of the program link-parser, converted to trees.
- ``find_spanning_tree``: the tree with the most votes (Chu-Liu/Edmonds).

Parsers are callables from sentences (spans) to a list of ``Parse`` objects per sentence.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from spacy.attrs import DEP, HEAD, TAG
from spacy.language import Language
from spacy.strings import StringStore
from spacy.tokens import Doc, Span

from textrank.language.load import SHIPPED_PIPELINE, load_nlp, model_path
from textrank.language.normalization import arcs_to_tokens
from textrank.language.syntax import ArcArrays as Arcs
from textrank.language.syntax import WordParser, upper_layer_params

BACKWARD_PARSER = "en_textrank_mirror"  # shipped parser that reads sentences backwards
BATCH_SENTENCES = 256
BIAS_NOISE_FACTOR = 2.5  # of the hidden layer's bias, which has small values
NoiseLayers: TypeAlias = Literal["all", "last"]
NetworkParams: TypeAlias = Mapping[tuple[int, str], Any]  # (node id, name) -> array


@dataclass(frozen=True)
class Parse:
    """A dependency tree of a sentence; heads are word indices in it, a root is its own head.

    ``heads``, ``labels`` and ``tags`` have one item per word. A parse of Link Grammar also has
    ``links``, all links of its linkage, of which the tree is a part; its ``votes`` are the number
    of linkages that have the same tree and links.
    """

    heads: tuple[int, ...]
    labels: tuple[str, ...]
    tags: tuple[str, ...]
    votes: int  # number of parser copies that found it
    is_first_choice: bool  # whether the parser without noise found it
    links: tuple[Link, ...] = ()  # all links of a linkage, left word first, sorted; none for a tree

    def reverse(self) -> Parse:
        """Return the same tree over the words in reverse order, with the same votes.

        Only for trees: ``links`` are not reversed.
        """
        last = len(self.heads) - 1
        heads = tuple(last - head for head in self.heads[::-1])
        return replace(self, heads=heads, labels=self.labels[::-1], tags=self.tags[::-1])


@dataclass(frozen=True)
class PerturbedParser:
    """Distinct parses of a spaCy parser and of copies with noise on their parameters.

    A beam search over a parser that was trained greedily is worse than its greedy parse. Copies
    with Gaussian noise on each parameter array, ``sigma`` times the array's standard deviation,
    make different errors and are nearly as good. The network below the parser runs once for all
    copies; with noise on the last layers only, so does the table of word contributions, and a copy
    costs about a third. Words and sentence boundaries are kept as given; tags are those of the
    pipeline.

    Parameters
    ----------
    name
        spaCy pipeline with a component ``parser``, by name or path; empty for the shipped one.
    sigma, copies, seed
        Size of the noise, number of perturbed copies, and seed of the random generator.
    layers
        Parameters that get noise: ``"all"`` of the parser, or the ``"last"``, that is, the scoring
        layers and, ``BIAS_NOISE_FACTOR`` times as much, the bias of the hidden layer.
    backwards
        Whether the parser reads sentences from the last word to the first.
    """

    name: str = ""
    sigma: float = 0.2
    copies: int = 24
    seed: int = 0
    layers: NoiseLayers = "all"
    backwards: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError if a setting is not valid.

        ``sigma`` must be finite and at least 0, ``copies`` and ``seed`` at least 0, ``layers``
        "all" or "last". The pipeline ``name`` is only checked when sentences are parsed.
        """
        if not 0 <= self.sigma < math.inf:
            raise ValueError(f"sigma must be finite and not below 0, got {self.sigma}")
        if self.copies < 0 or self.seed < 0:
            raise ValueError(
                f"copies and seed must not be below 0, got {self.copies} and {self.seed}"
            )
        if self.layers not in get_args(NoiseLayers):
            raise ValueError(
                f"layers must be one of {', '.join(get_args(NoiseLayers))}, got {self.layers!r}"
            )

    def __call__(self, sentences: Sequence[Span]) -> list[list[Parse]]:
        """Return the distinct parses of each sentence: the unperturbed one first, then by votes.

        One list per sentence, in order, never empty; of equal votes the parse that was found first
        comes first. Parses are equal with the same heads and labels; ``votes`` of one are the
        copies that found it, the unperturbed parser included, so that they add up to ``copies +
        1``. Every parse has one root; words are in text order, also if the parser reads backwards.
        The sentences' Docs are not changed. Raises ValueError if the pipeline has no parser, or is
        an ``UntrustedName`` that is not shipped.
        """
        _check_trust(self.name)
        name = str(self.name)  # caches keep an UntrustedName apart from the same plain string
        nlp = _load_pipeline(name)
        docs = [_copy_sentence(sentence, nlp, self.backwards) for sentence in sentences]
        upstream = nlp.pipe_names[: nlp.pipe_names.index("parser")]
        with nlp.select_pipes(enable=upstream):
            docs = list(nlp.pipe(docs, batch_size=BATCH_SENTENCES))
        strings = nlp.vocab.strings
        tags = [tuple(strings[tag] for tag in doc.to_array(TAG).tolist()) for doc in docs]
        param_sets = _draw_params(name, self.sigma, self.copies, self.seed, self.layers)
        unperturbed, *perturbed = _parse_with_params(nlp, docs, [{}, *param_sets])
        parses_by_sentence = []
        for i, first in enumerate(unperturbed):
            votes = Counter([first, *(trees[i] for trees in perturbed)])
            by_votes = sorted(votes.items(), key=lambda item: (item[0] != first, -item[1]))
            parses = [
                Parse(*tree, tags[i], count, is_first_choice=tree == first)
                for tree, count in by_votes
            ]
            parses_by_sentence.append(
                [parse.reverse() for parse in parses] if self.backwards else parses
            )
        return parses_by_sentence


LabelledHeads: TypeAlias = tuple[tuple[int, ...], tuple[str, ...]]


def _parse_with_params(
    nlp: Language, docs: Sequence[Doc], param_sets: Sequence[NetworkParams]
) -> list[list[LabelledHeads]]:
    """Return the tree of each Doc for each parameter set: one list per set, one tree per Doc.

    A parameter set replaces the parser's arrays that it names; {} leaves the parser as it is. Each
    distinct prediction for a Doc is converted to a tree only once, since copies mostly agree.
    """
    parser: Any = nlp.get_pipe("parser")
    states = [
        [(n, _arc_key(s), s) for n, s in enumerate(member)]
        for member in _predict_states(parser, docs, param_sets)
    ]
    distinct = {(n, arcs): state for member in states for n, arcs, state in member}
    parses = _iter_arcs(parser, [docs[n] for n, _ in distinct], list(distinct.values()))
    string_cache = _StringCache(nlp.vocab.strings)
    trees = {
        key: _to_labelled_heads(*parse, string_cache)
        for key, parse in zip(distinct, parses, strict=True)
    }
    return [[trees[n, arcs] for n, arcs, _ in member] for member in states]


def _predict_states(
    parser: Any, docs: Sequence[Doc], param_sets: Sequence[NetworkParams]
) -> Iterator[Any]:
    """Yield what the parser predicts for all Docs, once per parameter set, in order.

    Each item is the result of ``parser.predict``, one state per Doc. The Docs are not changed.
    The parser's own parameters are restored only when the iterator goes on or is closed: do not
    use the parser between two items.
    """
    if isinstance(parser, WordParser):
        yield from parser.predict_ensemble(docs, param_sets)
        return
    for params in param_sets:
        with parser.model.use_params(params):
            yield parser.predict(docs)


def _iter_arcs(
    parser: Any, docs: Sequence[Doc], states: Sequence[Any]
) -> Iterator[tuple[Any, Any]]:
    """Yield relative heads and label hashes of the tokens of each Doc, given its prediction.

    ``states`` has one prediction per Doc. Both arrays have shape (tokens,); a relative head is the
    index of the head minus that of the token. The Docs are not changed: predictions of spaCy's own
    parser are written to a copy to read them.
    """
    if isinstance(parser, WordParser) and all(isinstance(state, Arcs) for state in states):
        parses = parser.deprojectivize(docs, states)
        yield from (arcs_to_tokens(doc, *arcs) for doc, arcs in zip(docs, parses, strict=True))
        return
    for doc, state in zip(docs, states, strict=True):
        copy = doc.copy()
        parser.set_annotations([copy], [state])
        table: Any = copy.to_array([HEAD, DEP])
        yield table[:, 0], table[:, 1]


def _arc_key(state: Any) -> Hashable:
    """Return a hashable key of a prediction of the parser for one Doc, equal for equal arcs.

    Keys of different Docs must not be compared.
    """
    if isinstance(state, Arcs):
        return state.heads.tobytes(), state.labels.tobytes()
    return frozenset((arc["child"], arc["head"], arc["label"]) for arc in state.arcs)


def _to_labelled_heads(
    relative_heads: Any, label_hashes: Any, strings: Mapping[int, str]
) -> LabelledHeads:
    """Convert relative heads and label hashes to (heads, labels) of a tree with a single root.

    Both arrays are (tokens,). Heads in the result are token indices. The first root is its own head
    and keeps its label; further roots are attached to it with the label "dep". ``strings`` maps
    hashes to strings.
    """
    heads = (relative_heads.astype(np.int64) + np.arange(len(relative_heads))).tolist()
    labels = [strings[label] for label in label_hashes.tolist()]
    roots = [i for i, head in enumerate(heads) if head == i]
    for extra in roots[1:]:
        heads[extra], labels[extra] = roots[0], "dep"
    return tuple(heads), tuple(labels)


class _StringCache(dict[int, str]):
    """Dictionary from hash to string that looks up each string once, in a string store.

    A hash that the store does not have raises KeyError.
    """

    def __init__(self, store: StringStore) -> None:
        """Take the string store of a vocabulary."""
        super().__init__()
        self._store = store

    def __missing__(self, key: int) -> str:
        """Look up a string by its hash and keep it; raise KeyError if the store lacks it."""
        string = self[key] = str(self._store[key])
        return string


def _copy_sentence(sentence: Span, nlp: Language, backwards: bool) -> Doc:
    """Return a sentence as a new Doc, with its words in reverse order if ``backwards``.

    The Doc has the vocabulary of ``nlp`` and a single sentence. Only words and, unless
    ``backwards``, the spaces between them are copied; there are no other annotations.
    """
    words = [token.text for token in sentence]
    starts: Any = [i == 0 for i in range(len(sentence))]
    if backwards:
        return Doc(nlp.vocab, words=words[::-1], sent_starts=starts)
    spaces = [bool(token.whitespace_) for token in sentence]
    return Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=starts)


class UntrustedName(str):
    """Name of a spaCy pipeline that comes from a model file and not from the user.

    ``PerturbedParser`` refuses to load one that is not shipped. It equals the plain string with the
    same text; ``str(name)`` drops the mark.
    """

    __slots__ = ()


def _check_trust(name: str) -> None:
    """Raise ValueError for an ``UntrustedName`` that is not shipped: loading it could run code.

    A plain string always passes, and so does the empty name, which is the shipped pipeline.
    """
    if isinstance(name, UntrustedName) and name not in ("", SHIPPED_PIPELINE, BACKWARD_PARSER):
        raise ValueError(
            f"the model names the spaCy pipeline {name[:80]!r}, which is not shipped with textrank "
            "and could run code. If you trust it, name it yourself: --nlp PIPELINE."
        )


@lru_cache(maxsize=4)
def _load_pipeline(name: str) -> Language:
    """Load a pipeline with a parser, by name or path; "" is the shipped pipeline.

    BACKWARD_PARSER is also shipped and found by its name. The last four pipelines are cached, since
    loading takes a second or two. Raises ValueError if the pipeline has no parser.
    """
    nlp = load_nlp(model_path(BACKWARD_PARSER) if name == BACKWARD_PARSER else name or None)
    if "parser" not in nlp.pipe_names:
        raise ValueError(
            f"the spaCy pipeline {name!r} has no component 'parser'; available: "
            f"{', '.join(nlp.pipe_names) or 'none'}. Use a pipeline with a parser."
        )
    return nlp


@lru_cache(maxsize=4)
def _draw_params(
    name: str, sigma: float, n_copies: int, seed: int, layers: NoiseLayers
) -> tuple[NetworkParams, ...]:
    """Draw the noisy parameter sets for the perturbed copies of a pipeline's parser.

    Returns ``n_copies`` mappings from (node id, parameter name) to an array: the parser's own plus
    Gaussian noise of ``sigma`` times its standard deviation. With ``layers`` "last" they have only
    the scoring layers and the bias of the hidden layer, whose noise is ``BIAS_NOISE_FACTOR`` times
    larger. The last four results are cached by all arguments, so that copies are the same for every
    batch of sentences: do not change the arrays. Loads the pipeline, which must have a parser.
    """
    parser: Any = _load_pipeline(name).get_pipe("parser")
    model = parser.model
    params = {
        (node.id, param): np.asarray(node.get_param(param))
        for node in model.walk()
        for param in node.param_names
        if node.has_param(param)
    }
    noise_sizes = {key: sigma * array.std() for key, array in params.items()}
    if layers == "last":
        bias, upper = (model.layers[1].id, "b"), upper_layer_params(model)
        noise_sizes = {key: size for key, size in noise_sizes.items() if key in upper}
        noise_sizes[bias] *= BIAS_NOISE_FACTOR
    rng = np.random.default_rng(seed)
    return tuple(
        {
            key: params[key] + size * rng.standard_normal(params[key].shape, np.float32)
            for key, size in noise_sizes.items()
        }
        for _ in range(n_copies)
    )


Link: TypeAlias = tuple[int, int, str]  # left word, right word, type
COMMAND_PREFIXES = ("!", "%", "*")  # link-parser does not parse lines that begin with these
MISSING_PROGRAM = (
    "the program {command!r} was not found. Install Link Grammar (Debian package link-grammar), "
    "or use another source of parses."
)
_LINKAGE = re.compile(r"\[(\(LEFT-WALL\).*?)\]\n\[(.*?)\]\n\[0\]", re.DOTALL)
_PRINTED_LINK = re.compile(r"\[(\d+) (\d+) \d+ \(([^)]*)\)\]")
_WORD_MARKS = re.compile(r"(\[[!?~&].*\])?(\.[\w-]+)?")  # ``p53[?].n`` is guessed, and a noun
_WALL = re.compile(r"\((?:LEFT|RIGHT)-WALL\)")
# Secondary links, used only for words that no other link reaches.
_SECONDARY_LINK = re.compile(r"C[a-z*]*$|R[a-z*]*$|B[a-z*]*$")


@dataclass(frozen=True)
class LinkGrammar:
    """Linkages of the program link-parser (Link Grammar), converted to dependency trees.

    A linkage is a set of typed links between words. It has neither heads nor a root and may have
    cycles. The root of the tree is the word that the left wall, an artificial first word, marks as
    the main verb, else the first word it marks. Every other word is attached to the next word on
    the shortest path to the root; links that only close a cycle are not in the tree, but
    ``Parse.links`` has all of them. Labels are link types (``Ss``, ``Os``, ``MVp``); words that no
    link reaches are attached to the root as ``null``. These are not spaCy's labels: compare such
    parses with gold linkages, or without labels.

    A sentence whose words cannot be aligned with those of link-parser gets no parse.

    Parameters
    ----------
    command
        Program, by name or path.
    linkages
        Largest number of linkages of a sentence.
    seconds
        Time limit per sentence, after which link-parser searches less thoroughly.
    """

    command: str = "link-parser"
    linkages: int = 20
    seconds: int = 5

    def __post_init__(self) -> None:
        """Raise ValueError if ``linkages`` or ``seconds`` is below 1.

        The program is only looked for when sentences are parsed.
        """
        if self.linkages < 1 or self.seconds < 1:
            raise ValueError(
                f"linkages and seconds must be at least 1, got {self.linkages} and {self.seconds}"
            )

    def __call__(self, sentences: Sequence[Span]) -> list[list[Parse]]:
        """Return the distinct parses of each sentence, link-parser's first choice first.

        One list per sentence, in order. Parses are the same if their trees and links are; ``votes``
        counts the linkages of a parse, and its tags are those of the sentence. The list is empty if
        link-parser finds no linkage, the words cannot be aligned, or the sentence is blank or
        begins with one of ``COMMAND_PREFIXES``. Raises FileNotFoundError if the program is not
        installed, OSError if it fails.
        """
        lines = [" ".join(_sentence_words(sentence)) for sentence in sentences]
        parsed_indices = [
            i for i, line in enumerate(lines) if line and not line.startswith(COMMAND_PREFIXES)
        ]
        parses: list[list[Parse]] = [[] for _ in sentences]
        if parsed_indices:
            output = self._run([lines[i] for i in parsed_indices])
            for i, block in zip(
                parsed_indices,
                _split_output(output, [lines[i] for i in parsed_indices]),
                strict=True,
            ):
                parses[i] = _read_parses(block, sentences[i], self.linkages)
        return parses

    def _run(self, lines: Sequence[str]) -> str:
        """Run link-parser on lines of text, one sentence each, and return what it prints.

        Lines must not be empty, since link-parser takes an empty line as a request for the next
        linkage. The output echoes each line and then has at most ``self.linkages`` linkages of it
        in PostScript. Raises FileNotFoundError if there is no such program, OSError if it fails or
        takes longer than 60 seconds plus four time limits per line.
        """
        program = shutil.which(self.command)
        if program is None:
            raise FileNotFoundError(MISSING_PROGRAM.format(command=self.command))
        options = {
            "postscript": 1, "graphics": 0, "walls": 1, "echo": 1, "verbosity": 1, "spell": 0,
            "limit": max(100, self.linkages), "timeout": self.seconds,
        }  # fmt: skip
        # An empty line asks for the next linkage; it is ignored if there is none.
        text = "".join(line + "\n" * self.linkages for line in lines)
        arguments = [program, "en", "--quiet", *(f"-{k}={value}" for k, value in options.items())]
        timeout = 60 + 4 * self.seconds * len(lines)  # it may search several times
        try:
            process = subprocess.run(
                arguments, input=text, capture_output=True, timeout=timeout,
                encoding="utf-8", errors="replace", check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise OSError(
                f"{self.command} did not finish {len(lines)} sentences in {timeout} s. "
                "Use fewer linkages or shorter sentences."
            ) from error
        if process.returncode:
            message = (process.stderr.strip().splitlines() or ["no error message"])[-1]
            raise OSError(f"{self.command} failed with exit code {process.returncode}: {message}")
        return process.stdout


def _sentence_words(sentence: Span) -> list[str]:
    """Return the words of a sentence without white space tokens, as link-parser reads them.

    White space inside a token is replaced by a single space.
    """
    return [text for text in (" ".join(token.text.split()) for token in sentence) if text]


def _split_output(output: str, lines: Sequence[str]) -> list[str]:
    """Split what link-parser printed into one block per line of input, without the echoed lines.

    The output echoes each line before its linkages; ``lines`` are those given to link-parser, in
    order. A line whose echo is not found has the block "".
    """
    echoes, position = list[re.Match[str] | None](), 0
    for line in lines:
        echo = re.compile(rf"^{re.escape(line)}$", re.MULTILINE).search(output, position)
        echoes.append(echo)
        position = echo.end() if echo else position
    blocks, end = list[str](), len(output)
    for echo in reversed(echoes):
        blocks.append(output[echo.end() : end] if echo else "")
        end = echo.start() if echo else end
    return blocks[::-1]


def _read_parses(block: str, sentence: Span, limit: int) -> list[Parse]:
    """Return the distinct parses in link-parser's output for a sentence.

    ``block`` is that output, of which at most the first ``limit`` linkages are read. Parses are in
    the order of the output; the first one is marked as the first choice. Linkages whose words
    cannot be aligned with the sentence are skipped.
    """
    tags = tuple(token.tag_ for token in sentence)
    linkages: Counter[tuple[LabelledHeads, tuple[Link, ...]]] = Counter()
    for printed in list(_LINKAGE.finditer(block))[:limit]:
        linkage = _read_linkage(printed[1].replace("\n", ""), printed[2], sentence)
        if linkage is not None:
            linkages[linkage] += 1  # insertion order is that of the output
    first = next(iter(linkages), None)
    return [
        Parse(*linkage[0], tags, votes, linkage == first, linkage[1])
        for linkage, votes in linkages.items()
    ]


def _read_linkage(
    printed_words: str, printed_links: str, sentence: Span
) -> tuple[LabelledHeads, tuple[Link, ...]] | None:
    """Return tree and links of a printed linkage; None if its words cannot be aligned.

    Heads and links are token indices in the sentence. Links are those between different tokens,
    without walls, each once, left token first, sorted. ``printed_words`` are
    "(LEFT-WALL)(word)...", ``printed_links`` are "[left right height (type)]" items with word
    numbers, in which the left wall is 0.
    """
    words = _WALL.sub("", printed_words)[1:-1].split(")(")
    tokens = align_words(words, [token.text for token in sentence])
    if tokens is None:
        return None
    token_of_word = {
        number + 1: token for number, token in enumerate(tokens)
    }  # word 0 is the left wall
    links = [
        (int(left), int(right), kind)
        for left, right, kind in _PRINTED_LINK.findall(printed_links.replace("\n", ""))
    ]
    token_links = [
        (token_of_word[a], token_of_word[b], k)
        for a, b, k in links
        if a in token_of_word and b in token_of_word
    ]
    tree = build_tree(
        token_links,
        [(token_of_word[b], k) for a, b, k in links if a == 0 and b in token_of_word],
        len(sentence),
    )
    return tree, tuple(sorted({(min(a, b), max(a, b), k) for a, b, k in token_links if a != b}))


def align_words(words: Sequence[str], tokens: Sequence[str]) -> list[int] | None:
    """Return, for each word of a linkage, the index of the token that contains it.

    None if words and tokens do not match. Link-parser may split tokens and adds marks such as "[!]"
    or ".v" to words. Tokens of white space are skipped; case is ignored. Words must cover all other
    tokens, and no word may extend over several.

    >>> words = ["we", "show.v", "IL[!]", "-.r", "2", "[of]", ")"]
    >>> align_words(words, ["We", "show", "IL-2", "of", ")"])
    [0, 1, 2, 2, 2, 3, 4]
    """
    aligned, token_index, offset = list[int](), 0, 0
    for word in words:
        while token_index < len(tokens) and not tokens[token_index].strip():
            token_index += 1
        if token_index == len(tokens):
            return None
        remaining = tokens[token_index][offset:]
        n_matched = _match_length(word, remaining)
        if n_matched == 0:
            return None
        aligned.append(token_index)
        offset += n_matched
        if n_matched == len(remaining):
            token_index, offset = token_index + 1, 0
    rest = "".join(tokens[token_index:])[offset:]
    return aligned if not rest.strip() else None


def _match_length(word: str, text: str) -> int:
    """Return how many characters at the start of ``text`` a word of a linkage covers.

    0 if it does not match. ``text`` is the rest of a token, not empty; case is ignored. Marks that
    link-parser adds after a word ("[!]", ".n") and brackets around it are ignored. If the word can
    be read in several ways, all of ``text`` is preferred, then the longest beginning.
    """
    for form in (word, word[1:-1] if word[:1] == "[" and word[-1:] == "]" else ""):
        if form.lower().startswith(text.lower()) and _WORD_MARKS.fullmatch(form[len(text) :]):
            return len(text)
        for length in range(len(form), 0, -1):
            if text.lower().startswith(form[:length].lower()) and _WORD_MARKS.fullmatch(
                form[length:]
            ):
                return length
    return 0


def build_tree(
    links: Sequence[Link], wall_links: Sequence[tuple[int, str]], size: int
) -> LabelledHeads:
    """Convert the links of a linkage to (heads, labels) of ``size`` words by breadth-first search.

    The root is its own head with the label "ROOT"; every other word is labelled with the type of
    the link to its head. Neighbours are visited by word, then type. Secondary links (types C, R and
    B) are followed only to words that no other link reaches; words that no link reaches depend on
    the root as "null".

    Parameters
    ----------
    links
        (word, word, type), with words counted from 0.
    wall_links
        (word, type) of the links to the left wall. The root is the first of these words whose type
        begins with "WV", else the first with "W", else the first word of ``links``, else word 0.
    size
        Number of words, at least 1.
    """
    verbs = [word for word, kind in wall_links if kind.startswith("WV")]
    others = [word for word, kind in wall_links if kind.startswith("W")]
    root = next(iter([*verbs, *others, *(word for link in links for word in link[:2])]), 0)
    heads, labels = [-1] * size, ["null"] * size
    heads[root], labels[root] = root, "ROOT"
    attached = [root]
    for allowed_links in (
        [link for link in links if not _SECONDARY_LINK.match(link[2])],
        links,
    ):
        neighbours_of: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for a, b, kind in allowed_links:
            neighbours_of[a].append((b, kind))
            neighbours_of[b].append((a, kind))
        queue = list(attached)
        for word in queue:
            for neighbour, kind in sorted(neighbours_of[word]):
                if heads[neighbour] < 0:
                    heads[neighbour], labels[neighbour] = word, kind
                    queue.append(neighbour)
        attached = queue
    return tuple(root if head < 0 else head for head in heads), tuple(labels)


HeadVotes = dict[int, float]  # head -> votes, of one word


def find_spanning_tree(
    head_votes: Sequence[HeadVotes],
    roots: Sequence[float],
    default_votes: Sequence[float] | None = None,
) -> list[int]:
    """Return the heads of the tree with the largest sum of votes; the root is its own head.

    Every word with votes as root is tried as the root; if none has any, every word is. Of heads
    with equal votes the lowest index is chosen, and likewise of roots with equal totals. [] without
    words.

    Chu and Liu (1965), Science Sinica 14:1396; Edmonds (1967), J. Res. NBS 71B:233. Linear in
    memory and, except for words that many cycles lead to, in time: sentences may have thousands of
    words.

    Parameters
    ----------
    head_votes
        Per word, the votes of heads that have more than the default.
    roots
        Per word, the votes for it as root.
    default_votes
        Per word, the votes of all other heads; None means 0.

    >>> find_spanning_tree([{1: 2.0}, {0: 1.0, 2: 2.0}, {1: 3.0}], [1, 2, 0])
    [1, 1, 1]
    """
    n = len(head_votes)
    default_votes = [0.0] * n if default_votes is None else default_votes
    best_heads, best_total = [0] * n, -np.inf
    for root in [d for d in range(n) if roots[d] > 0] or range(n):
        heads = _SpanningTreeSearch.from_votes(head_votes, default_votes, root).heads()
        arcs = (head_votes[d].get(h, default_votes[d]) for d, h in enumerate(heads) if d != root)
        total = roots[root] + sum(arcs)
        if total > best_total:
            best_heads, best_total = heads, total
    return best_heads


@dataclass(frozen=True, eq=False)
class _ContractedCycle:
    """A cycle of best heads that was contracted to one node.

    The best head of each member is the next member; that of the last is the first. ``node`` is the
    number of the new node.
    """

    node: int
    members: list[int]
    arc_values: list[float]  # votes of each member's arc inside the cycle
    member_of_dependent: dict[int, int]  # outside node -> member that is its best head


@dataclass(eq=False)
class _SpanningTreeSearch:
    """Search for the best heads for a given root by contracting and expanding cycles.

    Nodes are the words, numbered from 0, and then the contracted cycles. Of heads with equal votes
    the lowest node is chosen. A node is finished once its chain of best heads leads to the root: no
    later cycle can contain it.
    """

    root: int
    incoming: dict[int, HeadVotes]  # node -> votes of heads that have more than the default
    default_value: dict[int, float]  # node -> votes of all other heads
    outgoing: dict[int, set[int]]  # head -> nodes that list it in ``incoming``
    is_active: list[bool]  # by node; members of a contracted cycle are not
    first_active: int = 0  # no earlier node is active
    best_head: dict[int, int] = field(default_factory=dict)
    cycles: list[_ContractedCycle] = field(default_factory=list)

    @classmethod
    def from_votes(
        cls, head_votes: Sequence[HeadVotes], default_votes: Sequence[float], root: int
    ) -> _SpanningTreeSearch:
        """Set up the search for the tree with this root.

        ``head_votes`` has, per word, the votes of the heads that have more than ``default_votes``,
        which has the votes of all other heads. The arguments are copied. Votes for a head of the
        root are ignored.
        """
        incoming = {d: dict(votes) for d, votes in enumerate(head_votes) if d != root}
        outgoing: dict[int, set[int]] = {d: set() for d in range(len(head_votes))}
        for d, votes in incoming.items():
            for head in votes:
                outgoing[head].add(d)
        return cls(
            root, incoming, dict(enumerate(default_votes)), outgoing, [True] * len(head_votes)
        )

    def heads(self) -> list[int]:
        """Run the search and return the head of each word; the root is its own head.

        May be called once, since it changes the search.
        """
        n_words = len(self.is_active)
        self._contract_cycles()
        self.best_head[self.root] = self.root
        dependents: dict[int, list[int]] = {}
        for node, is_active in enumerate(self.is_active):
            if is_active:
                dependents.setdefault(self.best_head[node], []).append(node)
        for cycle in reversed(self.cycles):
            self._expand(cycle, dependents)
        return [self.best_head[d] for d in range(n_words)]

    def _contract_cycles(self) -> None:
        """Follow best heads from every node to the root and contract each cycle on the way.

        Sets ``best_head`` of all nodes but the root and fills ``cycles`` in order of contraction.
        The nodes of contracted cycles are visited in turn, until no cycle of active nodes is left.
        """
        finished = {self.root}
        start = 0
        while start < len(self.is_active):
            path: list[int] = []
            position_in_path: dict[int, int] = {}
            node = start
            while self.is_active[start] and node not in finished:
                if node in position_in_path:
                    members = path[position_in_path[node] :]
                    del path[position_in_path[node] :]
                    self._contract(members)
                    if not path:  # the new node is visited later as a start
                        break
                    node = path.pop()
                position_in_path[node] = len(path)
                path.append(node)
                self.best_head[node] = self._choose_head(node)
                node = self.best_head[node]
            finished.update(path)
            start += 1

    def _choose_head(self, node: int) -> int:
        """Return the active head with the most votes for a node; the lowest of equals.

        If no head has more than the default votes, return the lowest active node other than the
        node itself. Advances ``first_active`` as far as needed. The node must not be the root.
        """
        votes, default = self.incoming[node], self.default_value[node]
        best = max(votes.values(), default=default)
        if best > default:
            return min(head for head, value in votes.items() if value == best)
        while not self.is_active[self.first_active]:
            self.first_active += 1
        lowest = self.first_active
        while not self.is_active[lowest] or lowest == node:
            lowest += 1
        return lowest

    def _contract(self, members: list[int]) -> None:
        """Replace a cycle, given by its nodes, by one new node, and add it to ``cycles``.

        The members become inactive. Votes of arcs to a member, and its default votes, are reduced
        by the votes of its arc in the cycle (``arc_values``); the greatest over the members become
        the votes and the ``default_value`` of the new node. Of votes of arcs from the members the
        greatest count. ``best_head`` of every member must be set to the next one; it is kept for
        ``_expand``.
        """
        node, inside = len(self.is_active), set(members)
        self.is_active.append(True)
        for member in members:
            self.is_active[member] = False
        arc_values = [self._arc_value(self.best_head[member], member) for member in members]
        self.default_value[node] = max(
            self.default_value[member] - value
            for member, value in zip(members, arc_values, strict=True)
        )
        self._merge_incoming(node, members, arc_values, inside)
        self.cycles.append(
            _ContractedCycle(node, members, arc_values, self._merge_outgoing(node, members, inside))
        )

    def _merge_incoming(
        self, node: int, members: Sequence[int], arc_values: Sequence[float], inside: set[int]
    ) -> None:
        """Set the votes of outside heads for a contracted node: their best gain over its members.

        The gain of a head at a member is its votes for that member minus the member's entry of
        ``arc_values``, the votes of the arc inside the cycle that it replaces. ``inside`` is the
        set of ``members``. Changes ``incoming`` and ``outgoing``.
        """
        default = self.default_value[node]
        votes: HeadVotes = {}
        for member, arc_value in zip(members, arc_values, strict=True):
            for head, value in self.incoming[member].items():
                if head not in inside:
                    votes[head] = max(votes.get(head, default), value - arc_value)
                    self.outgoing[head].discard(member)
                    self.outgoing[head].add(node)
        self.incoming[node] = votes

    def _merge_outgoing(
        self, node: int, members: Sequence[int], inside: set[int]
    ) -> dict[int, int]:
        """Make the contracted node the head in place of its members.

        Changes ``incoming`` and ``outgoing`` in place; ``inside`` is the set of ``members``.
        Returns, for each node outside the cycle with a listed arc from a member, the member with
        the most votes (the first of equals); nodes for which no member has more than the default
        votes are left out.
        """
        member_of_dependent: dict[int, int] = {}
        for member in members:
            for dependent in self.outgoing.pop(member):
                if dependent in inside:
                    continue
                value = self.incoming[dependent].pop(member)
                if value > self.incoming[dependent].get(node, self.default_value[dependent]):
                    self.incoming[dependent][node] = value
                    member_of_dependent[dependent] = member
        self.outgoing[node] = set(member_of_dependent)
        return member_of_dependent

    def _arc_value(self, head: int, node: int) -> float:
        """Return the votes for the arc from ``head`` to ``node``, the default if not listed."""
        return self.incoming[node].get(head, self.default_value[node])

    def _expand(self, cycle: _ContractedCycle, dependents: dict[int, list[int]]) -> None:
        """Restore the arcs inside a cycle, except at the member where the tree enters the cycle.

        The tree enters at the member with the largest gain, the first of equals, which takes the
        head of the contracted node. Dependents of the contracted node are attached to the member in
        ``member_of_dependent``, or to the first member. Changes ``best_head``; ``dependents``,
        which maps nodes to their current dependents, is updated in place. Cycles must be expanded
        in reverse order of contraction.
        """
        head = self.best_head.pop(cycle.node)
        gains = [
            self._arc_value(head, member) - value
            for member, value in zip(cycle.members, cycle.arc_values, strict=True)
        ]
        self.best_head[cycle.members[gains.index(max(gains))]] = head
        for dependent in dependents.pop(cycle.node, ()):
            if (
                self.best_head.get(dependent) == cycle.node
            ):  # false for a node that was expanded before
                self.best_head[dependent] = cycle.member_of_dependent.get(
                    dependent, cycle.members[0]
                )
                dependents.setdefault(self.best_head[dependent], []).append(dependent)
        for member in cycle.members:
            dependents.setdefault(self.best_head[member], []).append(member)
