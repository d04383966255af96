"""Text as it comes: markup, white space, odd letters, lines; offsets into the original."""

from textrank.text.markup import clean, plain, read, spell
from textrank.text.memory import Forgetting, forgetting
from textrank.text.passages import Passages
from textrank.text.pieces import LONGEST, in_pieces, is_long, make_doc, piped
from textrank.text.second import keep_reading, second_reading
from textrank.text.sentences import Sentences, sentence_starts, set_starts
from textrank.text.words import characters, original, reading_of, words_only, words_within

__all__ = [
    "LONGEST",
    "Forgetting",
    "Passages",
    "Sentences",
    "characters",
    "clean",
    "forgetting",
    "in_pieces",
    "is_long",
    "keep_reading",
    "make_doc",
    "original",
    "piped",
    "plain",
    "read",
    "reading_of",
    "second_reading",
    "sentence_starts",
    "set_starts",
    "spell",
    "words_only",
    "words_within",
]
