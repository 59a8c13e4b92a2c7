"""Answers with bounds, as Arrow has them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.operators.cube.answered import bounded_type, ordered_type, ordered_values


def test_an_answer_with_bounds_is_ordered_by_its_estimate() -> None:
    kind = bounded_type(pa.float64(), rank_error=pa.float64())
    assert kind.names == ["estimate", "low", "high", "confidence", "rank_error"]
    low = {"estimate": 1.0, "low": 0.0, "high": 9.0, "confidence": 0.95, "rank_error": 0.01}
    answers = pa.array([{**low, "estimate": 2.0}, None, low], kind)
    assert ordered_type(kind) == pa.float64()
    assert ordered_values(answers).to_pylist() == [2.0, None, 1.0]
    assert bounded_type(pa.int64()).field("low").type == pa.int64()


@pytest.mark.parametrize("kind", [pa.list_(bounded_type(pa.int64())), pa.struct({"count": pa.int64()})])
def test_other_nested_answers_have_no_order(kind: pa.DataType) -> None:
    assert ordered_type(kind) is None


def test_a_plain_answer_is_ordered_by_itself() -> None:
    values = pa.array([1, None])
    assert ordered_type(values.type) == pa.int64()
    assert ordered_values(values) is values
