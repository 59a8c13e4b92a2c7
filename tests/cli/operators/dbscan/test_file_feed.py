"""A file as a feed: rows are observations of one partition, and batches move the watermark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from asc.operators.dbscan.definition import DbscanDefinition
from asc.operators.dbscan.expressions import DbscanExpressions
from asc.operators.dbscan.records import DbscanOutput
from asc.predicate import normalise
from asc.schema import Schema
from cli.operators.dbscan.file_columns import NO_TIME_US, FileColumns
from cli.operators.dbscan.file_feed import feed
from cli.operators.dbscan.file_queries import FileQuery

SCHEMA = Schema.from_ddl("x DOUBLE, y DOUBLE, n INT, s STRING, ts TIMESTAMP")
PLAIN: dict[str, Any] = {"attributes": ["x", "y"], "eps": 1.0, "min_samples": 2}
SECOND = 1_000_000
YEAR_2099_S = 4_070_908_800
"""The first second of the year 2099."""


def asked(name: str, where: str = "true", **fields: Any) -> FileQuery:
    definition = DbscanDefinition.parse({**PLAIN, **fields}, needs_time=False)
    return FileQuery(name, normalise(where, SCHEMA), definition, DbscanExpressions.of(definition, SCHEMA, "UTC"))


def columns(times_s: Sequence[float | None]) -> FileColumns:
    """Rows of these times, in two clusters in turn."""
    count = len(times_s)
    return FileColumns(
        np.ones(count, dtype=np.bool_),
        {"x": np.arange(count) % 2 * 50.0, "y": np.zeros(count)},
        {"ts": np.array([NO_TIME_US if own is None else round(own * SECOND) for own in times_s], dtype=np.int64)},
        {"s": [f"k{number}" for number in range(count)]},
        {"true": np.ones(count, dtype=np.bool_), "n > 0": np.arange(count) % 3 == 0},
    )


def fed(queries: Sequence[FileQuery], rows: FileColumns, batch: int = 5, lateness_s: float = 2) -> list[DbscanOutput]:
    found: list[DbscanOutput] = []
    feed(queries, rows, batch=batch, lateness_us=round(lateness_s * SECOND), take=found.append, on_labels=None)
    return found


def ends(outputs: Sequence[DbscanOutput], query: str) -> list[int]:
    return [int(own.identity.split(":")[1]) for own in outputs if own.query == query and own.kind == "window"]


TIMED = asked("timed", time="ts", window_s=10, slide_s=5, members="all", key="s")
BY_ROW = asked("by_row", window_s=0.002, slide_s=0.001)
COUNTED = asked("counted", "n > 0", window_points=4, slide_points=2, time="ts")


def test_in_the_end_all_rows_are_settled() -> None:
    outputs = fed([TIMED, COUNTED], columns([number * 1.0 for number in range(21)]))
    # The newest time is 20 s: windows that end at or before it; of 7 accepted rows, full windows of 4.
    assert ends(outputs, "timed") == [5_000, 10_000, 15_000, 20_000]
    assert ends(outputs, "counted") == [4, 6]
    members = [json.loads(own.value) for own in outputs if own.kind == "member"]
    assert (members[0]["source"], members[0]["key"]) == ("rows-0-0", "k0")


def test_the_cut_into_batches_changes_nothing_while_lateness_covers_the_disorder() -> None:
    times = [number + (1.5 if number % 4 == 0 else 0) for number in range(60)]
    runs = [fed([TIMED, COUNTED], columns(times), batch) for batch in (1, 7, 60, 1_000)]
    assert all([own for own in run if own.query == name] for run in runs for name in ("timed", "counted"))
    for name in ("timed", "counted"):
        one, *others = [[own for own in run if own.query == name] for run in runs]
        assert all(other == one for other in others)


def test_a_batch_sees_the_watermark_that_it_began_with() -> None:
    times = [*(number * 1.0 for number in range(30)), 3.0]
    excluded = []
    for batch in (31, 30):
        found: list[DbscanOutput] = []
        excluded.append(
            feed([TIMED], columns(times), batch=batch, lateness_us=2 * SECOND, take=found.append, on_labels=None)
        )
    assert excluded == [{}, {"late": 1}]


def test_a_query_without_a_time_goes_by_the_number_of_the_row() -> None:
    outputs = fed([BY_ROW], columns([None] * 5_000), batch=700, lateness_s=1_000)
    assert ends(outputs, "by_row") == [1, 2, 3, 4]
    windows = [json.loads(own.value) for own in outputs if own.kind == "window"]
    assert [own["points"] for own in windows] == [1_000, 2_000, 2_000, 2_000]
    assert [own["partial"] for own in windows] == [True, False, False, False]


def test_rows_without_a_usable_time_or_value_are_excluded() -> None:
    rows = columns([0, None, 1, 400_000_000_000, 30])
    rows.values["x"][2] = np.nan
    found: list[DbscanOutput] = []
    excluded = feed([TIMED, COUNTED], rows, batch=2, lateness_us=0, take=found.append, on_labels=None)
    # Row 1 of the one track, row 2 of the one, row 3 of both.
    assert excluded == {"time": 3, "attributes": 1}
    assert ends(found, "timed") == [5_000, 10_000, 15_000, 30_000][:3]


def test_after_a_row_of_2099_the_rows_of_later_batches_are_late() -> None:
    # Rows 14 to 20 are a batch. The query counted does not accept row 20.
    rows = columns([*(number * 1.0 for number in range(20)), YEAR_2099_S, *(number * 1.0 for number in range(20, 41))])
    found: list[DbscanOutput] = []
    excluded = feed([TIMED, COUNTED], rows, batch=7, lateness_us=2 * SECOND, take=found.append, on_labels=None)
    assert excluded == {"late": 21 + 7}
    assert ends(found, "timed") == [5_000, 10_000, 15_000, 20_000, 25_000, 30_000]
    assert ends(found, "counted") == [4, 6]


def test_a_window_of_more_points_than_allowed_is_skipped() -> None:
    rows = columns([number * 1.0 for number in range(21)])
    skipped = {}
    for points_max in (4, 5, 10):
        found: list[DbscanOutput] = []
        feed([TIMED], rows, batch=5, lateness_us=0, take=found.append, on_labels=None, points_max=points_max)
        windows = [json.loads(own.value) for own in found if own.kind == "window"]
        skipped[points_max] = [own.get("skipped") for own in windows]
    # The first window has five points, the others ten.
    assert skipped[10] == [None] * 4
    assert skipped[5] == [None, *["capacity"] * 3]
    assert skipped[4] == ["capacity"] * 4


def test_queries_of_equal_expressions_share_a_track_and_answer_as_alone() -> None:
    rows = columns([number * 0.5 for number in range(80)])
    other = asked("other", "n > 0", time="ts", window_s=10, slide_s=5)
    together = fed([TIMED, other, COUNTED, BY_ROW], rows)
    for own in (TIMED, other, COUNTED, BY_ROW):
        assert [each for each in together if each.query == own.id] == fed([own], rows)


@pytest.mark.parametrize("batch", [1, 3])
def test_no_row_gives_no_window(batch: int) -> None:
    assert fed([TIMED, COUNTED, BY_ROW], columns([]), batch) == []
