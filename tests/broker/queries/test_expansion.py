"""Joins in plans: a member a shape, over shapes put and removed, starts and replays; each time as many queries."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
import shapely

from asc.errors import AscError, PredicateError
from asc.evaluation.executor import match
from asc.plan.plan import Plan
from asc.spatial.feature import Feature, feature_text
from broker.errors import QueryError
from broker.matching.plan_ids import member_count
from broker.queries import registrar as registrar_module
from broker.queries.change import Put, Remove
from broker.queries.join import Join
from broker.queries.query import RegisteredQuery
from broker.queries.registrar import Registrar

if TYPE_CHECKING:
    from conftest import Resting
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

WHERE = "ST_Contains(zones.geometry, ST_Point(d, d)) AND n < zones.high"
PLACES = [0.5, 1.5, 2.5, 7.5, 11.0, 40.5]
HEIGHTS = [1, 5, 9]
TUPLES = [(place, height) for place in PLACES for height in HEIGHTS]

Row = tuple[float, float, int | None]


def feature(row: Row, **more: Any) -> bytes:
    low, high, ceiling = row
    return feature_text(Feature(shapely.box(low, low, high, high), {"high": ceiling, **more})).encode()


def wanted(rows: Mapping[str, Row]) -> dict[str, list[int]]:
    """By the book: the tuples that each shape accepts."""
    found = {
        name: [i for i, (d, n) in enumerate(TUPLES) if low < d < high and ceiling is not None and n < ceiling]
        for name, (low, high, ceiling) in rows.items()
    }
    return {name: accepted for name, accepted in found.items() if accepted}


def accepted(plan: Plan, join_id: str = "joined") -> dict[str, list[int]]:
    """The tuples that each member of a join accepts, by shape."""
    columns = []
    for attribute in plan.p_attributes:
        places = pa.array([d for d, _ in TUPLES], pa.float64())
        if attribute.parts:
            columns.append(pa.StructArray.from_arrays([places] * 2, fields=list(attribute.type)))
        elif attribute.path in (("n",), ("d",)):
            columns.append(places if attribute.path == ("d",) else pa.array([n for _, n in TUPLES], pa.int32()))
        else:
            columns.append(pa.nulls(len(TUPLES), attribute.type))
    matches = match(plan, columns, len(TUPLES))
    found: dict[str, list[int]] = {}
    ids = plan.query_ids.take(pa.array(matches.queries)).to_pylist()
    for row, plan_id in zip(matches.rows.tolist(), ids, strict=True):
        if plan_id.startswith((f"{join_id}/", f"{join_id}|")):
            found.setdefault(plan_id[len(join_id) + 1 :], []).append(row)
    return found


@pytest.fixture
def plan(resting: Resting) -> Callable[[], Plan]:
    return lambda: resting.streams()[resting.stream("json")].running.plan


@pytest.fixture
def registrar(resting: Resting) -> Iterator[Registrar]:
    """With a layer of two shapes and a join over it."""
    registrar = resting.registrar()
    # What tests of other files left there has members, and has Spark compute, as well.
    there = [query.id for query in registrar.standing.queries.values() if query.stream == resting.stream("json")]
    registrar.apply([Remove(query_id) for query_id in there])
    gone = [shape_id for shape_id in registrar.standing.layers["zones"].rows if shape_id not in ROWS]
    registrar.write_layer("zones", {name: feature(row) for name, row in ROWS.items()}, gone)
    registrar.apply([Put(join(resting))]).raised()
    yield registrar
    standing = registrar.standing
    registrar.write_layer("zones", {}, list(standing.layers["zones"].rows))
    registrar.apply([Remove(query.id) for query in [*standing.joins_over("zones"), *standing.joins_over("plane")]])


ROWS: Mapping[str, Row] = {"a": (0, 2, 9), "b": (1, 3, 6)}


def join(resting: Resting, where: str = WHERE, *, per_shape: bool = False, **more: Any) -> RegisteredQuery:
    given = {"id": "joined", "topic": "joined", **more}
    return RegisteredQuery(stream=resting.stream("json"), where=where, join=Join("zones", per_shape), **given)


def test_members_come_change_and_go_with_shapes(
    registrar: Registrar, resting: Resting, plan: Callable[[], Plan]
) -> None:
    chance, rows = random.Random(5), dict(ROWS)
    assert accepted(plan()) == wanted(rows)
    for _ in range(12):
        puts: dict[str, Row] = {}
        for name in chance.sample("abcdefgh", 2):
            low = chance.choice([0, 1, 2, 7, 10])
            puts[name] = (low, low + chance.choice([1, 2, 5]), chance.choice([None, 2, 6, 10]))
        removes = [name for name in chance.sample("abcdefgh", 2) if name not in puts]
        registrar.write_layer("zones", {name: feature(row) for name, row in puts.items()}, removes)
        rows = {name: row for name, row in {**rows, **puts}.items() if name not in removes}
        assert accepted(plan()) == wanted(rows)
        assert member_count(plan(), "joined") == len(rows)
        assert plan().version == registrar.standing.version
    assert resting.permitted.shape_counts(registrar.standing.get("joined")) == (len(rows), 0)


def test_only_the_shapes_that_changed_are_made_anew(
    registrar: Registrar, plan: Callable[[], Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    from asc.predicate.normal_form.join_predicate import JoinPredicate

    made: list[Any] = []
    of = JoinPredicate.of

    def counted(self: JoinPredicate, row: Feature, *more: Any) -> Any:
        made.append(row)
        return of(self, row, *more)

    monkeypatch.setattr(JoinPredicate, "of", counted)
    registrar.write_layer("zones", {"b": feature((7, 9, 9))}, [])
    assert len(made) == 1
    assert accepted(plan()) == wanted({"a": ROWS["a"], "b": (7, 9, 9)})


def test_a_join_may_name_a_shape_of_another_kind(
    registrar: Registrar, resting: Resting, plan: Callable[[], Plan]
) -> None:
    """Both layers change at once, and the join means nothing with what the named shape is by then: it alone waits."""
    where = "ST_DistanceSphere(shape('zones', 'centre'), ST_Point(d, d)) < 1000000 AND n < zones.high"
    point = feature_text(Feature(shapely.Point(0, 0), {"high": 9})).encode()
    registrar.write_layer("zones", {"centre": point}, [])
    registrar.apply([Put(join(resting, where, id="joined.named"))]).raised()
    before = accepted(plan(), "joined.named")
    assert set(before) == {"a", "b", "centre"}
    registrar.write_layer("zones", {"centre": feature((0, 1, 9)), "a": feature(ROWS["a"])}, [])
    assert "takes two positions" in registrar.standing.unserved["joined.named"]
    assert accepted(plan())
    registrar.write_layer("zones", {"centre": point, "b": feature(ROWS["b"])}, [])
    assert accepted(plan(), "joined.named") == before


def test_a_join_is_paused_resumed_replaced_and_removed(
    registrar: Registrar, resting: Resting, plan: Callable[[], Plan]
) -> None:
    query = registrar.standing.get("joined")
    registrar.apply([Put(replace(query, paused=True))]).raised()
    assert accepted(plan()) == {}
    assert member_count(plan(), "joined") == 0
    registrar.write_layer("zones", {"c": feature((10, 12, 9))}, [])
    registrar.apply([Put(replace(query, paused=False))]).raised()
    rows = {**ROWS, "c": (10, 12, 9)}
    assert accepted(plan()) == wanted(rows)
    (unchanged,) = registrar.apply([Put(query)]).raised().registered.values()
    assert unchanged.became == "unchanged"
    registrar.apply([Put(join(resting, per_shape=True))]).raised()
    assert accepted(plan()) == wanted(rows)
    assert not [one for one in plan().query_ids.to_pylist() if one.startswith("joined/")]
    # In place of it a query, and back.
    registrar.apply([Put(RegisteredQuery("joined", query.stream, "n > 3", "joined"))]).raised()
    assert "joined" in plan()
    assert member_count(plan(), "joined") == 0
    registrar.apply([Put(query)]).raised()
    assert "joined" not in plan()
    assert accepted(plan()) == wanted(rows)
    registrar.apply([Remove("joined")]).raised()
    assert member_count(plan(), "joined") == 0


def test_queries_and_joins_share_ids_that_begin_alike(
    registrar: Registrar, resting: Resting, plan: Callable[[], Plan]
) -> None:
    stream = resting.stream("json")
    others = [RegisteredQuery(name, stream, "n > 3", "joined") for name in ("join", "joined-x", "joined0")]
    registrar.apply([*map(Put, others), Put(join(resting, id="joined.a"))]).raised()
    registrar.apply([Remove("joined")]).raised()
    assert accepted(plan(), "joined.a") == wanted(ROWS)
    assert all(query.id in plan() for query in others)
    registrar.apply([Remove(query.id) for query in others]).raised()


def test_a_join_of_no_shape_waits_for_shapes(registrar: Registrar, resting: Resting, plan: Callable[[], Plan]) -> None:
    registrar.write_layer("zones", {}, list(ROWS))
    registrar.apply([Put(join(resting, id="joined.empty"))]).raised()
    assert accepted(plan(), "joined.empty") == {}
    registrar.write_layer("zones", {"a": feature(ROWS["a"])}, [])
    assert accepted(plan(), "joined.empty") == wanted({"a": ROWS["a"]})


def test_what_does_not_fit_its_type_leaves_the_row_that_stands(registrar: Registrar, plan: Callable[[], Plan]) -> None:
    written = registrar._query_state.layers.write("zones", {"a": feature((0, 2, 9), low="deep")})
    registrar.follow_layers({"zones": written})
    assert accepted(plan()) == wanted(ROWS)
    assert "property low 'deep'" in registrar.standing.layers["zones"].refused["a"]


RADIUS = "ST_DWithin(zones.geometry, ST_Point(d, d), zones.radius) AND n < zones.high"


def test_a_row_whose_values_are_refused_is_left_out_and_told(
    registrar: Registrar, resting: Resting, plan: Callable[[], Plan]
) -> None:
    registrar.write_layer("zones", {"b": feature(ROWS["b"], radius=-1)}, [])
    with pytest.raises(PredicateError, match="of shape zones/b: distance"):
        registrar.apply([Put(join(resting, RADIUS, id="joined.near"))]).raised()
    registrar.write_layer("zones", {"a": feature(ROWS["a"], radius=0), "b": feature(ROWS["b"], radius=0)}, [])
    registrar.apply([Put(join(resting, RADIUS, id="joined.near"))]).raised()
    before = accepted(plan(), "joined.near")
    assert set(before) == {"a", "b"}
    registrar.write_layer("zones", {"a": feature(ROWS["a"], radius=-1)}, [])
    assert accepted(plan(), "joined.near") == {"b": before["b"]}
    query = registrar.standing.get("joined.near")
    assert resting.permitted.shape_counts(query) == (1, 1)
    ((shape_id, reason),) = resting.permitted.excluded_shapes(query, 5).items()
    assert (shape_id, "distance" in reason) == ("a", True)
    # It is paused and resumed all the same, and the row is back when it is mended.
    registrar.apply([Put(replace(query, paused=True))]).raised()
    (resumed,) = registrar.apply([Put(query)]).raised().registered.values()
    assert "1 shape of its layer is excluded: a: distance" in resumed.warnings[-1]
    registrar.write_layer("zones", {"a": feature(ROWS["a"], radius=0)}, [])
    assert accepted(plan(), "joined.near") == before


BY_ROW = "length(s) > zones.high - 1 OR n = zones.high"


def test_what_spark_computes_for_each_row_is_bounded(
    registrar: Registrar, resting: Resting, plan: Callable[[], Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    planning = registrar._planning
    monkeypatch.setattr(planning, "_config", replace_limits(resting, spark_attributes=3))
    rows = {name: feature((0, 1, high)) for name, high in (("a", 1), ("b", 2), ("c", 3))}
    registrar.write_layer("zones", rows, [])
    registrar.apply([Put(join(resting, BY_ROW, id="joined.sized"))]).raised()
    assert member_count(plan(), "joined.sized") == 3
    registrar.write_layer("zones", {"b": feature((0, 1, 5))}, [])
    assert member_count(plan(), "joined.sized") == 3
    # One more than Spark may compute: none of it is served, until there is room again.
    registrar.write_layer("zones", {"d": feature((0, 1, 4))}, [])
    assert member_count(plan(), "joined.sized") == 0
    assert "3 expressions" in registrar.standing.unserved["joined.sized"]
    assert accepted(plan())
    registrar.write_layer("zones", {}, ["a"])
    assert member_count(plan(), "joined.sized") == 3
    assert "joined.sized" not in registrar.standing.unserved


def test_joins_over_too_many_shapes(
    registrar: Registrar, resting: Resting, plan: Callable[[], Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registrar._planning, "_config", replace_limits(resting, stream_join_shapes=4))
    registrar.apply([Put(join(resting, id="joined.two"))]).raised()
    with pytest.raises(QueryError, match=r"raise limits\.stream_join_shapes"):
        registrar.apply([Put(join(resting, id="joined.three"))]).raised()
    registrar.apply([Put(join(resting, id="joined.three", paused=True))]).raised()
    registrar.write_layer("zones", {"c": feature((10, 12, 9))}, [])
    assert (member_count(plan(), "joined"), member_count(plan(), "joined.two")) == (3, 0)
    assert "more than 4 shapes together" in registrar.standing.unserved["joined.two"]
    registrar.write_layer("zones", {}, ["c"])
    assert (member_count(plan(), "joined"), member_count(plan(), "joined.two")) == (2, 2)


def replace_limits(resting: Resting, **limits: int) -> Any:
    config = resting.config
    return config.model_copy(update={"limits": config.limits.model_copy(update=limits)})


def test_a_shape_that_changes_while_a_join_is_judged(
    registrar: Registrar, resting: Resting, plan: Callable[[], Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = resting.streams()[resting.stream("json")]
    asked, judged = stream.analyser.misread, []
    changes = iter([{"a": feature((7, 9, 9)), "c": feature((10, 12, 9))}])

    def misread(predicates: Any, **settings: Any) -> Any:
        judged.append(1)
        for change in changes:
            registrar.write_layer("zones", change, ["b"])
        return asked(predicates, **settings)

    monkeypatch.setattr(stream.analyser, "misread", misread)
    registrar.apply([Put(join(resting, id="joined.amid"))]).raised()
    assert accepted(plan(), "joined.amid") == wanted({"a": (7, 9, 9), "c": (10, 12, 9)})
    # Layers that change without end keep no join from being registered.
    assert len(judged) == 1


def started(resting: Resting, spark: SparkSession, config: Any = None) -> tuple[Registrar, Plan]:
    from broker.stream.stream import Stream

    config = config or resting.config
    streams = {name: Stream(name, config, spark, resting.cluster) for name in config.streams}
    registrar = Registrar(config, resting.cluster, resting.registry, streams)
    registrar.load()
    return registrar, streams[resting.stream("json")].running.plan


@pytest.mark.parametrize("is_stored", [False, True], ids=["registry", "snapshot"])
def test_a_start_has_the_shapes_of_the_version(  # noqa: PLR0917
    is_stored: bool,
    registrar: Registrar,
    resting: Resting,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("broker.queries.query_state._SNAPSHOT_QUERIES", 0 if is_stored else 1 << 30)
    monkeypatch.setattr("broker.queries.query_state._SNAPSHOT_SHARE", 0.0)
    registrar.apply([Put(join(resting, id="joined.each", per_shape=True))]).raised()
    registrar.write_layer("zones", {"a": feature((7, 9, 9))}, [])
    registrar.store()
    if not is_stored:
        for path in (resting.config.spark.checkpoint_dir / ".snapshot").glob("*"):
            path.unlink()
    # Between snapshot and start.
    registrar.write_layer("zones", {"c": feature((10, 12, 9))}, ["b"])
    with caplog.at_level(logging.INFO):
        fresh, plan = started(resting, spark)
    try:
        assert ("changes after it" in caplog.text) is is_stored
        rows: dict[str, Row] = {"a": (7, 9, 9), "c": (10, 12, 9)}
        assert accepted(plan) == accepted(plan, "joined.each") == wanted(rows)
        assert fresh.standing.get("joined.each").join == Join("zones", per_shape=True)
        assert [query.id for query in fresh.standing.joins_over("zones")] == ["joined", "joined.each"]
    finally:
        fresh.close()


def test_a_layer_that_is_configured_no_longer_keeps_its_joins_waiting(
    registrar: Registrar, resting: Resting, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = resting.config.model_copy(update={"layers": {"plane": resting.config.layers["plane"]}})
    fresh, plan = started(resting, spark, without)
    try:
        assert member_count(plan, "joined") == 0
        assert "unknown layer 'zones': known: plane" in fresh.standing.unserved["joined"]
        assert fresh.standing.get("joined") == registrar.standing.get("joined")
    finally:
        fresh.close()
    again, plan = started(resting, spark)
    again.close()
    assert accepted(plan) == wanted(ROWS)


def test_a_version_has_its_members_whenever_it_is_asked_for(registrar: Registrar, resting: Resting) -> None:
    versions: list[tuple[int, dict[str, Row]]] = []
    rows = dict(ROWS)
    for low in (0, 7, 10):
        rows = {**rows, "a": (low, low + 2, 9)}
        registrar.write_layer("zones", {"a": feature(rows["a"])}, [])
        versions.append((registrar.standing.version, rows))
    query_state = registrar._query_state
    for version, then_rows in versions:
        then, _ = query_state._with_layers(query_state._set(resting.registry.state_at(version)))
        plans, _ = query_state._plans_of(then, None)
        assert accepted(plans[resting.stream("json")]) == wanted(then_rows)


def test_what_is_caught_up_with_has_members_as_well(
    registrar: Registrar, resting: Resting, plan: Callable[[], Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed = registrar_module.renewed

    def meanwhile(old: Plan) -> Plan:
        registrar.write_layer("zones", {"a": feature((7, 9, 9))}, ["b"])
        registrar.apply([Put(join(resting, id="joined.late"))]).raised()
        return renewed(old)

    monkeypatch.setattr(registrar_module, "renewed", meanwhile)
    monkeypatch.setattr(registrar_module, "is_large", lambda plan: member_count(plan, "joined") > 0)
    monkeypatch.setattr(registrar_module, "is_renewal_due", lambda plan: True)
    monkeypatch.setattr(registrar, "_not_renewed_before_s", {})
    registrar.renew()
    assert accepted(plan()) == accepted(plan(), "joined.late") == wanted({"a": (7, 9, 9)})


def test_a_write_that_may_have_failed_is_learnt_of(registrar: Registrar, plan: Callable[[], Plan]) -> None:
    offsets = registrar._query_state.layers.write("zones", {"c": feature((10, 12, 9))})
    news = registrar._query_state.news_of_layers({"zones": offsets})
    registrar._registry.write((), (), {"zones": news["zones"].after.mark})
    registrar._is_uncertain = True
    registrar.expire()
    assert accepted(plan()) == wanted({**ROWS, "c": (10, 12, 9)})


@pytest.mark.parametrize(
    ("where", "layer", "said"),
    [
        ("n < zones.deep", "zones", "unknown property 'zones.deep'"),
        ("n < 3", "zones", "asks nothing of the layer"),
        ("n < other.high", "other", "unknown layer 'other'"),
        ("ST_Contains(plane.geometry, ST_Point(d, d))", "plane", "another crs"),
        ("n < zones.high AND length(s, s) > 3", "zones", "call of a function"),
    ],
)
def test_what_is_refused_changes_nothing(
    where: str, layer: str, said: str, registrar: Registrar, resting: Resting
) -> None:
    before = registrar.standing
    query = RegisteredQuery("joined.bad", resting.stream("json"), where, "joined", join=Join(layer))
    with pytest.raises(AscError, match=said):
        registrar.apply([Put(query)]).raised()
    assert registrar.standing is before
