"""Writes corpus.jsonl: short texts on five topics, from a grammar of our own sentences."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

GRAMMAR = {
    "cooking": (
        ["The cook", "My aunt", "Our neighbour", "The baker", "A student of mine", "The chef"],
        ["simmered the onions", "kneaded the dough", "roasted a chicken", "whisked two eggs",
         "peeled the potatoes", "stirred the risotto", "salted the broth", "baked a rye loaf"],
        ["in a heavy pan", "with butter and thyme", "until the crust was brown",
         "for the whole table", "before the oven was hot", "with too much pepper"],
    ),
    "gardening": (
        ["The gardener", "My uncle", "An old lady", "The caretaker", "A boy from the village",
         "The nursery"],
        ["pruned the roses", "dug over the beds", "planted three apple trees", "weeded the carrots",
         "watered the seedlings", "raked the leaves", "grafted a pear", "sowed beans"],
        ["along the fence", "with a blunt spade", "in the heavier soil", "under the hedge",
         "between the rows of lettuce", "near the compost"],
    ),
    "music": (
        ["The quartet", "A young singer", "The organist", "Our choir", "The drummer",
         "Her teacher"],
        ["rehearsed the slow movement", "tuned the second violin", "sang the refrain twice",
         "improvised over a waltz", "transposed the aria", "recorded a new album",
         "played the opening chords", "missed the last bar"],
        ["in a minor key", "without a score", "for a full hall", "on a borrowed instrument",
         "at half the tempo", "before the encore"],
    ),
    "sailing": (
        ["The skipper", "The crew", "A fisherman", "The helmsman", "Two sailors",
         "The harbour master"],
        ["reefed the mainsail", "dropped the anchor", "rounded the buoy", "hoisted the jib",
         "tacked towards the pier", "steered by the compass", "moored the yacht",
         "mended the rigging"],
        ["off the lighthouse", "in a choppy sea", "close to the rocks", "with the tide behind",
         "on the starboard side", "at the mouth of the estuary"],
    ),
    "weather": (
        ["The forecast", "A cold front", "The first storm", "Thick fog", "A week of frost",
         "The south wind"],
        ["brought heavy rain", "promised clear skies", "lowered the temperature",
         "drove the clouds away", "ended the drought", "left snow on the hills",
         "turned into hail", "hid the sun"],
        ["by the evening", "over the whole coast", "for the third day", "with gusts after noon",
         "earlier than usual", "in the northern valleys"],
    ),
    "": (
        ["The committee", "A letter", "The old house", "My sister", "The manager", "The report"],
        ["arrived on a Tuesday", "was sold last year", "has never been explained",
         "asked for a second opinion", "cost more than expected", "was mentioned twice"],
        ["without any reason", "as far as I know", "which nobody had foreseen",
         "in spite of the rules", "to everyone's relief", "and that was all"],
    ),
}  # fmt: skip
TOPICS = [topic for topic in GRAMMAR if topic]


def sentences(topic: str, rng: np.random.Generator) -> list[str]:
    """All sentences of a topic in random order; none is used twice."""
    who, what, how = GRAMMAR[topic]
    found = [f"{a} {b} {c}." for a in who for b in what for c in how]
    return [found[i] for i in rng.permutation(len(found))]


def documents(count: int = 60) -> list[dict[str, object]]:
    """Texts on no topic, one or two, a sentence off the topic in many."""
    rng = np.random.default_rng(5)
    left = {topic: sentences(topic, rng) for topic in GRAMMAR}
    rows = []
    for number in range(count):
        topics = sorted(rng.choice(TOPICS, [0, 1, 1, 1, 2][number % 5], replace=False).tolist())
        told = [left[topic].pop() for topic in topics]
        told += [left[""].pop() for _ in range(2)]
        order = rng.permutation(len(told))
        text = " ".join(told[i] for i in order)
        rows.append({"id": f"text{number}", "text": text, "topics": topics})
    return rows


if __name__ == "__main__":
    lines = "".join(json.dumps(row) + "\n" for row in documents())
    Path(__file__).with_name("corpus.jsonl").write_text(lines, encoding="utf-8")
