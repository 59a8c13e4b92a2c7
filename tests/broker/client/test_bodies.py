"""Bodies of requests."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import pytest

from broker.client.bodies import given, ndjson_of
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


def test_a_time_is_text_with_its_offset() -> None:
    assert given(expires_at=datetime(2030, 1, 1, tzinfo=timezone.utc)) == {"expires_at": "2030-01-01T00:00:00+00:00"}
