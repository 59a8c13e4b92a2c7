"""The windows that a standing cube wrote, compared with DuckDB over raw records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.json_values import instant_of, instant_text
from broker.consuming.consume import Delivery
from tools.faults.counted_cubes import CountedCube
from tools.faults.cube_ledger import differences
from tools.faults.raw_records import Intervals, RawRecords, group_text

Windows = dict[tuple[str, ...], dict[tuple[int, str], Mapping[str, Any]]]
"""The measures of each group in each window. The outer key is the cuboid; the inner key is the end of the window with
the group.
"""


def window_differences(
    cube: CountedCube, records: RawRecords, covered: Intervals, rows: Iterable[Delivery], until_us: int
) -> tuple[int, list[str]]:
    """Compare the rows of windows that a cube wrote with DuckDB's results. Return the number of rows that windows up to
    the watermark ``until_us`` (in microseconds) require, and the differences. For each group in each window, only the
    row with the highest revision is compared.
    """
    windows, wrong = newest_rows(cube, rows)
    due = 0
    for names in output_cuboids(cube):
        expected = records.windows(cube, names, covered, until_us)
        due += len(expected)
        where = f"windows of cube {cube.query} by ({', '.join(names)})"
        own = {_window_text(*place): row for place, row in windows.pop(tuple(names), {}).items()}
        wrong += differences(cube, where, own, {_window_text(*place): row for place, row in expected.items()})
    wrong += [f"windows of cube {cube.query} by ({', '.join(names)}): is none of its outputs" for names in windows]
    return due, wrong


def newest_rows(cube: CountedCube, rows: Iterable[Delivery]) -> tuple[Windows, list[str]]:
    """Return the row with the highest revision for each group in each window, without tombstones. Also return the
    faults of single rows, one per line.
    """
    windows: Windows = {}
    revisions: dict[tuple[tuple[str, ...], int, str], int] = {}
    wrong = []
    for row in rows:
        if row.value is None:
            continue
        key, value = json.loads(row.key or b"{}"), json.loads(row.value)
        names, group = tuple(key["cuboid"]), group_text(key["group"])
        first_us, end_us = (instant_of("window", own) for own in value.pop("window"))
        query, revision, is_whole = (value.pop(name) for name in ("query", "revision", "whole"))
        where = f"windows of cube {cube.query} by ({', '.join(names)}), group {_window_text(end_us, group)}"
        if query != cube.query or end_us - first_us != int(cube.operator["window_s"]) * 1_000_000 or not is_whole:
            wrong.append(f"{where}: {row.value.decode()} is of another query or length, or is not whole")
        place = names, end_us, group
        if revision >= revisions.get(place, -1):
            revisions[place] = revision
            windows.setdefault(names, {})[end_us, group] = value
    return windows, wrong


def output_cuboids(cube: CountedCube) -> list[Sequence[str]]:
    """Return for each output cuboid of a cube the names by which it groups records."""
    own = Dimensions(tuple(tuple(hierarchy) for hierarchy in cube.operator["dimensions"]))
    given = cube.operator.get("output", ())
    return [[own.names[place] for place in own.columns(own.cuboid_of(names))] for names in given]


def _window_text(end_us: int, group: str) -> str:
    return f"{group} to {instant_text(end_us)}"
