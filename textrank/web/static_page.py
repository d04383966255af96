"""A small result as one page that needs no server: table, facets, evidence, neighbourhoods."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from textrank.web.marks import trigger_places
from textrank.web.pages import assets, environment
from textrank.web.store import Store

LARGEST = 20_000  # statements of a page; more make a browser slow


def static_page(store: Store) -> str:
    """The page as HTML text; refused where the result is too large for it."""
    total = store.value("SELECT count(*) FROM pairs")
    if total > LARGEST:
        raise ValueError(
            f"{total} statements are too many for one page, which holds {LARGEST}. "
            "Explore them without --static."
        )
    sheets = [assets()[name] for name in ("base.css", "app.css")]
    style = "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    script = (files("textrank.web") / "assets" / "static.js").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return environment().get_template("static.html").render(
        title=store.title, policy=policy, style=Markup(style), script=Markup(script),
        data=Markup(harmless(_data(store))),
    )  # fmt: skip


def harmless(value: Any) -> str:
    """JSON that cannot end the element it stands in, whatever its texts hold.

    >>> harmless("</script>")
    '"\\\\u003c/script>"'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


_ROWS = """
SELECT p.a, p.b, p.key_a, p.document, p.name_a, p.name_b, p.probability, p.interacts, p.status,
  p.type, p.direction, p.year, parse_filename(p.source) AS source, p.start_a, p.end_a, p.start_b,
  p.end_b, s.trigger, s.sentence_start, s.sentence
FROM pairs p JOIN claims s ON s.document = p.document AND s.start_a = p.start_a
  AND s.end_a = p.end_a AND s.start_b = p.start_b AND s.end_b = p.end_b
ORDER BY p.interacts DESC, p.probability DESC NULLS LAST, p.row"""


def _data(store: Store) -> dict[str, Any]:
    rows = store.rows(_ROWS)
    for row in rows:
        start = row.pop("sentence_start")
        places = [(row.pop("start_a"), row.pop("end_a"), "e1")]
        places += [(row.pop("start_b"), row.pop("end_b"), "e2")]
        places += [(a, b, "trigger") for a, b in trigger_places(row.pop("trigger"))]
        known = places if start is not None else []
        row["marks"] = [[a - start, b - start, mark] for a, b, mark in known]
    entities = store.rows("SELECT key, label, id FROM entities")
    return {"rows": rows, "entities": {e.pop("key"): e for e in entities}}
