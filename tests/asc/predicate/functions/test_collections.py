"""Functions of arrays, maps and structs."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("size(s)", "not an array or map"),
        ("array_contains(tags, 5)", "seeks STRING, not INT"),
        ("array_remove(ns, big)", "puts BIGINT among INT"),
        ("array_append(tags, 5)", "puts INT among STRING"),
        ("array_insert(ns, 0, 1)", "other than 0"),
        ("array_insert(ns, n, 1)", "place"),
        ("array_repeat(n, 101)", "0..100"),
        ("array_join(raws, s)", "constants of at most 20 characters"),
        ("array_join(maps, ',')", "no strings"),
        ("arrays_overlap(raws, raws)", "product of the arrays' lengths"),
        ("arrays_overlap(tags, ns)", "CAST them to one type"),
        ("array_intersect(tags, tags)", "the square of a length"),
        ("array_union(tags, tags)", "write its arrays out"),
        ("array_distinct(tags)", "write its arrays out"),
        ("sequence(1, n)", "takes constants"),
        ("sequence(1, 5, -1)", "a step towards its end"),
        ("sequence(1, 1001)", "at most 1,000 entries"),
        ("sequence(1, 5, 0)", "a step towards its end"),
        ("element_at(tags, n + 1)", "place"),
        ("element_at(tags, big)", "a place that is an INT, not BIGINT"),
        ("element_at(tags, 1L)", "a place that is an INT, not BIGINT"),
        ("array_max(maps)", "maps have no order"),
        ("slice(tags, 0, 1)", "other than 0"),
        ("slice(tags, 1, n)", "length"),
        ("element_at(tags, 0)", "other than 0"),
        ("element_at(tags, -2147483648)", "-1000000000..1000000000"),
        ("element_at(labels, 1)", "seeks STRING, not INT"),
        ("flatten(tags)", "an array of arrays"),
        ("map(s, 1)", "must be constants of one type"),
        ("map('a', 1, 'a', 2)", "each once"),
        ("map(NULL, 1)", "must be constants"),
        ("map('a')", "in turn"),
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
        ("array()", None),
        ("array_max(ns)", pa.int32()),
        ("element_at(tags, -1)", pa.string()),
        ("element_at(labels, s)", pa.int32()),
        ("get(ns, n)", pa.int32()),
        ("map('a', 1)[s]", pa.int32()),
        ("map_keys(labels)", pa.list_(pa.string())),
        ("map_values(labels)[0]", pa.int32()),
        ("named_struct('a', n, 'b', s).b", pa.string()),
        ("sequence(1, 5L)", pa.list_(pa.int64())),
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


def test_a_column_may_be_a_place_that_is_none(expression_of: Callable[[str], Expression]) -> None:
    guarded = "element_at(tags, if(n = 0 OR n < -1000000000, NULL, n))"
    assert expression_of("element_at(tags, n)").sql == guarded
    assert expression_of("element_at(labels, s)").sql == "element_at(labels, s)"
