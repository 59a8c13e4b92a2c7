"""``asc query test``: a predicate tried on the last records, with nothing registered."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import Result

if TYPE_CHECKING:
    from conftest import Address, Asc


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


@pytest.mark.parametrize(
    ("timestamp_ms", "said"),
    [(0, "1970-01-01T00:00:00.000Z"), (10**15, f"{10**15} ms since 1970"), (-1, "none"), (None, "none")],
)
def test_a_producer_may_set_any_time(
    run: Callable[..., Result], address: Address, timestamp_ms: int | None, said: str
) -> None:
    shown = [{"partition": 0, "offset": 7, "timestamp_ms": timestamp_ms, "key": None, "value": "{}"}]
    found = {"records": 1, "accepted": 1, "dead_letters": 0, "shown": shown}
    address.answers["/v1/test"] = [(200, json.dumps(found))]
    result = run("query", "test", "--where", "delay > 60", "--server", address.url)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[-1].split(maxsplit=1)[1] == f"{said}  {{}}"
