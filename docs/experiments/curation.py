"""Write BioRED as a corpus of gene pairs for `textrank replay` and `textrank transfer`.

    python docs/experiments/curation.py train.pubtator.gz biored-pairs.jsonl

BioRED relates genes by identifier in a whole abstract. Here a pair of gene mentions is positive if
the abstract relates their identifiers, whatever the sentence says: about every pair in a sentence
that could have been the reason. So the labels are noisier than those of corpora of sentences.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

GENE = "GeneOrGeneProduct"


def convert_abstract(block: str) -> dict[str, object]:
    """Return one abstract in PubTator format as a JSON object with entities and pairs."""
    document, parts, entities, relations = "", [], [], set()
    for line in block.strip().splitlines():
        if "|t|" in line[:15] or "|a|" in line[:15]:
            document, _, text = line.split("|", 2)
            parts.append(text)
            continue
        fields = line.split("\t")
        if len(fields) == 6 and fields[4] == GENE:
            entities.append((int(fields[1]), int(fields[2]), set(fields[5].split(","))))
        elif len(fields) == 5:
            relations.add(frozenset(fields[2:4]))
    spans = [
        {"id": f"e{i}", "label": "protein", "pieces": [[start, end]]}
        for i, (start, end, _) in enumerate(entities)
    ]
    pairs = [
        {"entities": [f"e{j}", f"e{i}"], "label": True}
        for i, (_, _, one) in enumerate(entities)
        for j, (_, _, other) in enumerate(entities[:i])
        if any(frozenset((a, b)) in relations for a in one for b in other)
    ]
    return {"id": document, "text": " ".join(parts), "entities": spans, "relations": pairs}


def main() -> None:
    """Convert the file in the first argument to the one in the second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    with gzip.open(arguments.source, "rt", encoding="utf-8") as stream:
        blocks = [block for block in stream.read().split("\n\n") if block.strip()]
    lines = [json.dumps(convert_abstract(block), ensure_ascii=False) for block in blocks]
    arguments.target.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
