"""The all-paths kernel on the research corpora: sizes, cycles, a graph that diverges."""

from __future__ import annotations

import numpy as np
import pytest
import spacy

from tests.kernels.graph_references import label_pairs, path_weights
from textrank.candidates import Candidate
from textrank.formats.research import PPIXML
from textrank.kernels.graphs import AllPathsGraph
from textrank.tasks.ppi.graphs import DependencyGraph

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


def candidates(path):
    out = []
    for doc in PPIXML(str(path))(spacy.blank("en")):
        spans = {span.id_: span for span in doc.spans["entities"]}
        for pair in doc.user_data["gold"]:
            out.append(
                Candidate(doc, tuple(spans[e] for e in pair["entities"]), doc.user_data["document"])
            )
    return out


def test_features_of_lll_equal_the_definition(data):
    graphs = DependencyGraph()(candidates(data / "ppi" / "LLL.xml.gz"))
    F = AllPathsGraph().features(graphs)
    assert F.values.shape == (330, 96_232)
    names = list(F.names)
    for i in range(0, 330, 11):
        expected = label_pairs(graphs[i], path_weights(graphs[i]), "max")
        row = F.values[[i]].tocoo()
        found = {names[c]: v for c, v in zip(row.col, row.data, strict=True)}
        assert found.keys() == expected.keys()
        np.testing.assert_allclose(
            [found[name] for name in expected], list(expected.values()), rtol=1e-10
        )


@pytest.mark.parametrize(("corpus", "diverging"), [("AImed", 0), ("IEPA", 0), ("BioInfer", 4)])
def test_diverging_graphs_are_counted_and_have_positive_weights(data, corpus, diverging):
    graphs = DependencyGraph(parts=["dependency"])(candidates(data / "ppi" / f"{corpus}.xml.gz"))
    kernel = AllPathsGraph()
    assert kernel.count_diverging(graphs) == diverging
    F = kernel.features(graphs)
    assert F.values.data.min() > kernel.threshold
    assert np.isfinite(F.values.data).all()
