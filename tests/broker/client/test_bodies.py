"""Bodies of requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from broker.client import bodies
from broker.client.bodies import given, ndjson_of
from broker.client.client import Client
from broker.client.errors import InvalidRequestError


def test_queries_are_lines_from_wherever_they_come(tmp_path: Path) -> None:
    bodies = [{"id": "a", "where": "x > '\n'"}, {"remove": "b"}]
    content = ndjson_of(iter(bodies))
    assert [json.loads(line) for line in content.split(b"\n")] == bodies
    path = tmp_path / "queries.ndjson"
    path.write_bytes(content)
    assert ndjson_of(path) == ndjson_of(str(path)) == content


def test_a_body_that_is_no_json_is_named() -> None:
    with pytest.raises(InvalidRequestError, match="query 'number 2': cannot be written as JSON"):
        ndjson_of([{"id": "a"}, {"id": object()}])


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        ({"late": "delay > 60"}, "queries of type 'dict': give bodies of queries, as a list, or the path of a file"),
        (5, "queries of type 'int': give bodies"),
        (["delay > 60"], r"query of type 'str': give a mapping, as \{"),
        ([{"id": "late", "labels": ["team"]}], r"labels of type 'list': give a mapping, as \{\"team\": \"ops\"\}"),
        ([{"id": "late", "operator": "near"}], "operator of type 'str': give a mapping"),
    ],
)
def test_what_is_no_mapping_is_refused(queries: Any, said: str) -> None:
    with pytest.raises(InvalidRequestError, match=said):
        ndjson_of(queries)


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.register(["late", "delay > 60"]),
        lambda client: client.add("late", "delay > 60", labels=["team"]),
        lambda client: client.change("late", "delay > 60"),
        lambda client: client.explain("late", [75]),
        lambda client: client.trace(values=[75]),
        lambda client: client.show(["late"]),
    ],
)
def test_a_client_refuses_them_before_it_asks(ask: Callable[[Client], object]) -> None:
    with (
        Client("http://127.0.0.1:1") as client,
        pytest.raises(InvalidRequestError, match=r"of type '(list|str)': give"),
    ):
        ask(client)


def test_a_time_is_text_with_its_offset() -> None:
    assert given(expires_at=datetime(2030, 1, 1, tzinfo=timezone.utc)) == {"expires_at": "2030-01-01T00:00:00+00:00"}


def test_a_file_of_queries_is_as_large_as_the_limit_and_no_larger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "QUERIES_BYTES_MAX", 1 << 20)
    file = tmp_path / "queries.ndjson"
    file.write_bytes(b" " * (1 << 20))
    assert len(ndjson_of(file)) == 1 << 20
    file.write_bytes(b" " * ((1 << 20) + 1))
    for path in (file, Path("/dev/zero")):
        with pytest.raises(InvalidRequestError, match=f"^file '{path}': has more than 1 MiB: divide it"):
            ndjson_of(path)
