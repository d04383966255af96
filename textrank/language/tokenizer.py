"""Tokenizer for biomedical English: splits inner hyphens and slashes, keeps numbers and charges."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from textrank.language.normalization import fold_spaces
from textrank.language.normalization import tokenize_normalized as odd_tokens

# Prefixes that stay with an ordinary word (`non-invasive`). Before a name they split, because
# in `anti-CD3` the name is CD3, and a mention must not begin inside a token.
_PREFIXES = (
    "anti auto bi co counter cross de di extra hetero homo hyper hypo immuno infra inter intra "
    "macro mal meta micro mid mono multi neo non over pan peri poly post pre pro pseudo re semi "
    "sub super supra trans tri ultra un under"
)
# The full stop belongs to the word, unless that ends the text.
_ABBREVIATIONS = (
    "abbr al approx assoc ca cat cf chr co corp dept dr drs ed eds eq eqs est etc fig figs "
    "inc int jr ltd mr mrs ms mt no nos ph prof ref refs resp sect sp spp sr ssp st subsp "
    "suppl var viz vol vols vs"
)
_CHARGED = "Ca2|Mg2|Zn2|Mn2|Fe2|Fe3|Cu2|Co2|Ba2|Sr2|Cd2|Na|K|H|Li|Rb|Cs|NH4|NAD|NADP|poly\\(?A\\)?"
_W = r"[\w\u0300-\u036f]"  # a letter may carry combining accents

# Every repetition that can fail after its end is bounded, so a text takes linear time.
_TOKEN = re.compile(
    rf"""
      (?:(?:https?|ftp)://|www\.)[^\s<>"()\[\]{{}}]*[^\s<>"()\[\]{{}}.,;:!?'’”]   # address
    | [\w.%+-]{{1,64}}@\w[\w-]{{0,64}}(?:\.\w[\w-]{{0,64}}){{1,8}}         # mail
    | 10\.\d{{4,9}}/[\w.;/:-]{{0,200}}\w                                   # doi
    | (?:{_CHARGED})\+\+?(?![\w/+])                                        # ion, cofactor
    | [A-Z]{{3,12}}\d{{0,3}}\+(?![\w/+])                                   # marker positive, ECFP+
    | \d{{1,6}}(?:\.\d{{1,6}})?-fold(?!\w)
    | (?i:{"|".join(_PREFIXES.split())})-(?=[a-z]{{3}})[a-z]{{3,40}}(?!\w)   # prefix and plain word
    | (?:[A-Za-z]\.){{2,9}}(?!\w)                                          # i.e. U.S.A.
    | (?i:{"|".join(_ABBREVIATIONS.split())})\.(?!\w)                      # Fig.
    | (?<![\w/:–-])[A-Z]\.(?=$|[A-Z-])                                    # C. elegans, J. Smith
    | \d{{1,3}}(?:,\d{{3}}){{1,6}}(?![\d,])(?:\.\d{{1,9}})?(?!\w)          # 15,000
    | [Cc]an(?=not(?!\w))
    | \w{{1,12}}?(?=n['’]t(?!\w)) | n['’]t(?!\w)
    | ['’](?:s|S|ll|re|ve|d|m)(?!\w)
    | [DOL]['’][A-Z]\w+                                                    # O'Brien
    | °[CF](?!\w)
    | {_W}+(?:[.·⋅]{_W}+)*[®™]?                                            # word, 0.5, B6.CAST
    | \.{{2,}} | \*+ | \+{{2,}}(?!/) | --+ | =+
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_PIECE = re.compile(r"\S+|\s+")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_CACHED_LENGTH = 40  # longer pieces hardly ever come back
_CACHE_SIZE = 1 << 14  # pieces; a stream of new ones must not need ever more memory


def tokenize_chunk(piece: str) -> list[str]:
    """The tokens of a text without white space.

    >>> tokenize_chunk("(IL-2/IL-4,")
    ['(', 'IL', '-', '2', '/', 'IL', '-', '4', ',']
    >>> tokenize_chunk("Abcg8+/-"), tokenize_chunk("Ca2+,"), tokenize_chunk("non-invasive")
    (['Abcg8', '+', '/', '-'], ['Ca2+', ','], ['non-invasive'])
    """
    return _TOKEN.findall(piece)


class BioTokenizer:
    """Text -> Doc, split as the CRAFT corpus is, so that a name never begins inside a token.

    Inner hyphens, slashes, colons and brackets are tokens of their own (``actin - binding``), and
    so are the parts of genotypes (``+ / -``) and primes (``5 '``). Decimal numbers, thousands,
    ions, abbreviations and prefixed ordinary words stay whole. The Doc has the very text given.

    >>> import spacy
    >>> [token.text for token in BioTokenizer(spacy.blank("en").vocab)("p53-binding of 5'-UTRs.")]
    ['p53', '-', 'binding', 'of', '5', "'", '-', 'UTRs', '.']
    """

    def __init__(self, vocab: Vocab) -> None:
        self.vocab = vocab
        self._cache: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> Doc:
        # spaCy's strings are UTF-8, which half a surrogate pair is not; offsets stay as they were.
        text = _LONE_SURROGATE.sub("\ufffd", text)
        words, spaces = odd_tokens(text, self._tokens) or fold_spaces(self._tokens(text))
        return Doc(self.vocab, words=words, spaces=spaces)

    def _tokens(self, text: str) -> list[str]:
        """The tokens of a text and the white space between them, which together are the text."""
        found: list[str] = []
        for piece in _PIECE.findall(text):
            if piece[0].isspace():
                found.append(piece)
            else:
                found += self._split(piece)
        if len(found) > 1:
            _split_final_stop(found)
        return found

    def pipe(self, texts: Iterable[str], batch_size: int = 1000) -> Iterator[Doc]:
        """Docs of the texts, one by one."""
        return map(self, texts)

    def _split(self, piece: str) -> tuple[str, ...]:
        tokens = self._cache.get(piece)
        if tokens is None:
            tokens = tuple(
                tokenize_chunk(piece)
            )  # unlike a list, nothing for Python to look through
            if len(piece) <= _CACHED_LENGTH:
                if len(self._cache) >= _CACHE_SIZE:
                    self._cache.clear()
                self._cache[piece] = tokens
        return tokens

    # The rules are code, so that there is nothing to store; spaCy asks for these four.
    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Nothing: the rules are not data."""
        return b""

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> BioTokenizer:
        """Itself."""
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Writes nothing."""

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> BioTokenizer:
        """Itself."""
        return self


def _split_final_stop(tokens: list[str]) -> None:
    """An abbreviation that ends the text gives its stop to the sentence (``of type B.``)."""
    at = len(tokens) - (2 if tokens[-1].isspace() else 1)
    last = tokens[at]
    if len(last) > 1 and last[-1] == "." and not re.fullmatch(r"\.+|(?:\w\.){2,}|.*/.*", last):
        tokens[at : at + 1] = [last[:-1], "."]


def bio_tokenizer() -> Callable[[Language], BioTokenizer]:
    """What ``@tokenizers = "textrank.bio_tokenizer.v1"`` in a spaCy config stands for."""

    def create(nlp: Language) -> BioTokenizer:
        return BioTokenizer(nlp.vocab)

    return create
