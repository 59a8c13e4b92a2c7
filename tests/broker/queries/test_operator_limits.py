"""What is refused of queries with an operator because there are enough of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from asc.plan.compiler import compile_plan
from asc.plan.destination import Destination
from asc.plan.plan import Query
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
from broker.queries.operator_limits import check_alone, excess_of_operators
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


def near(query_id: str) -> ValidatedQuery:
    asked = NearDefinition("s", 5, 30, 10)
    texts = ("CAST((s) AS STRING) IS NOT NULL", "unix_micros(t) IS NOT NULL")
    own = [*texts, "ST_DistanceSphere(ST_Point(0, 0), ST_Point(n, n)) <= 1"]
    query = RegisteredQuery(query_id, "s", "true", "out", operator=asked)
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
    own = config(**limits)
    plans = {"s": compile_plan([each for one in standing for each in one.planned()])}
    found = excess_of_operators(own, changes, (), plans)
    assert found.keys() == refused.keys()
    assert all(said in str(found[position]) for position, said in refused.items())
    assert excess_of_operators(own, changes, range(len(changes)), plans) == {}


def test_what_stands_is_counted_without_its_definitions() -> None:
    """To read the definitions of ten thousand queries takes most of a second, under the registrar's lock."""
    standing = [replace(query, destination=replace(own, definition="")) for query, own in planned(candidate("a"))]
    plans = {"s": compile_plan(standing)}
    found = excess_of_operators(config(stream_event_queries=1), [candidate("b")], (), plans)
    assert "has 1 already" in str(found[0])


def test_new_queries_are_judged_without_others() -> None:
    one, many = (StandingDbscan.parse({**DBSCAN_OWN, **each}) for each in (WINDOWS, COUNTED))
    check_alone(LimitsConfig(), [])
    check_alone(LimitsConfig(stream_dbscan_queries=2), [one, many])
    with pytest.raises(QueryError, match=r"window_points 51: is more than the 50 points"):
        check_alone(LimitsConfig(stream_dbscan_points=50), [one, many])
    with pytest.raises(QueryError, match=r"queries of one operator 2: .* raise limits.stream_dbscan_queries"):
        check_alone(LimitsConfig(stream_dbscan_queries=1), [one, many])


def planned(one: ValidatedQuery) -> list[tuple[Query, Destination]]:
    """The queries of a candidate in plans that have an operator, each with it."""
    return [(query, query.destination) for query in one.planned() if query.destination is not None]
