"""The moving objects are the same ones each time, and their queries are such that the broker takes."""

from __future__ import annotations

import json
from itertools import pairwise

from asc.schema import Schema
from broker.operators.kinds import OPERATORS, definition_of, kind_of
from broker.operators.operator_body import bodies
from broker.operators.schema_analyser import SchemaAnalyser
from tools.faults.moves import DDL, QUERIES, example_queries, move_of


def test_a_number_has_one_record_and_objects_move_in_and_out() -> None:
    values = [json.loads(move_of(number)[1]) for number in range(5_000)]
    assert values == [json.loads(move_of(number)[1]) for number in range(5_000)]
    assert len({value["k"] for value in values}) == 12
    own = [value["x"] > 2 for value in values if value["k"] == "o0"]
    assert sum(first != second for first, second in pairwise(own)) > 2


def test_the_queries_are_of_every_kind_and_well_formed() -> None:
    kinds = {query["operator"]["name"] for query in QUERIES.values()}
    assert kinds == bodies().keys() - {"route"}
    for query in QUERIES.values():
        bodies()[query["operator"]["name"]].model_validate(query["operator"])


def test_the_first_example_of_a_kind_is_a_query_over_the_records() -> None:
    analyser = SchemaAnalyser(Schema.from_ddl(f"{DDL}, _offset BIGINT"))
    for query in example_queries(OPERATORS).values():
        definition = definition_of(query["operator"])
        assert definition is not None
        kind_of(definition).read(definition, analyser)
    assert set(json.loads(move_of(3)[1])) == {column.split()[0] for column in DDL.split(", ")}
