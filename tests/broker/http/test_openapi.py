"""The OpenAPI document: every field has a type, operators are a union by name, and nothing points into nowhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

import pytest

from broker.access.access import Access
from broker.access.audit import Audit
from broker.config.sections import ApiConfig
from broker.http.app import create_app
from broker.http.scoped_service import Service
from broker.operators.kinds import OPERATORS, ROUTE, kept_bodies

OF_USERS = {
    "CubeQuestion.within",
    "ExplainBody.tuple",
    "TraceBody.tuple",
    "TraceModel.tuple",
    "LayerFeature.geometry",
    "LayerFeature.properties",
    "put /v1/layers/{name}/shapes/{shape_id} body",
}
"""Objects whose fields the user names: a record of a stream, a GeoJSON Feature, measures."""

TYPED = {"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"}


def described(access: Access | None = None) -> dict[str, Any]:
    return create_app(cast("Service", None), access or Access(), ApiConfig(), Audit()).openapi()


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return described()


def untyped(schema: dict[str, Any], place: str) -> Iterator[str]:
    """The places in a schema where anything may be."""
    is_open = schema.get("additionalProperties") is True
    is_bare = schema.get("type") == "object" and not {"properties", "additionalProperties"} & schema.keys()
    if not TYPED & schema.keys() or is_open or is_bare or (schema.get("type") == "array" and "items" not in schema):
        yield place
    for name in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(name, ()):
            yield from untyped(each, place)
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield from untyped(schema[name], f"{place}.{name}")
    for name, each in schema.get("properties", {}).items():
        yield from untyped(each, f"{place}.{name}")


def schemas(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """All schemas of a document, each with its place."""
    yield from document["components"]["schemas"].items()
    for path, operations in document["paths"].items():
        for verb, operation in operations.items():
            for parameter in operation.get("parameters", ()):
                yield f"{verb} {path} {parameter['name']}", parameter["schema"]
            bodies = {"body": operation.get("requestBody") or {}, **operation["responses"]}
            for name, body in bodies.items():
                for kind, content in body.get("content", {}).items():
                    if kind != "text/plain":
                        yield f"{verb} {path} {name}", content.get("schema", {})


def test_every_field_has_a_type(document: dict[str, Any]) -> None:
    found = {place for name, schema in schemas(document) for place in untyped(schema, name)}
    assert found == OF_USERS


def test_an_untyped_field_is_found() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {"type": "array"}, "c": {"anyOf": [{"type": "object"}]}}}
    assert list(untyped(schema, "X")) == ["X.a", "X.b", "X.c"]


def test_operators_are_a_union_by_name(document: dict[str, Any]) -> None:
    known = document["components"]["schemas"]
    for model in ("QueryBody", "QueryChange", "QueryModel"):
        union, none = known[model]["properties"]["operator"]["anyOf"]
        assert none == {"type": "null"}
        assert union["discriminator"]["propertyName"] == "name"
        assert set(union["discriminator"]["mapping"]) == {ROUTE, *OPERATORS}
    near = known["NearBody"]["properties"]
    assert (near["distance_m"]["type"], near["distance_m"]["minimum"], near["every_s"]["minimum"]) == ("number", 0, 0.1)
    assert near["summary"]["readOnly"] is True
    assert known["EventsBody"]["properties"]["events"]["items"]["enum"] == ["enter", "exit", "lost"]


def test_what_is_kept_is_a_union_by_name(document: dict[str, Any]) -> None:
    known = document["components"]["schemas"]
    union, none = known["QueryModel"]["properties"]["kept"]["anyOf"]
    assert none == {"type": "null"}
    assert union["discriminator"]["propertyName"] == "name"
    assert set(union["discriminator"]["mapping"]) == {*kept_bodies()}
    cube = known["CubeKept"]
    assert set(cube["required"]) == {"name", "cells", "bytes", "whole"}
    assert cube["properties"]["gaps"]["items"] == {"$ref": "#/components/schemas/CubeGap"}


def test_every_reference_is_there_and_no_answer_is_422(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    assert set(re.findall(r'"#/components/schemas/([^"]+)"', text)) <= set(document["components"]["schemas"])
    assert "#/$defs" not in text
    assert '"422"' not in text
    assert "ValidationError" not in text
    assert not [path for path in document["paths"] if path.startswith(("/v1/near", "/v1/joins"))]


def test_a_token_is_asked_for_but_for_the_health(document: dict[str, Any]) -> None:
    assert "securitySchemes" not in document["components"]
    own = described(Access("a-secret-of-many-characters"))
    assert own["components"]["securitySchemes"] == {"bearer": {"type": "http", "scheme": "bearer"}}
    assert own["paths"]["/v1/queries"]["get"]["security"] == [{"bearer": []}]
    assert "security" not in own["paths"]["/readyz"]["get"]
