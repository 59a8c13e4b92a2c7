"""What is refused of queries with an operator because there are enough of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from asc.plan.compiler import compile_plan
from asc.plan.destination import Destination
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.config.config import Config, parse_config
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.operators.cube.definition import StandingCube
from broker.operators.cube.kind import CUBE
from broker.operators.dbscan.definition import StandingDbscan
from broker.operators.dbscan.kind import DBSCAN
from broker.operators.events.definition import EventsDefinition
from broker.operators.expression import OperatorExpressions
from broker.operators.near.definition import NearDefinition
from broker.operators.schema_analyser import SchemaAnalyser
from broker.queries.operator_limits import StandingOperators, check_alone, excess_of_operators
from broker.queries.query import RegisteredQuery
from broker.queries.validated_query import ValidatedQuery

DBSCAN_OWN = {"attributes": ["n"], "eps": 1, "min_samples": 2, "time": "t"}
WINDOWS = {"window_s": 60, "slide_s": 10}
COUNTED = {"window_points": 51, "slide_points": 10}
SCHEMA = Schema.from_ddl("n INT, s STRING, t TIMESTAMP")


def config(**limits: int) -> Config:
    stream = {"topic": "t", "format": "json", "schema": "n INT"}
    return parse_config({"streams": {"s": stream}, "limits": limits})


def candidate(query_id: str, key: str | None = "s", *, paused: bool = False) -> ValidatedQuery:
    asked = None if key is None else EventsDefinition(key)
    texts = () if key is None else (f"CAST(({key}) AS STRING) IS NOT NULL", "unix_micros(t) IS NOT NULL")
    query = RegisteredQuery(query_id, "s", "n > 1", "out", paused=paused, operator=asked)
    expressions = OperatorExpressions(tuple(normalise(text, SCHEMA) for text in texts))
    return ValidatedQuery(query, normalise("n > 1", SCHEMA), expressions=expressions)


def near(query_id: str, key: str = "s", *, paused: bool = False) -> ValidatedQuery:
    asked = NearDefinition(key, 5, 30, 10)
    texts = (f"CAST(({key}) AS STRING) IS NOT NULL", "unix_micros(t) IS NOT NULL")
    own = [*texts, "ST_DistanceSphere(ST_Point(0, 0), ST_Point(n, n)) <= 1"]
    query = RegisteredQuery(query_id, "s", "true", "out", paused=paused, operator=asked)
    expressions = OperatorExpressions(tuple(normalise(text, SCHEMA) for text in own), ())
    return ValidatedQuery(query, normalise("true", SCHEMA), expressions=expressions)


def dbscan(query_id: str, *, points: int | None = None, paused: bool = False) -> ValidatedQuery:
    windows = WINDOWS if points is None else {**COUNTED, "window_points": points}
    asked = StandingDbscan.parse({**DBSCAN_OWN, **windows})
    own = DBSCAN.read(asked, SchemaAnalyser(SCHEMA))
    query = RegisteredQuery(query_id, "s", "true", "out", paused=paused, operator=asked)
    return ValidatedQuery(query, normalise("true", SCHEMA), expressions=own)


def cube(query_id: str) -> ValidatedQuery:
    plain = {"dimensions": [["s"]], "measures": ["count(*)"], "time": "t", "grain_s": 60}
    asked = StandingCube.parse(plain)
    own = CUBE.read(asked, SchemaAnalyser(SCHEMA))
    return ValidatedQuery(
        RegisteredQuery(query_id, "s", "true", "out", operator=asked), normalise("true", SCHEMA), expressions=own
    )


@pytest.mark.parametrize(
    ("limits", "standing", "changes", "refused"),
    [
        ({}, [candidate("a")], [candidate("b", "n"), candidate("c", None)], {}),
        ({"stream_tracks": 1}, [], [candidate("a"), candidate("b"), candidate("c", "n")], {2: "has 1 tracks already"}),
        ({"stream_tracks": 1}, [candidate("a")], [candidate("b", "n")], {0: "has 1 tracks already"}),
        ({"stream_tracks": 1}, [candidate("a")], [candidate("a", "n"), candidate("b", "n")], {}),
        ({"stream_tracks": 1}, [candidate("a")], [candidate("b", "n", paused=True)], {}),
        ({"stream_event_queries": 2}, [candidate("a")], [candidate("b"), candidate("c")], {1: "has 2 already"}),
        ({"stream_event_queries": 1}, [candidate("a")], [candidate("a", "n")], {}),
        ({"stream_event_queries": 0}, [], [candidate("a"), candidate("b", None)], {0: "has 0 already"}),
        ({"stream_event_queries": 0}, [], [near("a")], {}),
        ({"stream_near_queries": 1}, [near("a")], [near("b"), candidate("c")], {0: "has 1 already"}),
        ({"stream_near_queries": 1}, [near("a")], [near("a")], {}),
        ({"stream_tracks": 1}, [candidate("a")], [near("b")], {0: "has 1 tracks already"}),
        ({"stream_dbscan_queries": 1}, [dbscan("a")], [dbscan("b"), candidate("c")], {0: "has 1 already"}),
        ({"stream_dbscan_queries": 1}, [dbscan("a")], [dbscan("a")], {}),
        ({"stream_dbscan_points": 50}, [], [dbscan("a", points=50), dbscan("b", points=51)], {1: "the 50 points"}),
        ({"stream_dbscan_points": 50}, [], [dbscan("a", points=51, paused=True)], {}),
        ({"stream_tracks": 1}, [dbscan("a")], [dbscan("b"), candidate("c")], {1: "has 1 tracks already"}),
        ({"stream_cubes": 1}, [cube("a")], [cube("b"), candidate("c")], {0: "has 1 already"}),
        ({"stream_cubes": 1}, [cube("a")], [cube("a")], {}),
        ({"stream_cubes": 0}, [], [cube("a")], {0: "has 0 already: remove one, or raise limits.stream_cubes"}),
    ],
)
def test_what_stands_counts_and_what_is_replaced_does_not(
    limits: dict[str, int], standing: list[ValidatedQuery], changes: list[ValidatedQuery], refused: dict[int, str]
) -> None:
    own, operators = config(**limits), StandingOperators(plans_of(*standing))
    found = excess_of_operators(own, changes, (), operators)
    assert found.keys() == refused.keys()
    assert all(said in str(found[position]) for position, said in refused.items())
    assert excess_of_operators(own, changes, range(len(changes)), operators) == {}


@pytest.mark.parametrize(
    ("limits", "standing", "changes", "removed"),
    [
        ({"stream_near_queries": 1}, near("a"), [near("b")], ["a"]),
        ({"stream_near_queries": 1}, near("a"), [near("b"), near("a", paused=True)], []),
        ({"stream_near_queries": 1}, near("a"), [candidate("a", None), near("b")], []),
        ({"stream_near_queries": 1}, near("a"), [near("b"), candidate("a")], []),
        ({"stream_cubes": 1}, cube("a"), [cube("b")], ["a"]),
        ({"stream_tracks": 1}, candidate("a"), [candidate("b", "n")], ["a"]),
        ({"stream_tracks": 1}, candidate("a"), [candidate("b", "n"), candidate("a", paused=True)], []),
        ({"stream_tracks": 1}, candidate("a"), [candidate("a", None), near("b")], []),
        ({"stream_tracks": 1}, candidate("a"), [cube("a"), near("b")], []),
    ],
)
def test_what_a_change_removes_pauses_or_turns_to_another_kind_frees_its_place(
    limits: dict[str, int], standing: ValidatedQuery, changes: list[ValidatedQuery], removed: list[str]
) -> None:
    own, operators = config(**limits), StandingOperators(plans_of(standing), removed=removed)
    assert excess_of_operators(own, changes, (), operators) == {}
    # Without the change that frees it there is no place.
    others = [one for one in changes if one.query.id != "a"]
    refused = excess_of_operators(own, others, (), replace(operators, removed=()))
    assert list(refused) == [0]
    # Nor where that change is refused.
    freeing = [i for i, one in enumerate(changes) if one.query.id == "a"]
    refused = excess_of_operators(own, changes, freeing, replace(operators, removed=()))
    assert list(refused) == [i for i, one in enumerate(changes) if one.query.id != "a"]


def test_one_whose_definition_is_refused_frees_no_place() -> None:
    own = config(stream_dbscan_points=50, stream_dbscan_queries=1)
    operators = StandingOperators(plans_of(dbscan("a")))
    found = excess_of_operators(own, [dbscan("b"), dbscan("a", points=51)], (), operators)
    assert "has 1 already" in str(found[0])
    assert "the 50 points" in str(found[1])


@pytest.mark.parametrize("limit", ["stream_near_queries", "stream_tracks"])
def test_one_that_is_not_served_keeps_its_place(limit: str) -> None:
    waiting = {"b": ("s", planned(near("b"))[0][1])}
    own, operators = config(**{limit: 1}), StandingOperators(plans_of(near("a")), waiting)
    for changes, removed in (([near("c", "n")], ["a"]), ([near("a", "n")], []), ([near("c", "n")], [])):
        found = excess_of_operators(own, changes, (), replace(operators, removed=removed))
        assert list(found) == [0], changes
    # It may be removed or replaced as others may, and has no place in another stream.
    for changes, removed in (([near("c", "n")], ["a", "b"]), ([near("b", "n")], ["a"]), ([near("b", paused=True)], [])):
        assert excess_of_operators(own, changes, (), replace(operators, removed=removed)) == {}, changes
    elsewhere = {name: ("other", destination) for name, (_, destination) in waiting.items()}
    assert excess_of_operators(own, [near("c", "n")], (), StandingOperators({}, elsewhere)) == {}


def test_one_that_is_registered_again_unchanged_keeps_the_place_that_it_has() -> None:
    waiting = {"b": ("s", planned(near("b"))[0][1])}
    own, operators = config(stream_near_queries=1), StandingOperators(plans_of(near("a")), waiting, unchanged={1})
    found = excess_of_operators(own, [near("c"), near("a")], (), operators)
    assert list(found) == [0]


def test_a_replacement_keeps_its_place_whatever_comes_before_it() -> None:
    own, operators = config(stream_near_queries=1), StandingOperators(plans_of(near("a")))
    for changes, wanted in (([near("c"), near("a")], [0]), ([near("a"), near("c")], [1])):
        assert list(excess_of_operators(own, changes, (), operators)) == wanted


def test_what_stands_is_counted_without_its_definitions() -> None:
    """To read the definitions of ten thousand queries takes most of a second, under the registrar's lock."""
    standing = [replace(query, destination=replace(own, definition="")) for query, own in planned(candidate("a"))]
    operators = StandingOperators({"s": compile_plan(standing)})
    found = excess_of_operators(config(stream_event_queries=1), [candidate("b")], (), operators)
    assert "has 1 already" in str(found[0])


def test_new_queries_are_judged_without_others() -> None:
    one, many = (StandingDbscan.parse({**DBSCAN_OWN, **each}) for each in (WINDOWS, COUNTED))
    check_alone(LimitsConfig(), [])
    check_alone(LimitsConfig(stream_dbscan_queries=2), [one, many])
    with pytest.raises(QueryError, match=r"window_points 51: is more than the 50 points"):
        check_alone(LimitsConfig(stream_dbscan_points=50), [one, many])
    with pytest.raises(QueryError, match=r"queries of one operator 2: .* raise limits.stream_dbscan_queries"):
        check_alone(LimitsConfig(stream_dbscan_queries=1), [one, many])


def plans_of(*standing: ValidatedQuery) -> dict[str, Plan]:
    """The plan of the stream that has these queries."""
    return {"s": compile_plan([each for one in standing for each in one.planned()])}


def planned(one: ValidatedQuery) -> list[tuple[Query, Destination]]:
    """The queries of a candidate in plans that have an operator, each with it."""
    return [(query, query.destination) for query in one.planned() if query.destination is not None]
