"""Look-ups: which tables are refused, and which row a value of a dimension has."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube import lookup as module
from asc.operators.cube.lookup import Lookup, check_lookup_size


def of(keys: Any, name: str = "planes", key: str = "tailnum", **more: Any) -> Lookup:
    table = pa.table({key: keys, "maker": pa.array([str(row) for row in range(len(keys))], pa.string())})
    return Lookup.of(name, table, key, **more)


def test_a_value_has_the_row_of_its_key_and_another_value_has_none() -> None:
    found = of(pa.array(["b", None, "a", "ä"]))
    assert (found.rows, found.attributes["maker"].to_pylist()) == (3, ["0", "2", "3"])
    assert found.rows_of(pa.array(["a", "b", "c", "ä"])).tolist() == [1, 0, -1, 2]


def test_nan_equals_nan_and_zero_equals_minus_zero() -> None:
    found = of(pa.array([math.nan, -0.0, 2.5]))
    assert found.rows_of(pa.array([0.0, 2.5, math.nan])).tolist() == [1, 2, 0]
    with pytest.raises(CubeError, match=r"key '0\.0': of look-up 'planes' is in row 1 and in row 2"):
        of(pa.array([-0.0, 0.0]))


def test_integers_of_another_size_are_compared_by_value() -> None:
    found = of(pa.array([1, 2**40, -1], pa.int64()))
    assert found.rows_of(pa.array([-1, 0, 1], pa.int32())).tolist() == [2, -1, 0]


@pytest.mark.parametrize(
    ("texts", "values", "rows"),
    [
        (["01", "1"], pa.array(["1"]), [1]),
        (["7", "-3", "99999999999"], pa.array([-3, 7], pa.int16()), [1, 0]),
        (["2013-07-10"], pa.array([15896], pa.date32()), [0]),
        (["true"], pa.array([False, True]), [-1, 0]),
        (["1.50"], pa.array([Decimal("1.50")], pa.decimal128(5, 2)), [0]),
    ],
)
def test_texts_are_compared_as_the_type_of_the_dimension(texts: list[str], values: pa.Array, rows: list[int]) -> None:
    assert of(pa.array(texts), has_text_keys=True).rows_of(values).tolist() == rows


@pytest.mark.parametrize(
    ("keys", "is_text", "kind", "said"),
    [
        (["x", "1"], True, pa.int32(), "keys 'x': of look-up 'planes' are not all INT, the type of tailnum"),
        (["01"], True, pa.int32(), "are not all INT"),
        (["99999999999999999999"], True, pa.int32(), "are not all INT"),
        (["1.0", "1"], True, pa.float64(), "key '1.0': of look-up 'planes' is there twice as DOUBLE"),
        (["1"], False, pa.int32(), "key 'tailnum': is STRING in look-up 'planes', and INT in the cube: write"),
        ([1], False, pa.string(), "is BIGINT in look-up 'planes', and STRING in the cube"),
    ],
)
def test_keys_of_another_type_are_refused(keys: list[Any], is_text: bool, kind: pa.DataType, said: str) -> None:
    with pytest.raises(CubeError) as refused:
        of(pa.array(keys), has_text_keys=is_text).rows_of(pa.array([], kind))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"tailnum": ["a", "b", "a"], "x": [1, 2, 3]}, "key 'a': of look-up 'planes' is in row 1 and in row 3"),
        ({"tail": ["a"], "x": [1]}, "key 'tailnum': is no column of look-up 'planes': its columns are tail, x"),
        ({"tailnum": ["a"]}, "look-up 'planes': has 0 columns beside its key"),
        ({"tailnum": pa.array([], pa.string()), "x": pa.array([], pa.int32())}, "has no row with a key"),
        ({"tailnum": pa.array([None], pa.string()), "x": [1]}, "has no row with a key"),
        ({"tailnum": ["a"], "x y": [1]}, "attribute 'x y': of look-up 'planes' is no name"),
        ({"tailnum": ["a"], "x" * 65: [1]}, "is no name: use letters, digits and _, at most 64"),
        ({"tailnum": ["a"], "X": [1], "x": [1]}, "attribute 'x': of look-up 'planes' is there twice"),
        ({"tailnum": ["a"], "Tailnum": [1]}, "is a column twice in look-up 'planes'"),
        ({"tailnum": ["a"], "x": [[1]]}, "column 'x': of look-up 'planes' is ARRAY<BIGINT>: leave it out"),
        ({"tailnum": ["a"], **{f"x{n}": [1] for n in range(65)}}, "has 65 columns beside its key: give it 1 to 64"),
    ],
)
def test_a_table_is_refused_in_one_line(table: dict[str, Any], said: str) -> None:
    with pytest.raises(CubeError) as refused:
        Lookup.of("planes", pa.table(table), "tailnum")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["", "Planes", "a.b", "a-b", "1a", "ä", "x" * 65, "a\n"])
def test_a_name_is_refused(name: str) -> None:
    with pytest.raises(CubeError, match="name of look-up"):
        of(pa.array(["a"]), name=name)


def test_a_look_up_has_as_many_rows_and_bytes_as_the_limits_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    check_lookup_size("planes", 1_000_000, 64 << 20)
    with pytest.raises(CubeError, match="has over 1,000,000 rows"):
        check_lookup_size("planes", 1_000_001, 0)
    with pytest.raises(CubeError, match="has over 64 MiB in memory"):
        check_lookup_size("planes", 1, (64 << 20) + 1)
    monkeypatch.setattr(module, "LOOKUP_ROWS_MAX", 2)
    assert of(pa.array(["a", "b"])).rows == 2
    with pytest.raises(CubeError, match="has over 2 rows"):
        of(pa.array(["a", "b", "c"]))


def test_its_table_makes_it_again() -> None:
    found = of(pa.array(["b", "a"]), version=3, stamp="x")
    again = Lookup.of("planes", found.table(), "tailnum", version=3, stamp="x")
    assert (again.table(), again.identity) == (found.table(), found.identity)
