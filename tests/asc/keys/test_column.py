"""Columns of any form as keys, slice by slice."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from asc.errors import PlanError
from asc.keys.attribute import PAttribute
from asc.keys.column import NO_CONSTANTS, column
from asc.keys.dictionary import Dictionary

CITY = PAttribute("city", pa.string(), ("city",))
CITIES = ["oslo", None, "bergen", "", "oslo", "hamar"]
CONSTANTS = Dictionary.of([b"bergen", b"oslo"])
PLAIN = pa.array(CITIES)


@pytest.mark.parametrize(
    "values",
    [
        PLAIN,
        pa.chunked_array([PLAIN]),
        pa.chunked_array([PLAIN.slice(0, 2), PLAIN.slice(2)]),
        pa.array(["x", *CITIES, "x"]).slice(1, len(CITIES)),
        PLAIN.dictionary_encode(),
        pa.array(["x", *CITIES]).dictionary_encode().slice(1),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, 0, 4], pa.int8()), PLAIN.unique()),
        pa.array(CITIES, pa.large_string()),
        pa.array(CITIES, pa.string_view()),
    ],
    ids=["plain", "chunk", "chunks", "slice", "encoded", "encoded slice", "NULL in the dictionary", "large", "view"],
)
@pytest.mark.parametrize("worth_rows", [1, 1_024])
def test_forms_have_the_same_keys(
    values: pa.Array | pa.ChunkedArray, worth_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("asc.keys.column._WORTH_ROWS", worth_rows)
    monkeypatch.setattr("asc.keys.column._MOST_DIFFERENT", 1.0)
    made = column(CITY, CONSTANTS, values)
    assert (made.value_keys is not None) == (worth_rows == 1 or pa.types.is_dictionary(values.type))
    for start, stop in ((0, 6), (1, 2), (2, 5), (3, 3)):
        out = np.empty(stop - start, dtype=np.int64)
        nulls = made.keys(start, stop, out)
        for place, city in enumerate(CITIES[start:stop]):
            assert (nulls is not None and bool(nulls[place])) == (city is None)
            if city is not None:
                assert out[place] == CONSTANTS.label(city.encode())


@pytest.mark.parametrize("values", [[None] * 4, [b"\xff\xfe", b"a", b"\xff\xfe", None], []])
def test_bytes_that_repeat_are_looked_up_once(values: list[bytes | None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asc.keys.column._WORTH_ROWS", 0)
    made = column(CITY, CONSTANTS, pa.array(values, pa.binary()).view(pa.string()))
    assert (made.value_keys is not None) == (len(values) > 0 and values[0] is not None)
    out = np.empty(len(values), dtype=np.int64)
    nulls = made.keys(0, len(values), out)
    for place, value in enumerate(values):
        assert (nulls is not None and bool(nulls[place])) == (value is None)
        if value is not None:
            assert out[place] == CONSTANTS.label(value)


def test_a_dictionary_without_values_is_all_null() -> None:
    empty = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([], pa.string()))
    nulls = column(CITY, CONSTANTS, empty).keys(0, 2, np.empty(2, dtype=np.int64))
    assert nulls is not None
    assert nulls.all()


@pytest.mark.parametrize("values", [pa.array([1]), pa.array([b"x"]), pa.array([1]).dictionary_encode()])
def test_another_type_is_refused(values: pa.Array) -> None:
    with pytest.raises(PlanError, match=r"column of p-attribute city has type '(int64|binary)': expected string"):
        column(CITY, NO_CONSTANTS, values)
