"""A standing query that no longer fits when the daemon starts: it alone is not served, with the reason."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from asc.predicate import Limits
from broker.config.config import parse_config
from broker.config.streams import StreamConfig
from broker.formats.record_attributes import attributes_of
from broker.operators.cube.definition import StandingCube
from broker.operators.near.definition import NearDefinition
from broker.queries.expansion import Changed
from broker.queries.planning import Planning
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.validated_query import ValidatedQuery
from broker.stream.analyser import StreamAnalyser

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_what_spark_refuses_at_the_start_keeps_nothing_else_from_running(spark: SparkSession) -> None:
    """The analyser's schema lacks a column, as a Spark would that reads the schema otherwise than the engine does."""
    stream = {"topic": "t", "format": "json", "schema": "n INT, s STRING"}
    config = parse_config({"kafka": {"bootstrap_servers": "127.0.0.1:9"}, "streams": {"flights": stream}})
    lacking = StreamConfig.model_validate({**stream, "schema": "n INT"})
    attributes = attributes_of(config.streams["flights"].fields())
    decoder = lacking.decoder(lacking.fields(), "UTC")
    planning = Planning(config, {"flights": StreamAnalyser(spark, "t", decoder, attributes, Limits())})
    queries = [
        RegisteredQuery("plain", "flights", "n > 1", "out"),
        RegisteredQuery("computed", "flights", "n + 1 > 2", "out"),
        RegisteredQuery("refused", "flights", "n > 1 AND length(s) > 2", "out"),
        RegisteredQuery("asleep", "flights", "length(s) > 2", "out", paused=True),
    ]
    plans, unserved = planning.plans(queries, 7)
    plan = plans["flights"]
    assert set(unserved) == {"refused"}
    assert unserved["refused"].startswith("expression 'length(s)': is refused by Spark: ")
    assert (len(plan), plan.version) == (2, 7)
    assert [attribute.sql for attribute in plan.p_attributes] == ["n", "n + 1"]


SCHEMA = "n INT, s STRING"


def analyser_of(spark: SparkSession, stream: StreamConfig) -> StreamAnalyser:
    fields = stream.fields()
    return StreamAnalyser(spark, stream.topic, stream.decoder(fields, "UTC"), attributes_of(fields), Limits())


def planning(spark: SparkSession, streams: dict[str, str], **limits: int) -> Planning:
    """With streams by name, each with its source topic."""
    described = {name: {"topic": topic, "format": "json", "schema": SCHEMA} for name, topic in streams.items()}
    config = parse_config({"kafka": {"registry_topic": "registry"}, "streams": described, "limits": limits})
    return Planning(config, {name: analyser_of(spark, config.streams[name]) for name in streams})


def test_a_destination_that_the_configuration_took_since_is_not_served(spark: SparkSession) -> None:
    queries = [
        RegisteredQuery("own", "a", "n > 1", "source-a", version=1),
        RegisteredQuery("registry", "a", "n > 1", "registry", version=2),
        RegisteredQuery("asleep", "a", "n > 1", "registry", paused=True, version=3),
        RegisteredQuery("fine", "a", "n > 1", "out", version=4),
        RegisteredQuery("elsewhere", "gone", "n > 1", "out", version=5),
    ]
    plans, unserved = planning(spark, {"a": "source-a"}).plans(queries, 9)
    assert plans["a"].query_ids.to_pylist() == ["fine"]
    assert unserved == {
        "own": "destination topic 'source-a': is the source topic of 'a' itself: choose another",
        "registry": "destination topic 'registry': is the registry of queries: choose another",
        "elsewhere": "stream 'gone': is not configured: name it in the configuration, or remove the query",
    }


def test_of_a_loop_that_the_configuration_closed_the_oldest_side_is_served(spark: SparkSession) -> None:
    queries = [
        RegisteredQuery("back", "b", "n > 1", "source-a", version=2),
        RegisteredQuery("there", "a", "n > 1", "source-b", version=1),
    ]
    plans, unserved = planning(spark, {"a": "source-a", "b": "source-b"}).plans(queries, 9)
    assert (len(plans["a"]), len(plans["b"])) == (1, 0)
    assert list(unserved) == ["back"]
    assert "leads back to the source 'source-b' of the query's own stream" in unserved["back"]


