"""External recommender of INCEpTION, asked as INCEpTION asks: JSON with a CAS and its types."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("starlette", reason="serve needs the extra web")
pytest.importorskip("cassis", reason="needs the extra inception")

import cassis

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

from textrank.web.api import AnnotationService, ServiceApp

TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
SENTENCE = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence"
ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
RELATION = "custom.Relation"
TEXT = "Die Ω🧬: MDM2 is phosphorylated by AKT1-kinase."


@pytest.fixture(scope="module")
def client(guarded: Callable[..., TestClient]) -> TestClient:
    return guarded(ServiceApp(AnnotationService("ppi")).app())


def make_cas(text: str = TEXT, entities: tuple[str, ...] = ()) -> Any:
    """A document with blank-separated tokens, layers as INCEpTION exports them."""
    types = cassis.TypeSystem()
    types.create_type(SENTENCE)
    types.create_type(TOKEN)
    entity = types.create_type(ENTITY)
    relation = types.create_type(RELATION)
    for layer, names in ((entity, ("value", "identifier")), (relation, ("label",))):
        for name in names:
            types.create_feature(layer, name, cassis.typesystem.TYPE_NAME_STRING)
            types.create_feature(layer, f"{name}_score", cassis.typesystem.TYPE_NAME_DOUBLE)
        types.create_feature(
            layer, "inception_internal_predicted", cassis.typesystem.TYPE_NAME_BOOLEAN
        )
    types.create_feature(relation, "Governor", ENTITY)
    types.create_feature(relation, "Dependent", ENTITY)
    cas = cassis.Cas(types)
    cas.sofa_string = text
    cas.sofa_mime = "text/plain"
    cas.add(types.get_type(SENTENCE)(begin=0, end=len(text)))
    start = 0
    for word in text.split(" "):
        cas.add(types.get_type(TOKEN)(begin=start, end=start + len(word)))
        start += len(word) + 1
    for name in entities:
        begin = text.index(name)
        cas.add(entity(begin=begin, end=begin + len(name), value="GENE"))
    return cas


def make_request(cas: Any, layer: str, feature: str, mode: str = "tokens") -> dict[str, Any]:
    return {
        "metadata": {
            "layer": layer,
            "feature": feature,
            "projectId": 1,
            "anchoringMode": mode,
            "crossSentence": False,
        },
        "document": {"xmi": cas.to_xmi(), "documentId": 1, "userId": "me"},
        "typeSystem": cas.typesystem.to_xml(),
    }


def predictions(response: Any, cas: Any, layer: str) -> list[Any]:
    assert response.status_code == 200, response.text
    answered = cassis.load_cas_from_xmi(response.json()["document"], typesystem=cas.typesystem)
    assert answered.sofa_string == cas.sofa_string
    return [a for a in answered.select(layer) if a.inception_internal_predicted]


def test_names_are_predicted_on_tokens_with_identifiers(client: TestClient) -> None:
    cas = make_cas()
    for mode, last in (("tokens", "AKT1-kinase."), ("characters", "AKT1-kinase")):
        request = make_request(cas, ENTITY, "identifier", mode)
        found = predictions(client.post("/inception/names/predict", json=request), cas, ENTITY)
        texts = {a.get_covered_text(): a.identifier for a in found}
        assert texts["MDM2"].startswith("https://www.ncbi.nlm.nih.gov/gene/")
        assert last in texts
    request = make_request(cas, ENTITY, "value")
    found = predictions(client.post("/inception/names/predict", json=request), cas, ENTITY)
    assert {a.value for a in found} == {"GENE"}
    assert all(0 < a.value_score <= 1 for a in found)


def test_relations_join_annotated_names_in_their_direction(client: TestClient) -> None:
    cas = make_cas(entities=("MDM2", "AKT1"))
    request = make_request(cas, RELATION, "label")
    path = "/token/secret-token/inception/relations/predict"
    (relation,) = predictions(client.post(path, json=request), cas, RELATION)
    assert relation.Governor.get_covered_text() == "AKT1"
    assert relation.Dependent.get_covered_text() == "MDM2"
    assert (relation.begin, relation.end) == (relation.Dependent.begin, relation.Dependent.end)
    assert relation.label == "phosphorylation"
    assert 0 < relation.label_score <= 1
    alone = make_cas(entities=("MDM2",))
    request = make_request(alone, RELATION, "label")
    response = client.post("/inception/relations/predict", json=request)
    assert predictions(response, alone, RELATION) == []


def test_a_model_without_relations_predicts_none(guarded: Callable[..., TestClient]) -> None:
    client = guarded(ServiceApp(AnnotationService("spelling")).app())
    cas = make_cas(entities=("MDM2", "AKT1"))
    response = client.post(
        "/inception/relations/predict", json=make_request(cas, RELATION, "label")
    )
    assert predictions(response, cas, RELATION) == []


def test_training_data_are_accepted_and_not_used(client: TestClient) -> None:
    for kind in ("names", "relations"):
        assert client.post(f"/inception/{kind}/train", json={}).status_code == 204


@pytest.mark.parametrize("case", ["empty", "layer", "feature", "xmi", "entities", "list"])
def test_a_wrong_request_is_refused(case: str, client: TestClient) -> None:
    request: Any = make_request(make_cas(), ENTITY, "value")
    if case == "empty":
        request = {}
    elif case == "list":
        request = []
    elif case in ("layer", "feature"):
        request["metadata"][case] = "custom.Missing"
    elif case == "xmi":
        request["document"]["xmi"] = "<x>"
    else:
        xmi = request["document"]["xmi"].partition("?>")[2]
        bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
        request["document"]["xmi"] = f"<?xml version='1.0'?>{bomb}{xmi}"
    response = client.post("/inception/names/predict", json=request)
    assert response.status_code == 422
    assert response.json()["error"]
