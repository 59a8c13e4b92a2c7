"""Look-ups over HTTP: stored, shown, removed and audited; what is refused, and to whom."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient

from broker.access.access import Access
from broker.access.audit import Audit
from broker.access.scope import Scope
from broker.access.secret import digest
from broker.config.sections import ApiConfig
from broker.http.app import create_app

if TYPE_CHECKING:
    from conftest import Resting
    from httpx import Response

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

PLANES = b"tailnum,manufacturer,seats\nN1,BOEING,180\nN2,AIRBUS,150\n"
TOKENS = {
    "all": Scope("all"),
    "reader": Scope("reader", read_only=True),
    "ops": Scope("ops", id_prefix="ops-"),
    "one": Scope("one", streams=frozenset({"json"})),
}


@pytest.fixture(scope="module")
def name() -> str:
    return f"planes_{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="module")
def audit_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lookups") / "audit.ndjson"


@pytest.fixture(scope="module")
def tokens(resting: Resting, audit_file: Path) -> Iterator[TestClient]:
    access = Access(named={digest(token): scope for token, scope in TOKENS.items()})
    app = create_app(resting, access, ApiConfig(requests_per_s=1e6), Audit(audit_file))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def put(
    api: TestClient, name: str, content: bytes, *, token: str = "all", kind: str = "text/csv", **params: Any
) -> Response:
    headers = {"content-type": kind, "authorization": f"Bearer {token}"}
    return api.put(f"/v1/cube/lookups/{name}", content=content, headers=headers, params={"key": "tailnum", **params})


def get(api: TestClient, path: str = "", token: str = "reader") -> Response:
    return api.get(f"/v1/cube/lookups{path}", headers={"authorization": f"Bearer {token}"})


def test_a_look_up_is_stored_shown_and_removed_and_audited(tokens: TestClient, name: str, audit_file: Path) -> None:
    answer = put(tokens, name, PLANES)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["attributes"] == [{"name": "manufacturer", "type": "STRING"}, {"name": "seats", "type": "INT"}]
    assert (found["rows"], found["key"], found["topic"]) == (2, "tailnum", f"asc.lookup.{name}")
    assert get(tokens, f"/{name}").json() == found
    assert found in get(tokens, token="ops").json()["lookups"]
    sink = io.BytesIO()
    pq.write_table(pa.table({"tailnum": ["N1"], "seats": [7]}), sink)
    again = put(tokens, name, sink.getvalue(), kind="application/vnd.apache.parquet").json()
    assert (again["rows"], again["attributes"]) == (1, [{"name": "seats", "type": "BIGINT"}])
    assert again["version"] > found["version"]
    headers = {"authorization": "Bearer all"}
    assert tokens.delete(f"/v1/cube/lookups/{name}", headers=headers).json() == {"removed": name}
    gone = tokens.delete(f"/v1/cube/lookups/{name}", headers=headers)
    assert gone.status_code == get(tokens, f"/{name}").status_code == 404
    assert f"look-up '{name}': is not there" in gone.json()["error"]["message"]
    lines = [json.loads(line) for line in audit_file.read_text().splitlines()]
    assert [(line["verb"], line["lookup"], line["outcome"], line.get("rows")) for line in lines] == [
        ("lookup", name, "put", 2),
        ("lookup", name, "put", 1),
        ("lookup", name, "removed", None),
    ]


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("reader", "token 'reader': may only read"),
        ("ops", "is everybody's: token 'ops' does not see all queries"),
        ("one", "is everybody's: token 'one' does not see all queries"),
    ],
)
def test_a_token_that_may_not_write_or_does_not_see_all_changes_no_look_up(
    tokens: TestClient, name: str, token: str, said: str
) -> None:
    removed = tokens.delete(f"/v1/cube/lookups/{name}", headers={"authorization": f"Bearer {token}"})
    for answer in (put(tokens, name, PLANES, token=token), removed):
        assert answer.status_code == 403, answer.text
        assert said in answer.json()["error"]["message"]


def test_a_table_without_its_key_says_what_the_key_is(tokens: TestClient) -> None:
    headers = {"content-type": "text/csv", "authorization": "Bearer all"}
    answer = tokens.put("/v1/cube/lookups/planes", content=PLANES, headers=headers)
    assert answer.status_code == 400
    said = "missing field 'key': give it in the address, the column with the keys, which has the name of the dimension"
    assert answer.json()["error"]["message"] == said


@pytest.mark.parametrize(
    ("content", "more", "status", "said"),
    [
        (PLANES + b"N1,x,1\n", {}, 400, "key 'N1': of look-up 'planes' is in line 2 and in line 4: keep one of them"),
        (PLANES + b"N3\n", {}, 400, "line 4 has 1 fields, the header 3; mend or remove it"),
        (PLANES, {"key": "tail"}, 400, "key 'tail': is no column of look-up 'planes'"),
        (b"", {}, 400, "no usable header in look-up 'planes'"),
        (b"\xff,a\n", {}, 400, "not readable as CSV"),
        (PLANES, {"kind": "application/json"}, 415, "send text/csv or application/vnd.apache.parquet"),
        (PLANES, {"kind": "application/vnd.apache.parquet"}, 400, "is no Parquet that can be read"),
        (PLANES, {"more": "1"}, 400, "parameter 'more': is not known"),
    ],
)
def test_a_refusal_is_one_line(
    tokens: TestClient, content: bytes, more: dict[str, str], status: int, said: str
) -> None:
    answer = put(tokens, "planes", content, **more)
    assert answer.status_code == status, answer.text
    message = answer.json()["error"]["message"]
    assert said in message
    assert "\n" not in message
    assert put(tokens, "Planes", PLANES).status_code == 400


def test_an_attribute_named_like_a_dimension_of_a_registered_cube_is_refused(
    tokens: TestClient, resting: Resting
) -> None:
    cube = {"name": "cube", "dimensions": [["place.city"]], "measures": ["count(*)"], "grain_s": 60}
    stream, own = resting.stream("json"), f"c{uuid.uuid4().hex[:8]}"
    body = {"id": own, "where": "true", "stream": stream, "operator": cube, "topic": f"out-{own}"}
    headers = {"authorization": "Bearer all"}
    assert tokens.post("/v1/queries", json=body, headers=headers).status_code == 201
    try:
        answer = put(tokens, "place", b"n,City\n1,x\n", key="n")
        assert answer.status_code == 400
        said = f"attribute 'place.City': is named like a dimension of cube '{own}': rename the attribute"
        assert said in answer.json()["error"]["message"]
        # No query writes to the topic of a look-up.
        body = {"id": f"{own}2", "where": "true", "stream": stream, "topic": "asc.lookup_x"}
        refused = tokens.post("/v1/queries", json=body, headers=headers)
        assert "is that of a look-up of cubes: choose another" in refused.json()["error"]["message"]
    finally:
        tokens.delete(f"/v1/queries/{own}", headers=headers)
