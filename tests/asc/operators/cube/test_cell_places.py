"""Places of cells."""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.frozen import frozen
from asc.operators.cube.cell_places import places_of
from asc.operators.cube.cells import Cells
from asc.operators.cube.keys import Key

_LOW = 2**64 - 1
INSTANT = datetime.datetime(2026, 6, 1, tzinfo=datetime.timezone.utc)
COLUMNS = [
    (pa.bool_(), [True, False, None]),
    (pa.int8(), [-1, 0, 127]),
    (pa.int64(), [-1, 0, 2**62]),
    (pa.float32(), [0.5, float("nan"), None]),
    (pa.float64(), [0.5, float("inf"), None]),
    (pa.decimal128(12, 2), [Decimal("-1.25"), Decimal(0), None]),
    (pa.string(), ["", "ä", None]),
    (pa.binary(), [b"", b"\0", None]),
    (pa.date32(), [datetime.date(1969, 1, 1), None]),
    (pa.timestamp("us", "UTC"), [INSTANT, None]),
]


def places(*columns: pa.Array) -> list[int]:
    keys = tuple(map(Key.of, columns))
    panes = frozen(np.zeros(len(columns[0]), dtype=np.int64))
    return [int(own) for own in places_of(Cells(panes, keys, ()))]


def plain_place(values: list[bytes | None]) -> int:
    """Return the place of a cell by the same definition, in Python's integers."""
    place = 0
    for value in values:
        of_value = 0x9E37_79B9_7F4A_7C15 if value is None else 0xCBF2_9CE4_8422_2325
        for byte in value or b"":
            of_value = (of_value ^ byte) * 0x100_0000_01B3 & _LOW
        mixed = (place * 0x100_0000_01B3 & _LOW) ^ of_value
        mixed = (mixed ^ mixed >> 30) * 0xBF58_476D_1CE4_E5B9 & _LOW
        mixed = (mixed ^ mixed >> 27) * 0x94D0_49BB_1331_11EB & _LOW
        place = mixed ^ mixed >> 31
    return place


texts = st.lists(st.tuples(st.text(max_size=9) | st.none(), st.integers(-(2**63), 2**63 - 1) | st.none()), min_size=1)


@given(rows=texts, first=st.integers(0, 3))
def test_a_place_is_the_hash_of_the_bytes_of_the_key(rows: list[tuple[str | None, int | None]], first: int) -> None:
    first = min(first, len(rows) - 1)
    names, numbers = pa.array([own for own, _ in rows], pa.string()), pa.array([own for _, own in rows], pa.int64())
    wanted = [
        plain_place(
            [
                None if name is None else name.encode(),
                None if number is None else number.to_bytes(8, "little", signed=True),
            ]
        )
        for name, number in rows[first:]
    ]
    assert places(names.slice(first), numbers.slice(first)) == wanted


@pytest.mark.parametrize(("kind", "values"), COLUMNS)
def test_a_place_depends_on_the_value_alone(kind: pa.DataType, values: list[Any]) -> None:
    together = places(pa.array(values, kind))
    assert len(set(together)) == len(values)
    assert [places(pa.array([value], kind))[0] for value in values] == together
    # A dictionary with further values, and a part of an array, have the same values.
    own = pa.array([*values, *values], kind)
    assert places(own.slice(len(values))) == together


def test_another_process_gives_the_same_places() -> None:
    code = (
        "import pyarrow as pa\nfrom tests.asc.operators.cube.test_cell_places import places\n"
        "print(places(pa.array(['JFK', None]), pa.array([1.5, None])))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert done.stdout.strip() == str(places(pa.array(["JFK", None]), pa.array([1.5, None])))
    assert done.stdout.strip() == "[18219446227841210899, 16459451420739075515]"


def test_places_are_spread_evenly() -> None:
    found = np.array(places(pa.array([f"device-{each:06d}" for each in range(64_000)])), dtype=np.uint64)
    counts = np.bincount((found >> np.uint64(58)).astype(np.int64), minlength=64)
    # Five standard deviations of a binomial distribution.
    assert abs(counts - 1_000).max() < 5 * 1_000**0.5
