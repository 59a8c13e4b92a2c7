"""Candidates: members of joins, over all rows or from earlier ones the same, and what an operator reads."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from asc.errors import PredicateError
from asc.predicate import Limits, normalise
from asc.predicate.normal_form.join_predicate import JoinPredicate
from asc.schema import Schema, properties_of_ddl
from asc.spatial.feature import Feature
from asc.spatial.layer import Layer
from broker.cancellation import Cancellation
from broker.config.streams import StreamConfig
from broker.errors import CancelledError, QueryError
from broker.formats.record_attributes import attributes_of
from broker.operators.cube.definition import StandingCube
from broker.operators.dbscan.definition import StandingDbscan
from broker.operators.definition import Definition
from broker.operators.events.definition import EventsDefinition
from broker.operators.expression import OperatorExpressions
from broker.operators.feed_destination import FeedDestination
from broker.operators.near.definition import NearDefinition
from broker.plans.sorted_map import SortedMap
from broker.queries.join import Join
from broker.queries.query import RegisteredQuery
from broker.queries.validated_query import Members, ValidatedQuery, members_of
from broker.stream.analyser import NO_LAYERS, StreamAnalyser

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = Schema.from_ddl("n INT, s STRING").with_layers(
    {"t": Layer({}, properties=properties_of_ddl("low INT, pattern STRING"))}
)
JOIN = JoinPredicate("n >= t.low AND s RLIKE t.pattern", SCHEMA, "t")
REFUSED = "(a*)*b"
BERN = "ST_Contains(ST_PolygonFromEnvelope(7, 46, 8, 47), ST_Point(lon, lat)) AND n > 3"


def row(chance: random.Random) -> Feature:
    return Feature(None, {"low": chance.choice([None, 1, 2]), "pattern": chance.choice(["^a", "^b", REFUSED])})


def test_from_earlier_members_as_from_the_rows_alone() -> None:
    chance = random.Random(3)
    rows: SortedMap[str, Feature] = SortedMap({f"r{i}": row(chance) for i in range(30)})
    members = Members.of(JOIN, rows)
    for _ in range(20):
        puts = {f"r{chance.randrange(40)}": row(chance) for _ in range(3)}
        rows = rows.changed(puts, [name for name in chance.sample(list(rows), 2) if name not in puts])
        members, alone = members.over(rows), Members.of(JOIN, rows)
        assert dict(members.predicates) == dict(alone.predicates)
        bad = {name for name, one in rows.items() if one.properties["pattern"] == REFUSED}
        assert set(members.refused) == set(alone.refused) == bad
        assert members.rows is rows
        assert members.computed.keys() == alone.computed.keys()
    assert members.over(rows) is members


class Cancelling(dict[str, Feature]):
    """Rows of which the third cancels the work that reads them; it notes how far they were read."""

    def __init__(self, rows: dict[str, Feature], cancellation: Cancellation) -> None:
        super().__init__(rows)
        self.read = 0
        self._cancellation = cancellation

    def items(self) -> Any:
        for name, one in super().items():
            self.read += 1
            if self.read == 3:
                self._cancellation.cancel("its client is gone")
            yield name, one


def test_members_are_made_no_further_once_they_are_cancelled() -> None:
    cancellation = Cancellation()
    rows = Cancelling({f"r{i}": row(random.Random(i)) for i in range(100)}, cancellation)
    with pytest.raises(CancelledError, match="its client is gone"):
        Members.of(JOIN, rows, cancellation)
    assert rows.read == 3


def test_members_are_made_no_further_once_spark_would_compute_too_much() -> None:
    rows = Cancelling({f"r{i}": Feature(None, {"low": 1, "pattern": f"^a{i}"}) for i in range(100)}, Cancellation())
    with pytest.raises(QueryError, match=r"more than 5 expressions .* raise limits\.spark_attributes"):
        Members.of(JOIN, rows, computed_max=5)
    assert rows.read == 6


def costly_rows(join_nodes: int) -> tuple[JoinPredicate, Cancelling]:
    """Return a join, and rows whose first one makes nothing of what each of the others makes a product of."""
    schema = Schema.from_ddl(", ".join(f"c{i} INT" for i in range(24))).with_layers(
        {"t": Layer({}, properties=properties_of_ddl("on BOOLEAN, n INT"))}
    )
    groups = (" OR ".join(f"c{3 * group + k} = t.n + {k}" for k in range(3)) for group in range(8))
    where = f"t.on AND ({') AND ('.join(groups)})"
    rows = Cancelling({f"r{i}": Feature(None, {"on": i > 0, "n": i}) for i in range(20)}, Cancellation())
    return JoinPredicate(where, schema, "t", limits=Limits(join_nodes=join_nodes)), rows


def test_members_are_made_no_further_once_they_took_more_than_a_join_may() -> None:
    join, rows = costly_rows(4_000)
    # By the first row it is cheap.
    join.check_effort(dict(rows))
    with pytest.raises(PredicateError, match=r"join of 20 shapes, about \d,\d\d\d operators .* at most 4,000"):
        Members.of(join, rows, is_bounded=True)
    assert 1 < rows.read < 10
    # One that stands is served whatever it takes.
    assert len(Members.of(join, rows).predicates) == 20
    assert len(Members.of(costly_rows(50_000)[0], rows, is_bounded=True).predicates) == 20


def test_members_over_other_rows_are_bounded_and_cancelled_as_those_of_the_first() -> None:
    join, rows = costly_rows(4_000)
    none = Members.of(join, {}, is_bounded=True)
    assert len(Members.of(join, rows).over(dict(rows)).predicates) == 20
    with pytest.raises(PredicateError, match="at most 4,000"):
        none.over(SortedMap(rows))
    cancellation = Cancellation()
    cancellation.cancel("its client is gone")
    with pytest.raises(CancelledError, match="its client is gone"):
        none.over(SortedMap(rows), cancellation)


def test_rows_of_which_none_could_take_too_much_are_not_tried() -> None:
    join, rows = costly_rows(4_000)
    assert join.may_exceed_effort(rows)
    assert not join.may_exceed_effort({"r0": rows["r0"]})
    assert not costly_rows(60_000)[0].may_exceed_effort(rows)


@pytest.mark.spark
def test_the_effort_of_a_join_is_bounded_when_it_comes_and_never_again(spark: SparkSession) -> None:
    """A registered join is served whatever its layer became; a paused one is made for no shape until it is resumed."""
    config = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "n INT"})
    analyser = StreamAnalyser(
        spark, "t", config.decoder(config.fields(), "UTC"), attributes_of(config.fields()), Limits(join_nodes=100)
    )
    rows = {f"r{i}": Feature(None, {"low": i, "pattern": None}) for i in range(20)}
    shapes = {"t": Layer(rows, properties=properties_of_ddl("low INT, pattern STRING"))}
    query = RegisteredQuery("over", "s", "n >= t.low", "out", join=Join("t"))
    with pytest.raises(PredicateError, match=r"join of 20 shapes, about 260 .* at most 100"):
        ValidatedQuery.of(query, analyser, shapes, may_wait=False)
    assert len(ValidatedQuery.of(query, analyser, shapes).planned()) == 20
    paused = ValidatedQuery.of(replace(query, paused=True), analyser, shapes)
    assert paused.members is not None
    assert not paused.members.rows


def test_what_spark_computes_is_that_of_all_rows_together() -> None:
    rows = {name: Feature(None, {"low": 1, "pattern": text}) for name, text in (("a", "^a"), ("b", "^b"), ("c", "^b"))}
    members = Members.of(JOIN, rows)
    assert len(members.computed) == 2
    query = RegisteredQuery("over", "flights", JOIN.template.text, "out", join=Join("t"))
    candidate = ValidatedQuery(query, JOIN.template, members)
    assert candidate.computes_by_row
    assert [one.id for one in candidate.planned()] == ["over/a", "over/b", "over/c"]
    assert {one.topic for one in candidate.planned()} == {"out"}
    even = JoinPredicate("length(s) > 3 AND n >= t.low", SCHEMA, "t")
    assert not ValidatedQuery(query, even.template, Members.of(even, rows)).computes_by_row
    pairs = RegisteredQuery("over", "flights", JOIN.template.text, "out", join=Join("t", per_shape=True))
    assert [one.id for one in members_of(pairs, members.predicates, None)] == ["over|a", "over|b", "over|c"]


def test_what_is_left_out_is_told() -> None:
    rows = {f"r{i}": Feature(None, {"low": 1, "pattern": REFUSED if i else "^a"}) for i in range(8)}
    members = Members.of(JOIN, rows)
    assert list(members.predicates) == ["r0"]
    assert all(isinstance(error, PredicateError) for error in members.refused.values())
    query = RegisteredQuery("over", "flights", JOIN.template.text, "out", join=Join("t"))
    (warning,) = ValidatedQuery(query, JOIN.template, members).warnings
    assert warning.startswith("7 shapes of its layer are excluded: r1: ")
    assert "r5: " in warning
    assert "r6: " not in warning
    assert "\n" not in warning


@pytest.mark.parametrize(("where", "warns"), [("true", False), (" TRUE ", False), ("n = n OR n IS NULL OR true", True)])
def test_a_query_that_asks_for_every_record_is_not_warned_of_it(where: str, warns: bool) -> None:
    query = RegisteredQuery("all", "flights", where, "out")
    assert bool(ValidatedQuery(query, normalise(where, SCHEMA), None).warnings) == warns
    of_operator = OperatorExpressions(warnings=("operator.on: is never true",))
    assert (
        ValidatedQuery(query, normalise(where, SCHEMA), None, of_operator).warnings[-1] == "operator.on: is never true"
    )


@pytest.mark.parametrize("members", [None, Members.of(JOIN, {})])
def test_of_nothing_it_is_a_query_or_no_member(members: Members | None) -> None:
    query = RegisteredQuery("over", "flights", JOIN.template.text, "out")
    assert len(ValidatedQuery(query, JOIN.template, members).planned()) == (1 if members is None else 0)


@pytest.fixture(scope="module")
def analyser(spark: SparkSession) -> StreamAnalyser:
    schema = "n INT, s STRING, t TIMESTAMP, lon DOUBLE, lat DOUBLE"
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": schema})
    fields = stream.fields()
    return StreamAnalyser(spark, "t", stream.decoder(fields, "UTC"), attributes_of(fields), Limits())


def asked(analyser: StreamAnalyser, where: str, **more: Any) -> ValidatedQuery:
    operator = EventsDefinition(**more) if more else None
    return ValidatedQuery.of(RegisteredQuery("q", "s", where, "out", operator=operator), analyser, NO_LAYERS)


def fed(candidate: ValidatedQuery) -> FeedDestination:
    destination = candidate.planned()[0].destination
    assert destination is not None
    return FeedDestination.of(destination)


@pytest.mark.spark
def test_a_routed_query_goes_to_its_topic(analyser: StreamAnalyser) -> None:
    found = asked(analyser, "n > 3")
    assert (found.planned()[0].topic, found.planned()[0].destination, found.computed) == ("out", None, [])


@pytest.mark.spark
def test_key_and_time_are_computed_and_the_first_position_is_told(analyser: StreamAnalyser) -> None:
    found = asked(analyser, BERN, key="upper(s)", time="t")
    assert [attribute.sql for attribute in found.computed] == ["CAST(upper(s) AS STRING)", "unix_micros(t)"]
    (planned,) = found.planned()
    assert (planned.topic, planned.destination is None) == ("out", False)
    destination = fed(found)
    assert destination.query.topic == "out"
    track = destination.track
    assert (track.key, track.time_us) == ("CAST(upper(s) AS STRING)", "unix_micros(t)")
    assert track.position == ("CAST((lon) AS DOUBLE)", "CAST((lat) AS DOUBLE)")
    # Where there is none, events tell of none.
    plain = fed(asked(analyser, "n > 3", key="s", time="t"))
    assert plain.track.position == ()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"key": "nope"}, "operator.key 'nope': "),
        ({"key": "s +"}, "operator.key 's +': syntax error at 'the end': write an expression of Spark SQL"),
        ({"key": "NULL"}, "operator.key 'NULL': is the same for every record"),
        ({"key": "concat('a', 'b')"}, "operator.key 'concat('a', 'b')': is the same for every record"),
        ({"key": "rand()"}, "operator.key 'rand()': "),
        ({"key": "s", "time": "s"}, "operator.time 's': is no TIMESTAMP"),
        ({"key": "s", "time": "current_timestamp()"}, "operator.time 'current_timestamp()': "),
    ],
    ids=str,
)
def test_expressions_that_mean_nothing_are_refused(analyser: StreamAnalyser, more: dict[str, str], said: str) -> None:
    with pytest.raises(QueryError) as refused:
        asked(analyser, "n > 3", **more)
    assert str(refused.value).replace('"', "'").startswith(said)
    assert "\n" not in str(refused.value)


@pytest.mark.spark
def test_a_join_that_writes_a_record_a_shape_has_no_events(analyser: StreamAnalyser) -> None:
    query = RegisteredQuery(
        "over", "s", "n >= t.low", "out", join=Join("t", per_shape=True), operator=EventsDefinition("s")
    )
    with pytest.raises(QueryError, match=r"join with operator events 'over': .* leave out per_shape"):
        ValidatedQuery.of(query, analyser, SCHEMA.layers)


@pytest.mark.spark
def test_members_of_a_join_with_events_share_a_destination(analyser: StreamAnalyser) -> None:
    zones = Layer(
        {"a": Feature(None, {"low": 1}), "b": Feature(None, {"low": 2})}, properties=properties_of_ddl("low INT")
    )
    asks = EventsDefinition("upper(s)", "t")
    query = RegisteredQuery("over", "s", "n >= zones.low", "out", join=Join("zones"), operator=asks)
    found = ValidatedQuery.of(query, analyser, {"zones": zones})
    planned = found.planned()
    assert [one.id for one in planned] == ["over/a", "over/b"]
    assert {one.topic for one in planned} == {"out"}
    (destination,) = {one.destination for one in planned}
    assert destination is not None
    feed = FeedDestination.of(destination)
    assert (feed.track.op, feed.query.id, feed.query.topic) == ("events", "over", "out")
    assert (feed.track.key, feed.track.time_us) == ("CAST(upper(s) AS STRING)", "unix_micros(t)")
    assert [attribute.sql for attribute in found.computed] == ["CAST(upper(s) AS STRING)", "unix_micros(t)"]


def near(analyser: StreamAnalyser, **more: Any) -> ValidatedQuery:
    given: dict[str, Any] = {"key": "s", "time": "t", "position": "ST_Point(lon, lat)"}
    asked = NearDefinition(**{**given, "distance_m": 5, "window_s": 30, "every_s": 10, **more})
    return ValidatedQuery.of(RegisteredQuery("q", "s", "true", "out", operator=asked), analyser, NO_LAYERS)


@pytest.mark.spark
def test_a_near_query_carries_what_its_condition_reads(analyser: StreamAnalyser) -> None:
    found = near(analyser, on="abs(a.n - b.N) < 3 AND a.t <= b.t")
    assert [sorted(one.columns) for one in found.expressions.carried_reads] == [[("n",)], [("t",)]]
    feed = fed(found)
    assert feed.track.carried == (("`n`", "`n`"), ("`t`", "unix_micros(`t`)"))
    assert feed.track.position == ("CAST((lon) AS DOUBLE)", "CAST((lat) AS DOUBLE)")
    assert fed(near(analyser)).track.carried == ()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"position": "n"}, "operator.position 'n': not a shape or position"),
        ({"position": "ST_Point(1, 2)"}, "operator.position 'ST_Point(1, 2)': is the same for every record"),
        ({"position": "ST_Point(longitude, 1)"}, "operator.position 'ST_Point(longitude, 1)': unknown column"),
        ({"position": "ST_PolygonFromEnvelope(lon, lat, lon, lat)"}, "operator.position 'ST_PolygonFromEnvelope"),
        ({"on": "a.nope = 1"}, "operator.on 'a.nope = 1': "),
        ({"on": "n > 1"}, "operator.on 'n > 1': "),
        ({"on": "1 = 1"}, "operator.on '1 = 1': is the same for every pair"),
        ({"on": "a.n"}, "operator.on 'a.n': "),
        ({"on": "a.n < b.n) OR (true"}, "operator.on 'a.n < b.n) OR (true': "),
        ({"on": "rand() < a.n"}, "operator.on 'rand() < a.n': "),
    ],
    ids=str,
)
def test_near_queries_that_mean_nothing_are_refused(analyser: StreamAnalyser, more: dict[str, str], said: str) -> None:
    with pytest.raises(QueryError) as refused:
        near(analyser, **more)
    assert str(refused.value).replace('"', "'").startswith(said), refused.value
    assert "\n" not in str(refused.value)


CROWDS = {"attributes": ["n"], "eps": 1, "min_samples": 3, "window_s": 60, "slide_s": 10}


@pytest.mark.spark
@pytest.mark.parametrize(
    "operator",
    [
        NearDefinition("s", 5, 30, 10),
        StandingDbscan.parse({"name": "dbscan", **CROWDS}),
        StandingCube.parse({"name": "cube", "measures": ["count(*)"], "grain_s": 60}),
    ],
    ids=lambda operator: operator.name,
)
def test_a_join_has_only_events(analyser: StreamAnalyser, operator: Definition) -> None:
    query = RegisteredQuery("over", "s", "n >= t.low", "out", join=Join("t"), operator=operator)
    with pytest.raises(QueryError, match=f"join with operator {operator.name} 'over': does not go together"):
        ValidatedQuery.of(query, analyser, SCHEMA.layers)


@pytest.mark.spark
def test_predicates_with_one_normal_form_share_a_selection(analyser: StreamAnalyser) -> None:
    first, second = (
        fed(asked(analyser, where, key="s", time="t")) for where in ("n > 3 AND lat > 1", "lat > 1 AND NOT (n <= 3)")
    )
    assert first.selection == second.selection
    assert first.selection != fed(asked(analyser, "n > 3", key="s", time="t")).selection