def test_over_a_limit_that_was_lowered_the_oldest_queries_are_served(spark: SparkSession) -> None:
    queries = [RegisteredQuery(f"q{i}", "a", f"n + {i} > 1", "out", version=9 - i) for i in range(5)]
    rules = planning(spark, {"a": "source-a"}, spark_attributes=2)
    plans, unserved = rules.plans(queries, 9)
    assert plans["a"].query_ids.to_pylist() == ["q3", "q4"]
    assert set(unserved) == {"q0", "q1", "q2"}
    assert all("would have Spark compute more than 2 expressions" in reason for reason in unserved.values())
    # What is left out counts as standing: it comes first at the next start, and a newcomer would be left out then.
    standing = {query.id: query for query in queries}
    late = RegisteredQuery("late", "a", "n + 9 > 1", "out")
    served_alone = rules.plans([standing["q4"]], 9)[0]
    candidate = ValidatedQuery(late, rules._analysers["a"].normalise(late.where))
    assert rules.refusals([candidate], QuerySet({"q4": standing["q4"]}), served_alone) == {}
    assert set(rules.refusals([candidate], QuerySet(standing, 9, unserved), served_alone)) == {0}


def test_what_a_refused_replacement_leaves_standing_closes_a_loop(spark: SparkSession) -> None:
    rules = planning(spark, {"a": "source-a", "b": "source-b"}, spark_attributes=0)
    there = RegisteredQuery("there", "a", "n > 1", "source-b", version=1)
    plans, _ = rules.plans([there], 1)
    candidates = [
        ValidatedQuery(query, rules._analysers[query.stream].normalise(query.where))
        for query in (
            RegisteredQuery("there", "a", "n + 1 > 1", "out"),
            RegisteredQuery("back", "b", "n > 1", "source-a"),
        )
    ]
    assert set(rules.refusals(candidates, QuerySet({"there": there}, watched=["source-a", "source-b"]), plans)) == {
        0,
        1,
    }
    assert rules.refusals(candidates[1:], QuerySet(), plans) == {}


def near(name: str, version: int = -1) -> RegisteredQuery:
    definition = NearDefinition("s", 500, 30, 10, position="ST_Point(n, n)")
    return RegisteredQuery(name, "a", "true", "out", version=version, operator=definition)


def test_over_a_limit_of_operators_that_was_lowered_the_oldest_come_before_newcomers(spark: SparkSession) -> None:
    rules = planning(spark, {"a": "source-a"}, stream_near_queries=1)
    first, second, late = near("first", 1), near("second", 2), near("late", 9)
    plans, unserved = rules.plans([first, second], 2)
    assert plans["a"].query_ids.to_pylist() == ["first"]
    assert set(unserved) == {"second"}
    standing = QuerySet({"first": first, "second": second}, 2, unserved)
    newcomer, again = (ValidatedQuery.of(query, rules._analysers["a"], {}) for query in (late, second))
    # The first goes, and the place is that of the second: with the next start it is served, and no other.
    assert set(rules.refusals([newcomer], standing, plans, ["first"])) == {0}
    assert set(rules.refusals([newcomer], standing.changed((), ["first"], 3), rules.plans([], 3)[0])) == {0}
    assert rules.plans([second, late], 9)[0]["a"].query_ids.to_pylist() == ["second"]
    assert rules.refusals([again], standing, plans, ["first"]) == {}
    assert rules.refusals([newcomer], standing, plans, ["first", "second"]) == {}
    # What is served goes on, and is not changed to what the next start would not serve.
    served = ValidatedQuery.of(first, rules._analysers["a"], {})
    assert rules.refusals([served], standing, plans) == {}
    other = ValidatedQuery.of(replace(first, where="n > 1"), rules._analysers["a"], {})
    assert set(rules.refusals([other], standing, plans)) == {0}


def test_what_a_refused_replacement_leaves_standing_keeps_its_place(spark: SparkSession) -> None:
    rules = planning(spark, {"a": "source-a", "b": "source-b"}, stream_near_queries=1)
    back = RegisteredQuery("back", "b", "n > 1", "source-a", version=1)
    standing = QuerySet({"back": back, "first": near("first", 2)}, 2, watched=["source-a", "source-b"])
    plans, _ = rules.plans(standing, 2)
    freed = [near("late"), RegisteredQuery("first", "a", "n > 1", "out")]
    looped = [near("late"), RegisteredQuery("first", "a", "n > 1", "source-b")]
    by_change = [[ValidatedQuery.of(query, rules._analysers["a"], {}) for query in each] for each in (freed, looped)]
    assert rules.refusals(by_change[0], standing, plans) == {}
    assert set(rules.refusals(by_change[1], standing, plans)) == {0, 1}


def test_a_topic_of_one_query_is_free_for_another_once_it_is_removed(spark: SparkSession) -> None:
    rules = planning(spark, {"a": "source-a"})
    definition = StandingCube.parse({"measures": ["count(*)"], "grain_s": 60})
    first, second = (RegisteredQuery(name, "a", "true", "own", operator=definition) for name in ("first", "second"))
    standing = QuerySet({"first": first}, 1)
    plans, _ = rules.plans(standing, 1)
    renamed = ValidatedQuery.of(second, rules._analysers["a"], {})
    assert "belongs to one query alone" in str(rules.refusals([renamed], standing, plans)[0])
    assert rules.refusals([renamed], standing, plans, ["first"]) == {}


