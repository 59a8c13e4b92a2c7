"""Rules for the types of results that several families share."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expressions.expression import Expression
from asc.predicate.functions import results
from asc.predicate.functions.function import Call
from asc.predicate.syntax.nodes import Node


def call(*kinds: pa.DataType | None) -> Call:
    return Call("f", [Expression("a", kind, Node("column", (), 0, 1, ("a",))) for kind in kinds])


def test_common_types() -> None:
    assert results.common(call(pa.null(), pa.int32(), pa.int64())) == pa.int64()
    assert results.common_of_branches(call(pa.bool_(), pa.date32(), pa.null())) == pa.date32()
    assert results.common(call(pa.string(), pa.int32())) == pa.string()
    assert results.common(call(pa.string(), None)) is None


def test_first_and_elements() -> None:
    assert results.first(call(pa.null())) is None
    assert results.first(call(pa.string())) == pa.string()
    assert results.element(call(pa.list_(pa.int8()))) == pa.int8()
    assert results.element(call(pa.map_(pa.string(), pa.int8()))) is None


def test_strings_and_binary() -> None:
    assert results.string_or_binary(call(pa.string(), pa.int32())) == pa.string()
    assert results.string_or_binary(call(pa.string(), pa.binary())) is None
    assert results.part_of_string(call(pa.binary())) is None
    assert results.part_of_string(call(pa.int32())) == pa.string()
