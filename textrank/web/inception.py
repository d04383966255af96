"""External recommender for INCEpTION: suggests names and relations in documents being annotated.

INCEpTION sends a document as UIMA CAS (XMI with its type system) to ``URL/predict`` and expects the
CAS back with predictions: annotations with ``inception_internal_predicted``, the value of the
feature and, where the type has them, score and explanation. ``URL/train`` is answered without
content, since models are trained by ``textrank train`` and ``curate``.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from textrank.candidates import get_answers
from textrank.formats.base import Mention
from textrank.web.api import MAX_TEXT_CHARACTERS, ApiError, InputDocument, read_json

if TYPE_CHECKING:
    from textrank.web.api import ServiceApp

TOKEN_TYPE = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
NAMED_ENTITY_TYPE = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
PREDICTED = "inception_internal_predicted"
IDENTIFIER_FEATURES = ("identifier", "kb_id", "concept")  # get the identifier, others the label
GENE_URL = "https://www.ncbi.nlm.nih.gov/gene/"  # INCEpTION's knowledge bases use addresses


class InceptionRecommender:
    """Routes ``names/predict``, ``relations/predict`` and ``…/train``.

    ``app`` has the annotation service, the limit of requests and the timeout.
    """

    def __init__(self, app: ServiceApp) -> None:
        """Keep the application that annotates; nothing is loaded."""
        self.app = app

    def routes(self) -> list[Route]:
        """Return the routes, relative to the address that INCEpTION is given.

        They are ``/names`` and ``/relations``, each with ``/predict`` and ``/train``; all take
        POST.
        """
        return [
            Route("/names/predict", self.predict_names, methods=["POST"]),
            Route("/relations/predict", self.predict_relations, methods=["POST"]),
            Route("/names/train", self.train, methods=["POST"]),
            Route("/relations/train", self.train, methods=["POST"]),
        ]

    async def train(self, request: Request) -> Response:
        """Accept training data without using it: status 204; ApiError if the body is not JSON."""
        await read_json(request)
        return Response(status_code=204)

    async def predict_names(self, request: Request) -> Response:
        """Answer a request with its CAS, with a prediction for each recognised name."""
        return await self._predict(request, is_relation=False)

    async def predict_relations(self, request: Request) -> Response:
        """Answer a request with its CAS, with a prediction for each relation between its names.

        Only names that are annotated in the CAS, and not predictions, can be joined.
        """
        return await self._predict(request, is_relation=True)

    async def _predict(self, request: Request, *, is_relation: bool) -> Response:
        """Answer a request with ``{"document": XMI of the CAS with the predictions}``.

        ``is_relation`` predicts relations, else names. Raises ApiError as ``parse_request`` and
        ``ServiceApp.run`` and ``admit`` do, and TimeoutError after the timeout of the application.
        """
        content = await read_json(request)
        deadline = time.monotonic() + self.app.timeout

        def work() -> str:
            """Read the CAS, annotate its text, add predictions and write it."""
            cas, layer, feature, mode = parse_request(content)
            if is_relation:
                self._add_relations(cas, layer, feature, deadline)
            else:
                self._add_names(cas, layer, feature, mode, deadline)
            return str(cas.to_xmi())

        async with self.app.admit():
            return JSONResponse({"document": await self.app.run(work)})

    def _add_names(self, cas: Any, layer: str, feature: str, mode: str, deadline: float) -> None:
        """Add the recognised names of the text to the CAS, in place, as predictions of a layer.

        ``feature`` gets the identifier of a name if it is one of ``IDENTIFIER_FEATURES``, else its
        label; names without one are left out. With ``mode`` "tokens" they are widened to tokens of
        the CAS. ``deadline`` and its errors are those of ``annotate_docs``. Raises ApiError 422 if
        the layer or feature is missing.
        """
        annotation_type = _get_type(cas, layer, (feature,))

        def to_names(doc: Doc) -> list[tuple[int, int, str, float | None]]:
            """Return start, end, value and probability of the names."""
            return [
                (span.start_char, span.end_char, *_name_value(span, feature))
                for span in doc.spans.get("entities", ())
            ]

        document = InputDocument("cas", cas.sofa_string or "")
        (names,) = self.app.service.annotate_docs([document], to_names, deadline=deadline)
        boundaries = _token_boundaries(cas) if mode == "tokens" else None
        for start, end, value, probability in names:
            if value:
                start, end = _expand(start, end, boundaries)
                fields = {"begin": start, "end": end, feature: value}
                cas.add(_build_prediction(annotation_type, fields, feature, probability))

    def _add_relations(self, cas: Any, layer: str, feature: str, deadline: float) -> None:
        """Add the interactions between the names of the CAS to it, as predictions of a layer.

        Names are the annotations of ``_list_ends``; fewer than two add nothing, since a relation
        needs ends. Only pairs that the model decides interact are added, from Governor to Dependent
        in the order of their direction; the explanation is their status. ``feature`` gets the type
        of the interaction, or "yes". A model whose task states no facts adds nothing. ``deadline``
        and its errors are those of ``annotate_docs``. Raises ApiError 422 if the layer or a feature
        is missing.
        """
        relation_type = _get_type(cas, layer, (feature, "Governor", "Dependent"))
        ends = _list_ends(cas, relation_type)
        mentions = tuple(
            Mention(str(number), "GENE", ((end.begin, end.end),)) for number, end in enumerate(ends)
        )
        service = self.app.service
        if len(mentions) < 2 or not service.states_facts:
            return
        document = InputDocument("cas", cas.sofa_string or "", mentions)
        by_span = {(end.begin, end.end): end for end in ends}
        (rows,) = service.annotate_docs(
            [document], lambda doc: get_answers(doc, service.task) or [], deadline=deadline
        )
        for row in rows:
            pair = [by_span[start, end] for start, end in row["spans"] if (start, end) in by_span]
            if not row["interacts"] or len(pair) < 2:
                continue
            source, target = pair if row.get("direction") != "b>a" else pair[::-1]
            fields = {"begin": target.begin, "end": target.end}
            fields |= {"Governor": source, "Dependent": target, feature: row.get("type") or "yes"}
            note = row.get("status")
            probability = row.get("probability")
            cas.add(_build_prediction(relation_type, fields, feature, probability, note))


def parse_request(content: Any) -> tuple[Any, str, str, str]:
    """Return CAS, layer, feature and anchoring mode of a request of INCEpTION.

    ``content`` is the parsed JSON; a missing mode is "". Raises ApiError 422 if a key is missing,
    the XML is unsafe or not a CAS, or the text is too long, and ApiError 501 if dkpro-cassis is not
    installed.
    """
    try:
        from cassis import load_cas_from_xmi, load_typesystem
    except ModuleNotFoundError:
        message = "install dkpro-cassis: pip install 'textrank-kernels[inception]'."
        raise ApiError(501, message) from None
    try:
        metadata, xmi = content["metadata"], content["document"]["xmi"]
        layer, feature = str(metadata["layer"]), str(metadata["feature"])
        mode = str(metadata.get("anchoringMode") or "")
        type_system = content["typeSystem"]
        for xml in (xmi, type_system):
            _check_xml(xml)
        cas = load_cas_from_xmi(xmi, typesystem=load_typesystem(type_system))
        text = cas.sofa_string or ""
    except (KeyError, TypeError, AttributeError) as error:
        message = f"not a request of INCEpTION ({type(error).__name__}: {error!s:.60})."
        raise ApiError(422, message) from None
    except ApiError:
        raise
    except Exception as error:  # of cassis and lxml, which raise many kinds
        raise ApiError(422, f"the CAS cannot be read ({error!s:.80}).") from None
    if len(text) > MAX_TEXT_CHARACTERS:
        raise ApiError(422, f"the text has more than {MAX_TEXT_CHARACTERS:,} characters.")
    return cas, layer, feature, mode


def _check_xml(text: str) -> None:
    """Raise ApiError 422 for XML with a DTD or entity declarations, which cassis would expand.

    XML that is not well-formed raises the parser's error.
    """
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        fromstring(text.encode("utf-8"), forbid_dtd=True)
    except DefusedXmlException:
        raise ApiError(422, "the XML declares entities or a DTD. Send a plain CAS.") from None


def _get_type(cas: Any, layer: str, features: Sequence[str]) -> Any:
    """Return the type of a layer; raise ApiError 422 if it or one of its features is missing."""
    if not cas.typesystem.contains_type(layer):
        raise ApiError(422, f"the type system has no layer {layer[:100]!r}.")
    annotation_type = cas.typesystem.get_type(layer)
    for name in features:
        if annotation_type.get_feature(name) is None:
            raise ApiError(422, f"the layer {layer[:100]!r} has no feature {name[:60]!r}.")
    return annotation_type


def _build_prediction(
    annotation_type: Any,
    fields: Mapping[str, Any],
    feature: str,
    probability: float | None,
    explanation: str | None = None,
) -> Any:
    """Return a new annotation marked as a prediction; it is not added to the CAS.

    ``fields`` are its features. ``probability`` and ``explanation``, unless None, are set where the
    type has the features ``<feature>_score`` and ``<feature>_score_explanation``.
    """
    extra: dict[str, Any] = {PREDICTED: True, f"{feature}_score": probability}
    extra[f"{feature}_score_explanation"] = explanation
    known = {
        name: value
        for name, value in extra.items()
        if value is not None and annotation_type.get_feature(name) is not None
    }
    return annotation_type(**fields, **known)


def _name_value(span: Any, feature: str) -> tuple[str, float | None]:
    """Return the value of a feature for a name, and its probability or None.

    The value is the identifier for ``IDENTIFIER_FEATURES``, that of an NCBI gene as an address, and
    the label for other features; "" if the name has none.
    """
    probability = (
        span._.get("textrank_probability") if span.has_extension("textrank_probability") else None
    )
    if feature.lower() not in IDENTIFIER_FEATURES:
        return span.label_, probability
    prefix, _, local = span.kb_id_.partition(":")
    value = f"{GENE_URL}{local}" if prefix == "ncbigene" else span.kb_id_
    return value, probability


def _list_ends(cas: Any, relation_type: Any) -> list[Any]:
    """Return the annotations that relations can join, in text order, one per span.

    They are of the type of the feature ``Governor``, or named entities if that is any annotation.
    Predictions of a recommender and empty spans are left out; of annotations with one span the last
    counts. [] if the type system lacks the type.
    """
    range_type = relation_type.get_feature("Governor").rangeType
    name = getattr(range_type, "name", str(range_type))
    if name in ("uima.tcas.Annotation", "uima.cas.AnnotationBase", "uima.cas.TOP"):
        name = NAMED_ENTITY_TYPE
    if not cas.typesystem.contains_type(name):
        return []
    ends = {
        (end.begin, end.end): end
        for end in cas.select(name)
        if end.begin < end.end and not getattr(end, PREDICTED, False)
    }
    return [ends[span] for span in sorted(ends)]


def _token_boundaries(cas: Any) -> list[tuple[int, int]] | None:
    """Return the tokens of a CAS as (begin, end) in text order; None if it has none."""
    if not cas.typesystem.contains_type(TOKEN_TYPE):
        return None
    return sorted((token.begin, token.end) for token in cas.select(TOKEN_TYPE)) or None


def _expand(start: int, end: int, tokens: list[tuple[int, int]] | None) -> tuple[int, int]:
    """Return a span widened to the tokens that it begins and ends in, as INCEpTION's layers need.

    ``tokens`` are those of ``_token_boundaries``. With None the span is returned as it is, and so
    is an end outside of all tokens.
    """
    from bisect import bisect_left, bisect_right

    if tokens is None:
        return start, end
    first = bisect_right(tokens, (start, float("inf"))) - 1
    last = bisect_left(tokens, (end, -1)) - 1
    if first < 0 or last < first:
        return start, end
    begins_inside = tokens[first][0] <= start < tokens[first][1]
    ends_inside = tokens[last][0] < end <= tokens[last][1]
    return tokens[first][0] if begins_inside else start, tokens[last][1] if ends_inside else end
