"""Tokenizer for biomedical English: splits at hyphens and slashes, keeps numbers and ions whole.

``BioTokenizer`` is the tokenizer of the shipped pipeline; ``tokenize_chunk`` is its rule, for text
without white space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from textrank.language.normalization import fold_spaces, tokenize_normalized

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
_IONS = "Ca2|Mg2|Zn2|Mn2|Fe2|Fe3|Cu2|Co2|Ba2|Sr2|Cd2|Na|K|H|Li|Rb|Cs|NH4|NAD|NADP|poly\\(?A\\)?"
_WORD_CHARACTER = r"[\w\u0300-\u036f]"  # with combining accents

# Every repetition after which a match can still fail is bounded, so that time is linear.
_TOKEN = re.compile(
    rf"""
      (?:(?:https?|ftp)://|www\.)[^\s<>"()\[\]{{}}]*[^\s<>"()\[\]{{}}.,;:!?'’”]   # address
    | [\w.%+-]{{1,64}}@\w[\w-]{{0,64}}(?:\.\w[\w-]{{0,64}}){{1,8}}         # mail
    | 10\.\d{{4,9}}/[\w.;/:-]{{0,200}}\w                                   # doi
    | (?:{_IONS})\+\+?(?![\w/+])                                        # ion, cofactor
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
    | {_WORD_CHARACTER}+(?:[.·⋅]{_WORD_CHARACTER}+)*[®™]?                  # word, 0.5, B6.CAST
    | \.{{2,}} | \*+ | \+{{2,}}(?!/) | --+ | =+
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_CHUNK = re.compile(r"\S+|\s+")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_CACHED_CHARACTERS = 40  # longer chunks hardly ever recur
_CACHE_SIZE = 1 << 14  # chunks; bounds the memory used on a stream of texts


def tokenize_chunk(chunk: str) -> list[str]:
    """Tokenize a chunk of text that has no white space.

    The tokens, in order, concatenate to the chunk; an empty chunk gives none.

    >>> tokenize_chunk("(IL-2/IL-4,")
    ['(', 'IL', '-', '2', '/', 'IL', '-', '4', ',']
    >>> tokenize_chunk("Abcg8+/-"), tokenize_chunk("Ca2+,"), tokenize_chunk("non-invasive")
    (['Abcg8', '+', '/', '-'], ['Ca2+', ','], ['non-invasive'])
    """
    return _TOKEN.findall(chunk)


class BioTokenizer:
    """spaCy tokenizer that splits as the CRAFT corpus does, so that no name begins inside a token.

    Inner hyphens, slashes, colons and brackets are separate tokens (``actin - binding``), as are
    the parts of genotypes (``+ / -``) and primes (``5 '``). Decimal numbers, thousands, ions,
    abbreviations and ordinary words with a prefix stay whole. The Doc has exactly the text given.

    >>> import spacy
    >>> [token.text for token in BioTokenizer(spacy.blank("en").vocab)("p53-binding of 5'-UTRs.")]
    ['p53', '-', 'binding', 'of', '5', "'", '-', 'UTRs', '.']
    """

    def __init__(self, vocab: Vocab) -> None:
        """Take the vocabulary that Docs share with the pipeline."""
        self.vocab = vocab
        self._cache: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> Doc:
        """Tokenize a text, with lone surrogates replaced by U+FFFD.

        An empty text gives an empty Doc.
        """
        # spaCy stores UTF-8, which cannot hold lone surrogates; the replacement keeps offsets.
        text = _LONE_SURROGATE.sub("\ufffd", text)
        words, spaces = tokenize_normalized(text, self._tokenize) or fold_spaces(
            self._tokenize(text)
        )
        return Doc(self.vocab, words=words, spaces=spaces)

    def _tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text, white space included: they concatenate to the text.

        A run of white space is one token. A full stop that ends the text is split off
        (``_split_final_stop``).
        """
        tokens: list[str] = []
        for chunk in _CHUNK.findall(text):
            if chunk[0].isspace():
                tokens.append(chunk)
            else:
                tokens += self._tokenize_chunk(chunk)
        if len(tokens) > 1:
            _split_final_stop(tokens)
        return tokens

    def pipe(self, texts: Iterable[str], batch_size: int = 1000) -> Iterator[Doc]:
        """Tokenize texts lazily, one by one and in order; ``batch_size`` is ignored."""
        return map(self, texts)

    def _tokenize_chunk(self, chunk: str) -> tuple[str, ...]:
        """Return the tokens of a chunk without white space, from the cache if possible.

        Short chunks are added to the cache, which is emptied when it is full.
        """
        tokens = self._cache.get(chunk)
        if tokens is None:
            tokens = tuple(tokenize_chunk(chunk))  # a tuple of strings is not tracked by gc
            if len(chunk) <= _MAX_CACHED_CHARACTERS:
                if len(self._cache) >= _CACHE_SIZE:
                    self._cache.clear()
                self._cache[chunk] = tokens
        return tokens

    # spaCy requires these four; the rules are code, so there is nothing to store.
    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return no bytes: there is nothing to store."""
        return b""

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> BioTokenizer:
        """Return the tokenizer unchanged."""
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write nothing."""

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> BioTokenizer:
        """Return the tokenizer unchanged."""
        return self


def _split_final_stop(tokens: list[str]) -> None:
    """Split the full stop off an abbreviation that ends the text (``of type B.``), in place.

    ``tokens`` must contain a token that is not white space. Dots alone, abbreviations such as
    "U.S." and tokens with a slash stay whole.
    """
    index = len(tokens) - (2 if tokens[-1].isspace() else 1)
    last = tokens[index]
    if len(last) > 1 and last[-1] == "." and not re.fullmatch(r"\.+|(?:\w\.){2,}|.*/.*", last):
        tokens[index : index + 1] = [last[:-1], "."]


def bio_tokenizer() -> Callable[[Language], BioTokenizer]:
    """Return the factory that spaCy configs call ``@tokenizers = "textrank.bio_tokenizer.v1"``."""

    def create(nlp: Language) -> BioTokenizer:
        return BioTokenizer(nlp.vocab)

    return create
