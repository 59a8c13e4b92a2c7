"""Tuples that callers give: see also tests/broker/http/test_views.py, where explanations are asked for with them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.keys.attribute import PAttribute
from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.errors import QueryError
from broker.http.tuples import in_slots, tuple_text


def test_a_tuple_as_a_record_would_hold_it() -> None:
    assert tuple_text({"s": "Zürich", "n": None}) == '{"s": "Zürich", "n": null}'.encode()
    # Half of a surrogate pair, which JSON can spell.
    assert tuple_text({"s": "\ud800"}) == b'{"s": "?"}'
    with pytest.raises(QueryError, match="tuple '1048586 bytes': give one of 1048576"):
        tuple_text({"s": "x" * ((1 << 20) + 1)})


def test_values_in_the_order_of_a_plan() -> None:
    plan = compile_plan([Query("q", normalise("n > 1 AND s = 'x'", Schema.from_ddl("n INT, s STRING")))])
    given = PAttribute("s", pa.string(), ("s",))
    found = {
        one.sql: value for one, value in zip(plan.p_attributes, in_slots(plan, [given], [pa.scalar("y")]), strict=True)
    }
    assert found["s"].as_py() == "y"
    assert (found["n"].is_valid, found["n"].type) == (False, pa.int32())
