"""The client and the API's OpenAPI document fit: every address that it asks exists, every answer has its fields."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_origin

import pytest
from typing_extensions import NotRequired, get_type_hints, is_typeddict

from broker.access.access import Access
from broker.access.audit import Audit
from broker.answers import block, cube, layer, plan, predicate, query, refusal, stream, trace
from broker.client.client import Client
from broker.client.cubes import CubeClient
from broker.client.layers import LayerClient
from broker.config.sections import ApiConfig
from broker.http.app import create_app
from broker.http.scoped_service import Service

if TYPE_CHECKING:
    from conftest import Address

CALLS: dict[str, tuple[Any, ...]] = {
    "add": ("q", "n > 1"),
    "register": ({"id": "q", "where": "n > 1"},),
    "apply": ([{"id": "q", "where": "n > 1"}],),
    "apply_ndjson": (b"",),
    "loads": (),
    "list": (),
    "show": ("q",),
    "excluded_shapes": ("q",),
    "change": ("q", {"paused": True}),
    "pause": ("q",),
    "resume": ("q",),
    "remove": ("q",),
    "check": ("n > 1",),
    "test": ("n > 1",),
    "explain": ("q",),
    "trace": (),
    "ready": (),
    "wait_until_ready": (0,),
    "streams": (),
    "plans": (),
    "block": ("s", 0),
    "cubes.query": ("q", {"by": ["carrier"]}),
    "cubes.states": ("q", {"by": ["carrier"]}),
    "cubes.backfill": ("q",),
    "cubes.backfill_progress": ("q",),
    "cubes.dump": ("s", "cubes.sqlite"),
    "cubes.bins": ("q",),
    "cubes.rebin": ("q",),
    "cubes.lattice": ("q",),
    "cubes.optimise": ("q",),
    "cubes.lookups": (),
    "cubes.lookup": ("planes",),
    "cubes.put_lookup": ("planes", b"tailnum,seats\n", "tailnum"),
    "cubes.remove_lookup": ("planes",),
    "layers.list": (),
    "layers.show": ("z",),
    "layers.shapes": ("z",),
    "layers.shape": ("z", "a/b"),
    "layers.put": ("z", b""),
    "layers.remove": ("z", "a/b"),
}
ANSWER = {
    "queries": [],
    "cursor": None,
    "loads": [],
    "streams": [],
    "shapes": [],
    "layers": [],
    "lookups": [],
    "ready": True,
}

NAMED_OTHERWISE = {
    "Query": "QueryModel",
    "PlainQuery": "PlainQueryModel",
    "Registered": "RegisteredModel",
    "PreviousQuery": "PreviousModel",
    "Removed": "RemovedModel",
    "Join": "JoinBody",
    "CheckedPredicate": "CheckedModel",
    "Explanation": "ExplanationModel",
    "Trace": "TraceModel",
    "Ready": "ReadyModel",
}
"""Answers that the API describes by models, for these have an operator as the union of all kinds."""


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(cast("Service", None), Access(), ApiConfig(), Audit()).openapi()


def test_every_method_is_called_here() -> None:
    def methods(owner: type, prefix: str = "") -> set[str]:
        return {f"{prefix}{name}" for name, _ in inspect.getmembers(owner, inspect.isfunction) if name[0] != "_"}

    assert {*methods(Client), *methods(CubeClient, "cubes."), *methods(LayerClient, "layers.")} - {"close"} == set(
        CALLS
    )


@pytest.mark.parametrize("call", CALLS)
def test_every_address_that_the_client_asks_is_in_the_document(
    call: str, address: Address, document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A file is saved where the client runs.
    monkeypatch.chdir(tmp_path)
    answer = json.dumps({**ANSWER, "streams": {}} if call == "plans" else ANSWER).encode()
    address.will_answer(200, answer, Content_Length=str(len(answer)))
    with Client(address.url) as client:
        owner: Any = client
        *folders, name = call.split(".")
        for folder in folders:
            owner = getattr(owner, folder)
        found = getattr(owner, name)(*CALLS[call])
        if inspect.isgenerator(found):
            assert list(found) == []
    ((verb, path),) = address.asked
    bare, _, parameters = path.partition("?")
    templates = [one for one in document["paths"] if re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", one), bare)]
    operations = [document["paths"][one][verb.lower()] for one in templates if verb.lower() in document["paths"][one]]
    assert operations, (verb, path)
    known = {one["name"] for operation in operations for one in operation.get("parameters", ())}
    assert {one.partition("=")[0] for one in parameters.split("&") if one} <= known


def test_the_filters_of_a_list_are_those_of_the_document(document: dict[str, Any]) -> None:
    known = {one["name"] for one in document["paths"]["/v1/queries"]["get"]["parameters"]}
    own = set(inspect.signature(Client.list).parameters) - {"self", "page_size"}
    assert own | {"limit", "cursor"} == known


ANSWERS = [
    one
    for module in (block, cube, layer, plan, predicate, query, refusal, stream, trace)
    for one in vars(module).values()
    if is_typeddict(one) and one.__module__ == module.__name__
]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda one: str(one.__name__))
def test_an_answer_has_the_fields_of_the_document(answer: Any, document: dict[str, Any]) -> None:
    name = NAMED_OTHERWISE.get(answer.__name__, answer.__name__)
    described = document["components"]["schemas"][name]
    hints = get_type_hints(answer, include_extras=True)
    assert set(described["properties"]) == set(hints)
    if name == answer.__name__:
        required = {field for field, hint in hints.items() if get_origin(hint) is not NotRequired}
        assert set(described.get("required", ())) == required
