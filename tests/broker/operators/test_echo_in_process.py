"""A replayed batch and a poison expression of the kind ``echo``, without the daemon of test_echo's nightly tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pyspark import Accumulator

from asc.operators.feed import Observation, Settings
from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan
from asc.schema import Schema
from broker.failure import one_line, root_cause
from broker.matching.dry_run import dry_run
from broker.operators.feed_destination import FeedDestination, destinations_in
from broker.operators.feed_task import FeedTally, _TallyParam, part_task
from broker.operators.kinds import OPERATORS
from broker.operators.plan_expressions import expressions_of
from broker.operators.schema_analyser import SchemaAnalyser
from broker.plans.binding import BatchBindings
from broker.plans.running_plan import BoundBatch, RunningPlan
from broker.queries.query import RegisteredQuery
from broker.queries.validated_query import ValidatedQuery
from broker.stream.diagnosis.poison_search import guilty
from tests.broker.feed_echo import OP, EchoDefinition, EchoKind, EchoPart, frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.broker.operators.conftest import GroupStateOfTest

ANALYSER = SchemaAnalyser(Schema.from_ddl("name STRING, n INT"))


@pytest.fixture(autouse=True)
def echo_kind(monkeypatch: pytest.MonkeyPatch) -> EchoKind:
    kind = EchoKind()
    monkeypatch.setitem(OPERATORS, OP, kind)  # type: ignore[arg-type]
    return kind


def validated(query_id: str, key: str, says: str = "here") -> ValidatedQuery:
    definition = EchoDefinition(key, says)
    query = RegisteredQuery(query_id, "s", "n > 1", f"asc.{query_id}", operator=definition)
    return ValidatedQuery(query, ANALYSER.normalise(query.where), None, EchoKind().read(definition, ANALYSER))


def test_a_batch_that_is_run_again_echoes_by_the_plan_to_which_it_is_bound(
    tmp_path: Path, group_state: GroupStateOfTest
) -> None:
    def running() -> RunningPlan:
        return RunningPlan("s", BatchBindings(tmp_path / "bindings", tmp_path / "spark"), {})

    def plan(version: int, says: str) -> Plan:
        return compile_plan(validated("e", "name", says).planned(), version=version)

    def bound(batch_id: int) -> BoundBatch:
        """A batch of one record, as Spark notes it after it has committed the batches before."""
        noted = {"offsets": {batch_id: f'v1\n{{}}\n{{"source": {{"0": {batch_id + 1}}}}}'}}
        noted["commits"] = dict.fromkeys(range(batch_id), "v1\n{}")
        for log, texts in noted.items():
            (tmp_path / "spark" / log).mkdir(parents=True, exist_ok=True)
            for own, text in texts.items():
                (tmp_path / "spark" / log / str(own)).write_text(text, "utf-8")
        return stream.bind(batch_id)

    def messages(batch: BoundBatch, offset: int, name: str) -> list[bytes]:
        """What a batch writes into the feed."""
        (destination,) = destinations_in(batch.plan)
        settings = Settings(OP, "source", False, 100, (destination.query,))
        seen = Observation(OP, destination.track.name, name, 0, (), 0, offset, (destination.selection,))
        return [settings.text().encode(), seen.text().encode()]

    tally = Accumulator(-1, FeedTally(), _TallyParam())
    task = part_task(tally, EchoPart, frame)

    def echoed(texts: list[bytes]) -> list[tuple[str, str, str]]:
        frames = task((0,), [pd.DataFrame({"messages": [texts]})], group_state)  # type: ignore[arg-type]
        return [(row.key, row.value, row.identity) for each in frames for row in each.itertuples()]

    before, after = plan(3, "before"), plan(5, "after")
    stream = running()
    stream.replace(before)
    fay = messages(bound(0), 0, "fay")
    first = echoed(fay)
    held = group_state.held
    # The process ends in the batch, and its query is replaced before the batch runs again.
    stream = running()
    stream.replace(after)
    assert stream.version_to_replay == 3
    stream.replay_with(before)
    again = bound(0)
    assert (again.is_replay, messages(again, 0, "fay")) == (True, fay)
    # The feed has its messages twice: the reader goes on, or begins again with the state of its own last batch.
    assert echoed(fay) == []
    group_state.held = None
    assert echoed([*fay, *fay]) == first
    assert group_state.held == held
    hal = echoed(messages(bound(1), 1, "hal"))
    assert [(key, '"says": "before"' in value) for key, value, _ in first + hal] == [("fay", True), ("hal", False)]
    assert [identity for _, _, identity in first + hal] == ["e:echo:source-0-0", "e:echo:source-0-1"]


@pytest.mark.spark
def test_its_expression_that_ends_a_batch_is_among_those_tried_and_names_its_query_alone(
    spark: SparkSession, echo_kind: EchoKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest, unlucky = EchoKind.destination, "if(n = 31, CAST(raise_error('unlucky') AS STRING), name)"

    def destination(self: EchoKind, definition: EchoDefinition, *given: Any) -> FeedDestination:
        """One whose key means an expression that fails on a record, as none that is taken does."""
        made = honest(self, definition, *given)
        return replace(made, track=replace(made.track, key=unlucky)) if definition.key == "lower(name)" else made

    monkeypatch.setattr(EchoKind, "destination", destination)
    queries = [validated("lucky", "upper(name)"), validated("poison", "lower(name)"), validated("plain", "name")]
    plan = compile_plan([entry for query in queries for entry in query.planned()])
    attributes = [attribute for attribute in expressions_of(plan) if attribute.is_computed]
    rows = spark.createDataFrame([("flo", 31)], "name STRING, n INT").selectExpr("*", "current_timestamp() _timestamp")

    def trial(slots: Sequence[int], /) -> str | None:
        try:
            dry_run(rows, [attributes[slot] for slot in slots])
        except Exception as error:
            return one_line(root_cause(error))
        return None

    faulty = guilty(trial, len(attributes))
    assert [attributes[slot].sql for slot in faulty] == [unlucky]
    (reason,) = faulty.values()
    assert "unlucky" in reason
    assert [query.query.id for query in queries if unlucky in query.computed_texts] == ["poison"]
