"""Training of the submodels of statements: the solver and the reader of signs."""

from __future__ import annotations

import gzip
import json

import numpy as np
import scipy.sparse as sp
import spacy
from workshop.statements import read_signed_regulation, solve_ridge

ROWS = [
    {
        "id": "1:0:AR:KLK3",
        "text": "AR activates KLK3.",
        "factor": [0, 2],
        "target": [13, 17],
        "sign": "activation",
    },
    {
        "id": "2:0:REST:BDNF",
        "text": "BDNF is repressed by REST.",
        "factor": [21, 25],
        "target": [0, 4],
        "sign": "repression",
    },
]


def test_the_solver_agrees_with_the_normal_equations() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 6)), np.sign(rng.normal(size=(30, 2)))
    weights = rng.uniform(0.2, 2.0, size=(30, 2))
    weights[:5, 1] = 0.0  # rows that the second model does not see
    W = solve_ridge(sp.csr_array(X), Y, weights, alpha=0.5)
    for column in range(2):
        w = weights[:, column]
        expected = np.linalg.solve(
            X.T @ (w[:, None] * X) + 0.5 * np.eye(6), X.T @ (w * Y[:, column])
        )
        np.testing.assert_allclose(W[:, column], expected, rtol=1e-6)


def test_signs_become_types_with_a_direction_from_factor_to_target(tmp_path) -> None:
    path = tmp_path / "signs.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in ROWS)
    first, second = read_signed_regulation(path, spacy.blank("en"))
    assert [doc.user_data["origin"] for doc in (first, second)] == ["1", "2"]
    for doc, kind in ((first, "activation"), (second, "inhibition")):
        [row] = doc.user_data["gold"]
        assert (row["type"], row["direction"]) == (kind, "a>b")
    names = {span.id_: span.text for span in second.spans["entities"]}
    assert [names[i] for i in second.user_data["gold"][0]["entities"]] == ["REST", "BDNF"]
