"""Properties of Features as typed values: what fits a type, what does not."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from asc.errors import SchemaError, ShapeError
from asc.schema import properties_of_ddl
from asc.spatial import properties
from asc.spatial.feature import Feature, feature_of, features_of
from asc.spatial.properties import Properties
from asc.spatial.reading import Rules

AT = int(datetime(2024, 2, 29, 12, tzinfo=timezone.utc).timestamp() * 1_000_000)


def one(kind: str) -> Properties:
    return properties_of_ddl(f"p {kind}")


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        ("TINYINT", -128, -128),
        ("INT", 4500.0, 4500),
        ("INT", " -7 ", -7),
        ("BIGINT", 9007199254740993, 9007199254740993),
        ("BIGINT", "9223372036854775807", (1 << 63) - 1),
        ("DOUBLE", 1, 1.0),
        ("DOUBLE", "1e-3", 0.001),
        ("FLOAT", 0.1, float(np.float32(0.1))),
        ("DECIMAL(5,2)", 0.1, Decimal("0.10")),
        ("DECIMAL(38,0)", 10**37, Decimal(10**37)),
        ("DECIMAL(2,2)", 0.99, Decimal("0.99")),
        ("DECIMAL(5,2)", "0e1000000", Decimal("0.00")),
        ("DECIMAL(5,2)", "-999.99", Decimal("-999.99")),
        ("STRING", "", ""),
        ("STRING", "Ø", "Ø"),
        ("BOOLEAN", False, False),
        ("BOOLEAN", "true", True),
        ("DATE", "1970-01-02", 1),
        ("TIMESTAMP", "2024-02-29T13:00:00+01:00", AT),
        ("TIMESTAMP", "2024-02-29 12:00:00Z", AT),
        ("TIMESTAMP_NTZ", "2024-02-29T12:00:00", AT),
        ("INT", "", None),
        ("DATE", None, None),
    ],
)
def test_what_fits(kind: str, given: Any, value: Any) -> None:
    found = one(kind).values({"p": given, "more": [1]})
    assert found == {"p": value}
    assert type(found["p"]) is type(value)
    assert one(kind).values({}) == {"p": None}


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("TINYINT", 128),
        ("INT", 1.5),
        ("INT", True),
        ("INT", "1_000"),
        ("INT", "٣"),
        ("BIGINT", 1 << 63),
        ("BIGINT", "1e999999999"),
        ("BIGINT", float("nan")),
        ("BIGINT", "Infinity"),
        ("DOUBLE", "NaN"),
        ("DOUBLE", float("inf")),
        ("DOUBLE", 10**400),
        ("DOUBLE", [1]),
        ("FLOAT", 1e39),
        ("DECIMAL(5,2)", 0.125),
        ("DECIMAL(5,2)", 1000),
        ("DECIMAL(5,2)", "1e-999999999"),
        ("DECIMAL(5,2)", "sNaN"),
        ("DECIMAL(38,38)", 1),
        ("STRING", 5),
        ("STRING", "\ud800"),
        ("BOOLEAN", 1),
        ("BOOLEAN", "True"),
        ("BOOLEAN", []),
        ("DATE", "29.2.2024"),
        ("DATE", "2023-02-29"),
        ("TIMESTAMP", "2024-02-29T12:00:00"),
        ("TIMESTAMP_NTZ", "2024-02-29T12:00:00Z"),
        ("TIMESTAMP", 5),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(kind: str, given: Any) -> None:
    with pytest.raises(ShapeError, match=r"property p '.*': is none of its type") as refused:
        one(kind).values({"p": given})
    assert "\n" not in str(refused.value)
    assert ("(give its offset" in str(refused.value)) is (kind == "TIMESTAMP")


def test_an_integer_is_written_out_where_it_has_no_more_digits_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(properties, "_DIGITS_MAX", 3)
    one("BIGINT").values({"p": "9999"})
    with pytest.raises(ShapeError, match="is none of its type"):
        one("BIGINT").values({"p": "10000"})


KINDS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(5,2)", "DECIMAL(38,38)", "BOOLEAN", "DATE")
EXTREMES = [
    f"{sign}{number}" for sign in ("", "-") for number in ("1e1000000", "1e999999999", "9" * 5_000, "1" + "0" * 400)
]


@pytest.mark.parametrize("kind", [*KINDS, "TIMESTAMP", "TIMESTAMP_NTZ"])
def test_what_is_beyond_all_bounds_is_refused_in_any_type(kind: str) -> None:
    for given in [*EXTREMES, "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", 10**400]:
        with pytest.raises(ShapeError, match="is none of its type"):
            one(kind).values({"p": given})


def test_a_feature_with_one_that_does_not_fit_is_refused() -> None:
    rules = Rules(properties=properties_of_ddl("ceiling INT"))
    texts = [
        json.dumps({"type": "Feature", "geometry": geometry, "properties": properties})
        for geometry in (None, {"type": "Point", "coordinates": [1, 2]})
        for properties in ({"ceiling": 5}, {"ceiling": "high"}, {}, None)
    ]
    for text, together in zip(texts, features_of(texts, rules), strict=True):
        if "high" in text:
            assert isinstance(together, ShapeError)
            with pytest.raises(ShapeError, match="property ceiling 'high'"):
                feature_of(text, rules)
        else:
            assert isinstance(together, Feature)
            assert together.properties == feature_of(text, rules).properties


@pytest.mark.parametrize("ddl", ["p BINARY", "p ARRAY<INT>", "p STRUCT<a: INT>", "geometry INT", "Geometry INT", "p"])
def test_types_that_no_property_has(ddl: str) -> None:
    with pytest.raises(SchemaError):
        properties_of_ddl(ddl)


def test_none_by_default() -> None:
    assert properties_of_ddl(" ").types == {}
    assert Rules().properties.values({"p": object()}) == {}
