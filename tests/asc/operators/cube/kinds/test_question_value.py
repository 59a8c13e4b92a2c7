"""The constants of questions: values as answers show them, and one error line for any other."""

from __future__ import annotations

import math
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.json_values import plain_values
from asc.operators.cube.kinds.question_value import question_value

VALUES: list[tuple[Any, pa.DataType, Any]] = [
    (True, pa.bool_(), True),
    (-128, pa.int8(), -128),
    (2**63 - 1, pa.int64(), 2**63 - 1),
    (5, pa.float64(), 5.0),
    (0.1, pa.float64(), 0.1),
    ("Infinity", pa.float64(), math.inf),
    ("-Infinity", pa.float32(), -math.inf),
    (5, pa.decimal128(5, 2), Decimal("5.00")),
    (0.25, pa.decimal128(5, 2), Decimal("0.25")),
    ("-999.99", pa.decimal128(5, 2), Decimal("-999.99")),
    ("9" * 38, pa.decimal128(38, 0), Decimal("9" * 38)),
    ("2013-07-10", pa.date32(), date(2013, 7, 10)),
    ("2013-07-10T00:00:01Z", pa.timestamp("us", tz="UTC"), datetime(2013, 7, 10, 0, 0, 1, tzinfo=timezone.utc)),
    ("", pa.string(), ""),
    ("it's", pa.string(), "it's"),
    ("/wA=", pa.binary(), b"\xff\0"),
]


@pytest.mark.parametrize(("constant", "kind", "value"), VALUES, ids=lambda own: str(own)[:20])
def test_a_constant_is_the_value_of_the_type(constant: Any, kind: pa.DataType, value: Any) -> None:
    found = question_value(constant, kind, "f(x)")
    assert found.type == kind
    assert found.to_pylist() == [value]


@pytest.mark.parametrize("kind", [kind for _, kind, _ in VALUES], ids=str)
def test_values_of_answers_can_be_asked(kind: pa.DataType) -> None:
    values = pa.array([value for _, own, value in VALUES if own == kind], kind)
    for place, shown in enumerate(plain_values(values)):
        assert question_value(shown, kind, "f(x)").equals(values.slice(place, 1))


def test_nan_is_a_value() -> None:
    assert math.isnan(question_value("NaN", pa.float64(), "f(x)")[0].as_py())


@pytest.mark.parametrize(
    ("constant", "kind"),
    [
        (1, pa.bool_()),
        (True, pa.int32()),
        (128, pa.int8()),
        (1.5, pa.int32()),
        ("5", pa.int32()),
        ("a", pa.float64()),
        (True, pa.float64()),
        (10**400, pa.float64()),
        (0.001, pa.decimal128(5, 2)),
        (1_000, pa.decimal128(5, 2)),
        ("NaN", pa.decimal128(5, 2)),
        (True, pa.decimal128(5, 2)),
        ("1e999999", pa.decimal128(38, 0)),
        ("2013-02-30", pa.date32()),
        (20130710, pa.date32()),
        ("noon", pa.timestamp("us", tz="UTC")),
        (5, pa.string()),
        ("not base64", pa.binary()),
    ],
)
def test_a_constant_of_another_type_is_refused_in_one_line(constant: Any, kind: pa.DataType) -> None:
    with pytest.raises(CubeError, match="which is none: write a value as answers show it") as caught:
        question_value(constant, kind, "contains(x, it)")
    assert str(caught.value).startswith("measure 'contains(x, it)': compares ")
    assert "\n" not in str(caught.value)
