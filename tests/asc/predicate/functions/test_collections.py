"""Functions of arrays, maps and structs."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("size(s)", "not an array or map"),
        ("array_contains(tags, 5)", "seeks STRING, not INT"),
        ("array_contains(tags, NULL)", "write exists(xs, x -> x IS NULL)"),
        ("array_contains(array(), NULL)", "array_contains of NULL is refused by Spark"),
        ("map_contains_key(labels, NULL)", "map_contains_key of NULL is refused by Spark"),
        ("array_remove(ns, price)", "puts DECIMAL(5,2) among INT"),
        ("array_append(tags, 5)", "puts INT among STRING"),
        ("array_insert(ns, 0, 1)", "other than 0"),
        ("array_insert(ns, n, 1)", "place"),
        ("array_repeat(n, 101)", "0..100"),
        ("array_repeat(tags, n)", "a constant number of times"),
        ("array_repeat(n, big)", "a count that is an INT"),
        ("array_join(maps, ',')", "no strings"),
        ("element_at(tags, big)", "a place that is an INT, not BIGINT"),
        ("element_at(tags, 1L)", "a place that is an INT, not BIGINT"),
        ("array_max(maps)", "maps have no order"),
        ("slice(tags, 0, 1)", "other than 0"),
        ("slice(tags, 1, -1)", "length"),
        ("element_at(tags, 0)", "other than 0"),
        ("element_at(tags, -2147483648)", "-1000000000..1000000000"),
        ("element_at(labels, 1)", "seeks STRING, not INT"),
        ("flatten(tags)", "an array of arrays"),
        ("named_struct(s, 1)", "constant strings"),
        ("sort_array(tags, flag)", "TRUE or FALSE"),
        ("array('a', flag)", "CAST them"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("array(1, big)", pa.list_(pa.int64())),
        ("array()", pa.list_(pa.null())),
        ("array(NULL)", pa.list_(pa.null())),
        ("array(n, s)", pa.list_(pa.string())),
        ("array(n, price)", pa.list_(pa.decimal128(12, 2))),
        ("array(price, f)", pa.list_(pa.float64())),
        ("array(wide, price)", None),
        ("array(day, ts)", pa.list_(pa.timestamp("us", tz="UTC"))),
        ("array(tags, ns)", pa.list_(pa.list_(pa.string()))),
        ("array_union(tags, array())", pa.list_(pa.string())),
        ("array_distinct(array())", pa.list_(pa.null())),
        ("array_max(array())", pa.null()),
        ("array_max(ns)", pa.int32()),
        ("array_append(ns, big)", pa.list_(pa.int64())),
        ("array_insert(ns, 1, NULL)", pa.list_(pa.int32())),
        ("element_at(tags, -1)", pa.string()),
        ("element_at(labels, s)", pa.int32()),
        ("get(ns, n)", pa.int32()),
        ("named_struct('a', n, 'b', s).b", pa.string()),
        ("array_repeat(n, 2)", pa.list_(pa.int32())),
        ("flatten(array(ns))", pa.list_(pa.int32())),
        ("array_join(ns, ',')", pa.string()),
        ("slice(tags, 1, 2)[0]", pa.string()),
        ("array_intersect(tags, array('a'))", pa.list_(pa.string())),
        ("arrays_overlap(tags, array('a', 'b'))", pa.bool_()),
    ],
)
def test_types_of_results(text: str, result: pa.DataType | None, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == result


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("element_at(tags, n)", "element_at(tags, if(n = 0 OR n < -1000000000, NULL, n))"),
        (
            "element_at(tags, n + 1)",
            "element_at(tags, transform(array(n + 1), p -> if(p = 0 OR p < -1000000000, NULL, p))[0])",
        ),
        ("element_at(labels, s)", "element_at(labels, s)"),
        ("slice(tags, n, 2)", "slice(tags, if(n = 0, NULL, n), 2)"),
        ("slice(tags, 1, tiny)", "slice(tags, 1, if(tiny < 0, NULL, tiny))"),
        ("array_repeat(s, 3)", "array_repeat(s, 3)"),
        ("array_join(tags, ',')", "array_join(tags, ',')"),
    ],
)
def test_what_the_record_says_may_be_none(text: str, sql: str, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).sql == sql


def test_what_the_record_makes_longer_is_bounded(
    expression_of: Callable[[str], Expression], trouble_of: Callable[[str], str]
) -> None:
    assert "CAST(size(p.a) AS BIGINT) * octet_length(p.b) <= 50000" in expression_of("array_join(tags, s)").sql
    assert "p.b <= 10000" in expression_of("array_repeat(d, n)").sql
    assert "octet_length(p.a) <= 50000" in expression_of("array_repeat(s, n)").sql
    assert "longer" in trouble_of("array(array_join(tags, s), array_join(tags, t), array_join(tags, s || t))")
