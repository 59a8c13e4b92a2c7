"""The ledger of windows finds each thing that can be wrong, and nothing where all is right."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from broker.consuming.consume import Delivery
from tests.broker.operators.cube.kept_stream import MINUTE_US, Record
from tests.broker.operators.cube.window_rig import Rig, output
from tests.tools.faults.counted_rig import COUNTED, raw
from tools.faults.cube_windows import output_cuboids, window_differences

Change = Callable[[list[Delivery]], list[Delivery]]


@pytest.fixture
def written(tmp_path: Path) -> tuple[Rig, list[Delivery]]:
    """What a cube wrote of ten minutes, with late records in between."""
    rig = Rig.of(tmp_path, output(2, 1))
    for number in range(10):
        late: list[Record] = [("UA", "LAX", 50, MINUTE_US // 2)] if number % 4 == 3 else []
        own: list[Record] = [(("B6", "UA")[number % 2 or number > 4], "JFK", number, number * MINUTE_US + 5)]
        rig.commit(*own, *late)
    rows = [
        Delivery("t", 0, place, 0, row.key, row.value, (), ("late",), None, identity=row.identity)
        for place, row in enumerate(rig.sent.rows)
    ]
    rig.keeper.close()
    return rig, rows


def wrong(rig: Rig, rows: list[Delivery]) -> list[str]:
    assert rig.watermark_us is not None
    due, found = window_differences(COUNTED, raw(rig.records), {0: [(0, len(rig.records))]}, rows, rig.watermark_us)
    assert due > 15
    return found


def changed(row: Delivery, **members: Any) -> Delivery:
    return replace(row, value=json.dumps({**json.loads(row.value or b""), **members}).encode())


def test_windows_with_revisions_are_sound(written: tuple[Rig, list[Delivery]]) -> None:
    rig, rows = written
    assert {json.loads(row.value)["revision"] for row in rows if row.value is not None} >= {0, 1, 2}
    assert None in {row.value for row in rows}
    assert wrong(rig, rows) == []
    assert wrong(rig, rows[::-1]) == []
    assert output_cuboids(COUNTED) == [["carrier"], []]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[1:], "no row, by DuckDB"),
        (lambda rows: [row for row in rows if not row.value or b'"revision":0' in row.value], "n is 1, by DuckDB 3"),
        (lambda rows: [changed(rows[0], n=7), *rows[1:]], "n is 7, by DuckDB 1"),
        (lambda rows: [*rows, changed(rows[0], window=["2013-07-11T00:00:00Z", "2013-07-11T00:02:00Z"])], "no row"),
        (lambda rows: [changed(rows[0], whole=False), *rows[1:]], "is not whole"),
        (lambda rows: [changed(rows[0], query="other"), *rows[1:]], "is of another query or length"),
        (
            lambda rows: [*rows, replace(rows[0], key=b'{"cuboid":["dest"],"group":{"dest":"JFK"}}')],
            "none of its outputs",
        ),
    ],
    ids=["missing", "not revised", "other measure", "another window", "not whole", "other query", "other cuboid"],
)
def test_what_is_wrong_is_found(written: tuple[Rig, list[Delivery]], change: Change, said: str) -> None:
    rig, rows = written
    found = wrong(rig, change(rows))
    assert found
    assert said in "\n".join(found)