def test_expressions_that_are_too_heavy_together_are_refused(spark: SparkSession) -> None:
    rules = planning(spark, {"a": "source-a"}, stream_spark_nodes=100)
    candidates = [
        ValidatedQuery(query, rules._analysers["a"].normalise(query.where))
        for query in (RegisteredQuery(f"q{i}", "a", f"n * {i} + n > 3", f"to-{i}") for i in range(2, 7))
    ]
    refused = rules.refusals(candidates, QuerySet(), {})
    assert list(refused) == [4]
    assert "more than 100 operators and operands" in str(refused[4])


def test_patterns_that_take_too_many_steps_together_are_refused(spark: SparkSession) -> None:
    rules = planning(spark, {"a": "source-a"}, stream_pattern_steps=1_500)

    def candidate(name: str, where: str) -> ValidatedQuery:
        return ValidatedQuery(RegisteredQuery(name, "a", where, "to"), rules._analysers["a"].normalise(where))

    heavy = [candidate(f"q{i}", f"n > {i} AND s RLIKE '[0-9]{{400}}x{i}'") for i in range(5)]
    refused = rules.refusals(heavy, QuerySet(), {})
    assert list(refused) == [3, 4]
    assert "more than 1500 steps of patterns for each character of a string" in str(refused[3])
    assert "limits.stream_pattern_steps" in str(refused[3])
    # What stands counts, the same pattern counts once, and what is tried at one place counts nothing.
    plans, unserved = rules.plans([one.query for one in heavy], 1)
    assert set(unserved) == {"q3", "q4"}
    newcomers = [
        candidate("again", "s RLIKE '[0-9]{400}x0' AND n < 0"),
        candidate("anchored", "s RLIKE '^[0-9]{400}y'"),
        candidate("one more", "s RLIKE '[0-9]{400}y'"),
    ]
    assert list(rules.refusals(newcomers, QuerySet(), plans)) == [2]


def large(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, **limits: int) -> Planning:
    """Rules for plans that are changed in place, as those of many queries are."""
    monkeypatch.setattr("broker.queries.planning._LARGE", 0)
    rules = planning(spark, {"a": "source-a"}, **limits)
    rules.options = replace(rules.options, exact_bytes=0)
    return rules


def standing_of(*wheres: str, first: int = 0) -> QuerySet:
    queries = [RegisteredQuery(f"q{i}", "a", where, "out", version=i) for i, where in enumerate(wheres, first)]
    return QuerySet({query.id: query for query in queries}, first + len(queries))


def test_what_only_removed_queries_had_spark_compute_counts_no_more(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = large(spark, monkeypatch, spark_attributes=2)
    plain = [f"n > {i}" for i in range(20)]
    before = standing_of("n * 2 > 1", "n * 3 > 1", *plain)
    plans, _ = rules.plans(before, 30)
    others = standing_of("n * 4 > 1", "n * 5 > 1", first=30)
    after = before.changed(others, ["q0", "q1"], 40)
    then, unserved = rules.plans_after(before, plans, after, Changed({"q0", "q1", "q30", "q31"}))
    assert not unserved
    assert {own.sql for own in then["a"].computed} == {"n * 4", "n * 5"}
    # The same for what is registered, beside a plan that still has what is in use no more.
    left, _ = rules.plans_after(before, plans, before.changed((), ["q0", "q1"], 40), Changed({"q0", "q1"}))
    assert any(own.path is None for own in left["a"].p_attributes)
    newcomers = [ValidatedQuery(query, rules._analysers["a"].normalise(query.where)) for query in others]
    assert rules.refusals(newcomers, before.changed((), ["q0", "q1"], 40), left) == {}


def test_a_plan_that_catches_up_serves_what_is_served_and_nothing_else(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = large(spark, monkeypatch)
    then = standing_of("n > 1", "n > 2", "n * 7 > 1").with_unserved({"q2": "waits"})
    plan, _ = rules.plans([then.get("q0"), then.get("q1")], 5)
    new = RegisteredQuery("new", "a", "n = 9", "out", version=9)
    now = then.changed([new, replace(then.get("q1"), where="n > 3", version=10)], ["q0"], 10)
    found = rules.caught_up("a", plan["a"], then, now)
    assert found.query_ids.to_pylist() == ["new", "q1"]
    assert found.version == 10
    assert {str(constraint) for _, constraint in found.constraints(0, int(found.conjuncts_of("q1")[0][1][0]))} == {
        str(next(iter(rules._analysers["a"].normalise("n > 3").conjuncts[0]))[1])
    }
    served = rules.caught_up("a", found, now, now.with_unserved({}))
    assert served.query_ids.to_pylist() == ["new", "q1", "q2"]
