"""Ways to spoil an input: blind ones on bytes, and ones that know the grammar of the format."""

from __future__ import annotations

import gzip
import json
import random
import re
import zlib
from collections.abc import Callable
from typing import Any

import srsly

BYTES = [b"\x00", b"\xff", b"\xfe\xff", b"\xed\xa0\x80", b"\x1f\x8b", b"PK\x03\x04", b"\r", b"\n\n",
         b"\t", b"-1", b"0", b"9" * 400, b"1e999", b"NaN", b"\\ud800", b"<![CDATA[", b"<!ENTITY a 'b'>",
         b"&#0;", b"${a}", b"..", b"/", b"\xef\xbb\xbf", b"[" * 2000, b"<a>" * 500]  # fmt: skip
TOKENS = ["", " ", "\t", "\n", "\r\n", "-1", "0", "1", "99999999999999999999", "1e400", "nan", "-",
          "\u2028", "\ufeff", "\x00", "é", "😀", "_", "|", ":", ";", "T1", "R1", "#", "*", "..", "'",
          '"', "<", ">", "&", "&lt;", "]]>", "{", "}", "True", "None", "a" * 5000]  # fmt: skip
VALUES: list[Any] = [None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, 1.5, -0.0, 1e308, "", " ",
                     "\x00", "\ud800", "é😀", "a" * 3000, [], {}, [[]], [{}], {"": ""}, [0, 0, ""],
                     [[0, 10**9]], [["x"]], {"id": None}]  # fmt: skip

Mutation = Callable[[bytes, random.Random], bytes]


def spoil_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return the data after one to four changes of bytes: flips, deletions, repeats, tokens."""
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice([1, 2, 8, 64, 512]))
        match rng.randrange(7):
            case 0:
                data = (
                    data[:start]
                    + bytes(b ^ (1 << rng.randrange(8)) for b in data[start:end])
                    + data[end:]
                )
            case 1:
                data = data[:start] + data[end:]
            case 2:
                data = data[:end] + data[start:end] * rng.choice([1, 3, 200]) + data[end:]
            case 3:
                data = data[:start]
            case 4:
                data = data[:start] + rng.choice(BYTES) + data[start:]
            case 5:
                data = data[:start] + rng.randbytes(end - start) + data[end:]
            case 6:
                data = data[:start] + rng.choice(BYTES) + data[end:]
    return data


def spoil_tokens(data: bytes, rng: random.Random) -> bytes:
    """Return a text after one to four changes of its words and punctuation."""
    text = data.decode("utf-8", errors="surrogateescape")
    parts = re.split(r"(\s|[<>=\"/,:;|{}\[\]#.-])", text)
    for _ in range(rng.randint(1, 4)):
        at, to = sorted(rng.randrange(len(parts)) for _ in range(2))
        match rng.randrange(6):
            case 0:
                parts[at] = rng.choice(TOKENS)
            case 1:
                parts[at] = rng.choice(parts)
            case 2:
                del parts[at : min(to, at + 20)]
            case 3:
                parts[at:at] = parts[at : min(to, at + 40)] * rng.choice([1, 2, 50])
            case 4:
                parts[at], parts[to] = parts[to], parts[at]
            case 5:
                parts.insert(at, rng.choice(TOKENS))
        if not parts:
            parts = [""]
    return "".join(parts).encode("utf-8", errors="surrogateescape")


def spoil_tree(value: Any, rng: random.Random, depth: int = 0) -> Any:
    """Return a tree of lists and dicts in which one value is changed, removed or repeated."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        if rng.random() < 0.05:
            return {**value, rng.choice(["", "id", "text", "x"]): rng.choice(VALUES)}
        return {**value, key: spoil_tree(value[key], rng, depth + 1)}
    if isinstance(value, list | tuple) and value and rng.random() < 0.85:
        index = rng.randrange(len(value))
        if rng.random() < 0.15:
            return [*value[:index], *value[index + 1 :]]
        if rng.random() < 0.15:
            return [*value[: index + 1], *value[index:]]
        return [*value[:index], spoil_tree(value[index], rng, depth + 1), *value[index + 1 :]]
    if isinstance(value, str) and value and rng.random() < 0.4:
        return spoil_tokens(value.encode(errors="surrogatepass"), rng).decode(errors="replace")
    if isinstance(value, bytes) and rng.random() < 0.7:
        return spoil_bytes(value, rng)
    if isinstance(value, int) and rng.random() < 0.5:
        return value + rng.choice([-(10**6), -1, 1, 5, 10**6, 10**12])
    if rng.random() < 0.03:
        for _ in range(rng.choice([5, 300, 3000])):
            value = [value]
        return value
    return rng.choice(VALUES)


def spoil_json(data: bytes, rng: random.Random) -> bytes:
    """Return a JSON file, or JSON lines with one changed line, after ``spoil_tree``."""
    rows = data.decode().splitlines()
    try:
        values = [json.loads(row) for row in rows]
    except ValueError:
        return _dumped(spoil_tree(json.loads(data), rng)).encode(errors="surrogatepass")
    row = rng.randrange(len(values))
    values[row] = spoil_tree(values[row], rng)
    return "\n".join(map(_dumped, values)).encode(errors="surrogatepass")


def _dumped(value: Any) -> str:
    """Return a value as JSON; a long run of brackets if it is nested too deeply."""
    try:
        return json.dumps(value)
    except (RecursionError, ValueError):
        return "[" * 5000


def spoil_docbin(data: bytes, rng: random.Random) -> bytes:
    """Return a DocBin whose unpacked message was changed and packed again."""
    message = srsly.msgpack_loads(zlib.decompress(data))
    changed = spoil_tree(message, rng)
    try:
        return zlib.compress(srsly.msgpack_dumps(changed))
    except (ValueError, TypeError, OverflowError, RecursionError, UnicodeEncodeError):
        return spoil_bytes(data, rng)


def spoil_packed(inner: Mutation) -> Mutation:
    """Return a mutation that applies ``inner`` inside gzip, or changes the packed bytes."""

    def spoil(data: bytes, rng: random.Random) -> bytes:
        """Apply ``inner`` to the unpacked data, or change the packed data."""
        if rng.random() < 0.3:
            return spoil_bytes(data, rng)
        return gzip.compress(inner(gzip.decompress(data), rng), 1)

    return spoil


def any_of(*ways: Mutation) -> Mutation:
    """Return a mutation that applies one of several at random."""

    def spoil(data: bytes, rng: random.Random) -> bytes:
        """Apply a random mutation."""
        return rng.choice(ways)(data, rng)

    return spoil
