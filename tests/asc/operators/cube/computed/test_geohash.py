"""Geohashes as a computed dimension, compared with a bisection in fractions."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.computed.geohash import Geohash
from asc.operators.cube.computed.table import computed_dimension
from asc.operators.cube.keys import Key

ALPHABET = "0123456789bcdefghjkmnpqrstuvwxyz"
BITS = st.integers(1, 60)


def bisected(latitude: float, longitude: float, bits: int) -> int | None:
    """Return the number of a position's cell, by halving intervals in exact arithmetic."""
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        return None
    bounds = [[Fraction(-180), Fraction(180)], [Fraction(-90), Fraction(90)]]
    number = 0
    for bit in range(bits):
        own, value = bounds[bit % 2], Fraction(longitude if bit % 2 == 0 else latitude)
        middle = (own[0] + own[1]) / 2
        is_upper = value >= middle
        own[0 if is_upper else 1] = middle
        number = number * 2 + is_upper
    return number


def text_of(number: int, bits: int) -> str:
    digits = format(number, f"0{bits}b")
    whole = bits - bits % 5
    characters = "".join(ALPHABET[int(digits[place : place + 5], 2)] for place in range(0, whole, 5))
    return characters + (f".{digits[whole:]}" if bits % 5 else "")


def keys_of(latitudes: pa.Array, longitudes: pa.Array, *bits: int) -> tuple[Key, ...]:
    return Geohash("lat", "lon", bits).keys([latitudes, longitudes])


def values_of(key: Key) -> list[Any]:
    found: list[Any] = key.array().dictionary_decode().to_pylist()
    return found


def near(value: float) -> st.SearchStrategy[float]:
    return st.sampled_from([value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf)])


def coordinates(extent: int) -> st.SearchStrategy[float | None]:
    edges = st.integers(-(1 << 10), 1 << 10).flatmap(lambda part: near(part * extent / 1024))
    odd = st.sampled_from([None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324])
    return st.one_of(st.floats(-extent, extent), edges, st.floats(allow_nan=True), odd)


@given(st.lists(st.tuples(coordinates(90), coordinates(180)), max_size=20), st.sets(BITS, min_size=1, max_size=3))
def test_cells_are_those_of_a_bisection(positions: list[tuple[float | None, float | None]], bits: set[int]) -> None:
    levels = tuple(sorted(bits))
    latitudes, longitudes = (pa.array([pair[place] for pair in positions], pa.float64()) for place in (0, 1))
    for key, own in zip(keys_of(latitudes, longitudes, *levels), levels, strict=True):
        expected = []
        for latitude, longitude in positions:
            number = None if latitude is None or longitude is None else bisected(latitude, longitude, own)
            expected.append(None if number is None else text_of(number, own))
        assert values_of(key) == expected
        texts = key.dictionary.to_pylist()
        assert texts == sorted(set(expected) - {None})
        assert all(len(text.encode()) == len(texts[0]) for text in texts)


@pytest.mark.parametrize("bits", [1, 2, 5, 20, 30, 31, 45, 59, 60])
def test_the_last_cell_has_its_upper_edges(bits: int) -> None:
    (key,) = keys_of(pa.array([90.0, -90.0]), pa.array([180.0, -180.0]), bits)
    assert values_of(key) == [text_of((1 << bits) - 1, bits), text_of(0, bits)]


def test_known_geohashes() -> None:
    latitudes = pa.array([42.6, 25.787, 57.64911, None])
    (key,) = keys_of(latitudes, pa.array([-5.6, -80.218, 10.40744, 1.0]), 25)
    assert values_of(key) == ["ezs42", "dhwfw", "u4pru", None]


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.int32(), pa.int64(), pa.float32(), pa.decimal128(9, 4), pa.decimal128(38, 30)]
)
def test_coordinates_of_any_number_type(kind: pa.DataType) -> None:
    plain = [Decimal(45), Decimal(-91), None, Decimal(12)]
    values = plain if pa.types.is_decimal(kind) else [None if own is None else int(own) for own in plain]
    latitudes, longitudes = pa.array(values[:3], kind), pa.array(values[1:], kind)
    (key,) = keys_of(latitudes, longitudes, 35)
    assert values_of(key) == [text_of(bisected(45, -91, 35) or 0, 35), None, None]
    sliced = Geohash("lat", "lon", (35,)).keys([latitudes.slice(0, 1), longitudes.slice(0, 1)])
    assert values_of(sliced[0]) == values_of(key)[:1]


def test_many_distinct_cells() -> None:
    random = np.random.default_rng(3)
    latitudes, longitudes = random.uniform(-90, 90, 5_000), random.uniform(-180, 180, 5_000)
    for bits in (16, 40):
        (key,) = keys_of(pa.array(latitudes), pa.array(longitudes), bits)
        expected = [bisected(*pair, bits) for pair in zip(latitudes.tolist(), longitudes.tolist(), strict=True)]
        assert values_of(key) == [text_of(number or 0, bits) for number in expected]


def test_no_positions() -> None:
    empty = pa.array([], pa.float64())
    assert [len(key) for key in keys_of(empty, empty, 10, 40)] == [0, 0]
    assert values_of(keys_of(pa.array([None], pa.float64()), pa.array([1.0]), 40)[0]) == [None]


def test_the_text_has_one_form() -> None:
    dimension = computed_dimension("GEOHASH(lat,lon,5>  10)")
    assert dimension is not None
    assert (dimension.text, dimension.name) == ("geohash(lat, lon, 5 > 10) AS geo", "geo")
    assert computed_dimension(dimension.text) == dimension
    assert (dimension.levels, dimension.inputs) == (("geo:5", "geo:10"), ("lat", "lon"))


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("geohash(lat, lon)", "has 2 of three arguments"),
        ("geohash(lat, , 5)", "has 2 of three arguments"),
        ("geohash()", "has 0 of three arguments"),
        ("geohash(lat, lon, 5, 6)", "has 4 of three arguments"),
        ("geohash(lat, lon, 0)", "has the levels '0'"),
        ("geohash(lat, lon, 61)", "has the levels '61'"),
        ("geohash(lat, lon, 5 > x)", "has the levels '5 > x'"),
        ("geohash(lat, lon, 5 >)", "has the levels '5 >'"),
        ("geohash(lat, lon, 10 > 5)", "no order from coarse to fine"),
        ("geohash(lat, lon, 5 > 5)", "no order from coarse to fine"),
        ("geohash(lat, lat, 5)", "one expression for both coordinates"),
    ],
)
def test_a_refused_geohash(text: str, remedy: str) -> None:
    with pytest.raises(CubeError, match=remedy):
        computed_dimension(text)


def test_coordinates_are_numbers() -> None:
    with pytest.raises(CubeError, match="takes coordinates in degrees, and lon is STRING: CAST it to DOUBLE"):
        Geohash("lat", "lon", (5,)).check([pa.float64(), pa.string()])


def test_exchanged_coordinates_are_told() -> None:
    dimension = Geohash("lat", "lon", (5,))
    latitudes, longitudes = pa.array([50.0] * 99 + [None]), pa.array([120.0] * 100)
    assert dimension.warning([latitudes, longitudes]) is None
    told = dimension.warning([longitudes, latitudes])
    assert told is not None
    assert "100.0% of the positions are out of range" in told
    assert "the latitude comes first, then the longitude" in told
    one = pa.array([50.0] * 98 + [None, 91.0])
    assert dimension.warning([one, longitudes]) is not None
    assert dimension.warning([pa.array([50.0] * 99 + [91.0]), longitudes]) is None
    none = pa.array([], pa.float64())
    assert dimension.warning([none, none]) is None
