"""Predicates by id in their normal form."""

from __future__ import annotations

import pytest

from asc.errors import AscError, PredicateError
from asc.predicate import Limits, normalise
from asc.predicate.normal_form.join_predicate import Join
from asc.schema import Schema, properties_of_ddl
from asc.spatial.feature import Feature
from asc.spatial.layer import Layer
from broker.matching.named_queries import normalised_queries

SCHEMA = Schema.from_ddl("delay INT, dest STRING")


def test_each_query_comes_in_its_order() -> None:
    queries = {"late": "delay > 60", "bay": "dest = 'SFO'"}
    assert [query.id for query in normalised_queries(queries, SCHEMA, Limits(), "UTC")] == ["late", "bay"]


def test_a_refusal_names_the_query_and_keeps_its_caret() -> None:
    with pytest.raises(PredicateError, match=r"query 'late'.*dely") as caught:
        list(normalised_queries({"late": "dely > 60"}, SCHEMA, Limits(), "UTC"))
    assert caught.value.caret() == "dely > 60\n^^^^"


LAYER = Layer(
    {name: Feature(None, {"most": most}) for name, most in (("a", 30), ("b", 60), ("c", None))},
    properties=properties_of_ddl("most INT"),
)


def test_a_join_is_a_query_a_shape() -> None:
    schema = SCHEMA.with_layers({"z": LAYER})
    queries: dict[str, str | Join] = {"late": "delay > 60", "over": Join("z", "delay > z.most AND dest = 'SFO'")}
    found = {query.id: query.predicate for query in normalised_queries(queries, schema, Limits(), "UTC")}
    assert list(found) == ["late", "over/a", "over/b", "over/c"]
    for name, text in (("a", "delay > 30"), ("b", "delay > 60")):
        assert found[f"over/{name}"].conjuncts == normalise(f"{text} AND dest = 'SFO'", schema).conjuncts
    assert found["over/c"].conjuncts == ()


def test_a_refusal_names_the_join_and_the_shape() -> None:
    schema = SCHEMA.with_layers({"z": LAYER})
    with pytest.raises(PredicateError, match=r"query 'over': unknown property.*known of a row: geometry, most"):
        list(normalised_queries({"over": Join("z", "delay > z.moat")}, schema, Limits(), "UTC"))
    bad = Layer({"x": Feature(None, {"p": "(a*)*b"})}, properties=properties_of_ddl("p STRING"))
    with pytest.raises(PredicateError, match=r"query 'over/x': regular expression"):
        list(normalised_queries({"over": Join("z", "dest RLIKE z.p")}, SCHEMA.with_layers({"z": bad}), Limits(), "UTC"))


@pytest.mark.parametrize("query_id", ["", "a\nb", "a\x1fb", 7])
def test_an_illegal_id(query_id: str) -> None:
    with pytest.raises(AscError, match="query id"):
        list(normalised_queries({query_id: "delay > 1"}, SCHEMA, Limits(), "UTC"))
