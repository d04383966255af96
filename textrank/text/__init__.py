"""Text as it comes: markup, white space, odd letters, lines; offsets into the original."""

from textrank.text.markup import clean, read, spell
from textrank.text.sentences import Sentences, sentence_starts
from textrank.text.words import characters, reading_of, words_only

__all__ = [
    "Sentences",
    "characters",
    "clean",
    "read",
    "reading_of",
    "sentence_starts",
    "spell",
    "words_only",
]
