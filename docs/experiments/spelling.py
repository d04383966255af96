"""Evaluate the speller on texts with planted errors, on clean texts and on single sentences.

``python docs/experiments/spelling.py planted TEXT…`` replaces one judged word in a hundred by
another word of its pairs and prints precision, recall and false alarms; ``--table`` adds a row per
pair. ``flags TEXT…`` prints every flag of a text as it is, ``rules TEXT…`` those of the rules only,
and ``sentences FILE`` counts the sentences of a file with ``{written|intended}`` marks whose error
is found, and the flags in their correct twins. Texts are plain text, CoNLL-U files (``.gz``), and
the archives of Brown (``brown.zip``) and Reuters-21578 (``reuters21578.tar.gz``).
"""

from __future__ import annotations

import argparse
import gzip
import html
import re
import sys
import tarfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from textrank.lint import Linter, blank_non_prose, file_kind
from textrank.lint.model import (
    DEFAULT_PRECISION,
    MAX_OFFSET,
    TOKEN,
    ConfusionModel,
    Flag,
    match_spelling_style,
    shipped_model_path,
)

ERROR_SHARE = 0.01
SEED = 1
CHUNK_CHARACTERS = 300_000
MARK = re.compile(r"\{([^|{}]*)\|([^|{}]*)\}")


def read(path: Path, max_words: int) -> list[str]:
    """Return the prose of a file in chunks of whole paragraphs, about ``max_words`` words."""
    chunks, size, words = [""], 0, 0
    for paragraph in paragraphs(path):
        size += len(paragraph)
        words += len(paragraph.split())
        if size > CHUNK_CHARACTERS:
            chunks.append("")
            size = len(paragraph)
        chunks[-1] += paragraph + "\n\n"
        if words >= max_words:
            break
    return [chunk for chunk in chunks if chunk]


def paragraphs(path: Path) -> Iterator[str]:
    """Yield the paragraphs of a text, with what is not prose blanked."""
    if path.name == "brown.zip":
        yield from map(blank_non_prose, _brown(path))
    elif path.name.startswith("reuters"):
        yield from map(blank_non_prose, _reuters(path))
    elif path.name.endswith(".conllu.gz"):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            marked = (line.removeprefix("# text = ") for line in lines if line[:9] == "# text = ")
            yield from (blank_non_prose(line.strip()) for line in marked)
    else:
        text = path.read_text(encoding="utf-8", errors="replace")
        yield from re.split(r"\n[ \t]*\n\s*", blank_non_prose(text, file_kind(path)))


