"""``asc query test``: a predicate tried on the last records, with nothing registered."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Asc

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def test_a_predicate_is_tried_on_the_last_records(asc: Asc, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex[:8]
    file = tmp_path / "rows.ndjson"
    file.write_text("".join(f'{{"dest": "{mark}", "delay": {n}}}\n' for n in range(20)), "utf-8")
    assert asc("publish", "--stream", "flights", file).exit_code == 0
    where = f"dest = '{mark}' AND delay >= 14"
    shown = asc("query", "test", "--where", where, "--stream", "flights", "--show", 2)
    assert shown.exit_code == 0, shown.stderr
    first, heading, *rows = shown.stdout.splitlines()
    assert first.startswith("would have accepted 6 of the last ")
    assert heading.split() == ["place", "time", "value"]
    assert ['"delay":19' in row.replace(" ", "") for row in rows] == [True, False]
    found = asc.json("query", "test", "--where", where, "--stream", "flights", "--last", 3, "--show", 0)
    assert (found["accepted"], found["records"], found["shown"]) == (3, 3, [])
    assert where not in [query["where"] for query in asc.json("query", "list")]


def test_what_is_no_predicate_has_its_caret(asc: Asc) -> None:
    refused = asc("query", "test", "--where", "dely > 60", "--stream", "flights")
    assert refused.exit_code == 1
    assert "did you mean 'delay'?" in refused.stderr
    assert asc("query", "test", "--where", "delay > 60", "--last", 0).exit_code == 2
