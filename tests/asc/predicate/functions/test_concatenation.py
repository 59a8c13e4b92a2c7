"""What is joined, and turned round."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.concatenation import concatenation_trouble, type_of_concatenation

INTS, LONGS, TEXTS, DAYS = (pa.list_(kind) for kind in (pa.int32(), pa.int64(), pa.string(), pa.date32()))


@pytest.mark.parametrize(
    ("kinds", "result"),
    [
        ([INTS, INTS], INTS),
        ([INTS, LONGS], LONGS),
        ([INTS, None], None),
        ([pa.string(), pa.string()], pa.string()),
        ([pa.string(), pa.binary()], None),
    ],
)
def test_what_is_joined(kinds: list[pa.DataType | None], result: pa.DataType | None) -> None:
    assert concatenation_trouble(kinds) is None
    assert type_of_concatenation(kinds) == result


@pytest.mark.parametrize(
    "kinds", [[INTS, pa.string()], [INTS, pa.null()], [DAYS, TEXTS], [DAYS, pa.list_(pa.timestamp("us"))]]
)
def test_what_is_not(kinds: list[pa.DataType | None]) -> None:
    assert concatenation_trouble(kinds) is not None


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("concat(ns, array(big))", pa.list_(pa.int64())),
        ("ns || ns", pa.list_(pa.int32())),
        ("reverse(tags)", pa.list_(pa.string())),
        ("reverse(s)", pa.string()),
        ("concat(s, n)", pa.string()),
        ("concat()", pa.string()),
    ],
)
def test_types_of_results(text: str, result: pa.DataType, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == result


def test_maps_have_no_order_to_turn_round(trouble_of: Callable[[str], str]) -> None:
    assert "a string or an array" in trouble_of("reverse(labels)")
    assert "join arrays, or strings" in trouble_of("concat(tags, s)")
    assert "join arrays, or strings" in trouble_of("s || tags")