def _brown(path: Path) -> Iterator[str]:
    """Yield the sentences of Brown, with blanks before punctuation removed."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not re.fullmatch(r"brown/c[a-r]\d\d", name):
                continue
            for line in archive.read(name).decode("ascii", "replace").splitlines():
                words = " ".join(word.rpartition("/")[0] for word in line.split())
                words = re.sub(r" (?=[.,;:?!)])|(?<=\() ", "", words)
                yield re.sub(r"``|''", '"', words)


def _reuters(path: Path) -> Iterator[str]:
    """Yield the bodies of Reuters-21578, without the last line."""
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".sgm") else None
            text = file.read().decode("latin-1") if file else ""
            for body in re.findall(r"(?s)<BODY>(.*?)</BODY>", text):
                yield " ".join(html.unescape(body).split()[:-1])


@dataclass
class Counts:
    """Numbers of planted errors, finds, wrong proposals for them, and flags elsewhere."""

    planted: int = 0
    finds: int = 0
    wrong: int = 0
    alarms: int = 0
    words: int = 0
    seconds: float = 0.0
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)  # by pair and kind of count

    def summary(self) -> str:
        """Return precision, recall, alarms and speed in one line."""
        flags = self.finds + self.wrong + self.alarms
        recalls = [
            self.pairs[pair, "find"] / count
            for (pair, kind), count in self.pairs.items()
            if kind == "planted" and count >= 5
        ]
        return (
            f"{self.words} words, {self.planted} planted: "
            f"precision {self.finds / max(flags, 1):.3f}, "
            f"recall {self.finds / max(self.planted, 1):.3f}, median recall of pairs "
            f"{float(np.median(recalls)) if recalls else 0:.2f}; flags elsewhere "
            f"{1e4 * self.alarms / max(self.words, 1):.2f} per 10 000 words; "
            f"{self.words / max(self.seconds, 1e-9):.0f} words per second"
        )


def plant(model: ConfusionModel, text: str, rng: np.random.Generator) -> tuple[str, dict[int, str]]:
    """Return the text with errors, and the intended word by the offset of each error.

    ERROR_SHARE of the judged words is replaced by another word of one of its pairs.
    """
    _, start, end, word_id = model.find_words(text)
    spans = [token.span() for token in TOKEN.finditer(text)]
    words = {number: word for word, number in model.word_ids.items()}
    partners: dict[str, list[str]] = {}
    for pair in model.pairs:
        if not pair.style:
            partners.setdefault(pair.words[0], []).append(pair.words[1])
            partners.setdefault(pair.words[1], []).append(pair.words[0])
    judged = [k for k in range(len(start)) if words[int(word_id[k])] in partners]
    chosen = sorted(k for k in judged if rng.random() < ERROR_SHARE)
    parts, errors, at, shift = [], {}, 0, 0
    for k in sorted(chosen, key=lambda k: int(start[k])):
        first, last = spans[start[k] - MAX_OFFSET][0], spans[end[k] - 1 - MAX_OFFSET][1]
        if first < at:
            continue
        printed = text[first:last]
        wrong = match_spelling_style(str(rng.choice(partners[words[int(word_id[k])]])), printed)
        errors[first + shift] = printed
        parts += [text[at:first], wrong]
        shift += len(wrong) - len(printed)
        at = last
    return "".join([*parts, text[at:]]), errors


def planted(model: ConfusionModel, path: Path, arguments: argparse.Namespace) -> Counts:
    """Return the counts of a text with planted errors."""
    counts, rng = Counts(), np.random.default_rng(SEED)
    for chunk in read(path, arguments.words):
        text, errors = plant(model, chunk, rng)
        began = time.process_time()
        flags = {flag.start: flag for flag in model.find_errors(text, arguments.precision)}
        counts.seconds += time.process_time() - began
        counts.words += len(text.split())
        counts.planted += len(errors)
        for offset, intended in errors.items():
            flag = flags.pop(offset, None)
            word = TOKEN.match(text, offset)
            pair = "/".join(sorted((intended.lower(), word[0].lower() if word else "")))
            counts.pairs[pair, "planted"] += 1
            if flag is not None:
                is_right = flag.proposal.lower() == intended.lower().replace("’", "'")
                counts.finds += is_right
                counts.wrong += not is_right
                counts.pairs[pair, "find"] += is_right
        counts.alarms += len(flags)
        for flag in flags.values():
            counts.pairs[flag.pair, "alarm"] += 1
    return counts


def show_flag(path: Path, text: str, flag: Flag) -> None:
    """Print a flag with a few words of context."""
    before = " ".join(text[max(0, flag.start - 60) : flag.start].split()[-7:])
    after = " ".join(text[flag.end : flag.end + 60].split()[:7])
    shown = f"{before} [{flag.printed} → {flag.proposal}] {after}"
    show(f"{path.stem}: {shown} ({flag.score:.1f})".replace("\x00", "▯"))


def sentences(model: ConfusionModel, path: Path, precision: float) -> None:
    """Print how many errors of marked sentences are found, and the flags of correct twins."""
    linter = Linter(model, precision=precision)
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if "{" in line[:300]]
    finds = flagged_elsewhere = flagged_twins = 0
    total = 0
    for line in lines:
        mark = MARK.search(line)
        if line.startswith("#") or mark is None:
            continue
        total += 1
        wrong, right = MARK.sub(r"\1", line), MARK.sub(r"\2", line)
        proposals = linter(wrong)
        hits = [p for p in proposals if p.offset == mark.start() and p.proposal == mark[2]]
        finds += bool(hits)
        flagged_elsewhere += any(p not in hits for p in proposals)
        twins = linter(right)
        flagged_twins += bool(twins)
        outcome = "found" if hits else "missed"
        others = [f"{p.word} → {p.proposal}" for p in proposals if p not in hits]
        alarms = [f"{p.word} → {p.proposal}" for p in twins]
        show(f"{outcome}\t{line}\t{'; '.join(others)}\t{'; '.join(alarms)}")
    show(
        f"{finds} of {total} found ({finds / max(total, 1):.1%}), other flags in "
        f"{flagged_elsewhere}, flags in {flagged_twins} correct twins"
    )


def show(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


def main(arguments: argparse.Namespace) -> None:
    """Run a command."""
    model = ConfusionModel.from_disk(shipped_model_path(arguments.model) or arguments.model)
    for path in arguments.texts:
        if arguments.command == "sentences":
            sentences(model, path, arguments.precision)
        elif arguments.command == "planted":
            counts = planted(model, path, arguments)
            show(f"{path.stem}: {counts.summary()}")
            if arguments.table:
                for pair in sorted({pair for pair, _ in counts.pairs}):
                    kinds = [counts.pairs[pair, kind] for kind in ("planted", "find", "alarm")]
                    show(f"| {pair} | " + " | ".join(map(str, kinds)) + " |")
        else:
            words = 0
            for chunk in read(path, arguments.words):
                words += len(chunk.split())
                for flag in model.find_errors(chunk, arguments.precision):
                    if arguments.command == "flags" or flag.is_rule:
                        show_flag(path, chunk, flag)
            show(f"{path.stem}: {words} words")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("planted", "flags", "rules", "sentences"))
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--precision", type=float, default=DEFAULT_PRECISION)
    parser.add_argument("--words", type=int, default=10**9, help="most words of a text")
    parser.add_argument("--table", action="store_true", help="print a row per pair")
    parser.add_argument("--model", default="confusions")
    main(parser.parse_args())
