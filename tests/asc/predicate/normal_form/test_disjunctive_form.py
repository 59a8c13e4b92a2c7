"""Predicates in normal form: which p-attributes they constrain."""

from __future__ import annotations

import re

import pyarrow as pa

from asc.errors import PredicateError
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.predicate import normalise
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.predicate.normal_form.plain_reader import PlainReader
from asc.schema import Schema
from workloads.random_predicates import hand_picked_predicates, random_predicates
from workloads.random_tuples import ALL_TYPES_DDL

A, B, C = (PAttribute(name, pa.int32(), (name,)) for name in "abc")
POSITIVE = Constraint((((0, 1), None),))


def test_p_attributes_are_told_once_in_the_order_of_first_use() -> None:
    predicate = Predicate("", (((B, POSITIVE), (A, POSITIVE)), ((C, POSITIVE), (B, POSITIVE))))
    assert predicate.p_attributes == (B, A, C)
    assert Predicate("TRUE", (), match_all=True).p_attributes == ()


def test_the_columns_are_those_that_stand_in_the_text() -> None:
    schema = Schema.from_ddl(ALL_TYPES_DDL)
    reader, read, seen = PlainReader(schema), 0, set()
    names = {attribute.name for attribute in schema.attributes} | {field.name for field in schema.arrow}
    for text in [*random_predicates(7, 2_000), *hand_picked_predicates()]:
        bare = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "''", text)
        used = {
            word for word in re.findall(r"(?<![\w.`])[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)*(?!\w*\()", bare) if word in names
        }
        try:
            columns = normalise(text, schema).columns
        except PredicateError:
            continue
        assert {".".join(path) for path in columns} >= used, text
        plain = reader.predicate(text)
        if plain is not None:
            read += 1
            assert plain.columns == columns
        seen |= columns
    assert read > 100
    assert len(seen) > 15
