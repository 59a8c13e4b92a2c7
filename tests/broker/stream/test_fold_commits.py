"""States that workers fold, committed with their batch: each record once, whatever is lost between."""

from __future__ import annotations

import sys
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle

import tests.broker.fold_echo as echo
from asc.keys.attribute import PAttribute
from broker.errors import BrokerError, FoldError
from broker.matching.fold_task import FoldParam
from broker.operators.fold_destination import FoldColumn, FoldDestination
from broker.operators.kinds import OPERATORS
from broker.plans.running_plan import BoundBatch
from tests.broker.fold_rig import AT, FoldRig

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]

TIME = "unix_micros(t)"
SCHEMA = "n INT, s STRING, t TIMESTAMP"


class EchoRig(FoldRig):
    """A stream whose queries echo."""

    @property
    def folder(self) -> echo.EchoFolder:
        found = self.folders[echo.OP]
        assert isinstance(found, echo.EchoFolder)
        return found


def to_echo(name: str, key: str = "upper(s)", flag: str = "") -> FoldDestination:
    column = FoldColumn(key, PAttribute(key, pa.string()))
    own = {"column": key, "flag": flag}
    return FoldDestination(echo.OP, name, f"out-{uuid.uuid4().hex}", TIME, (column,), own)


def record(s: str | None, n: int = 5, after_s: float = 0, **more: Any) -> dict[str, Any]:
    return {"n": n, "s": s, "t": (AT + timedelta(seconds=after_s)).isoformat(), **more}


@pytest.fixture
def rig_of(spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path) -> Iterator[Callable[..., EchoRig]]:
    made: list[EchoRig] = []
    # Workers cannot import a test.
    cloudpickle.register_pickle_by_value(sys.modules[echo.__name__])

    def rig(**limits: int) -> EchoRig:
        folder = echo.EchoFolder(tmp_path / "echo.json")
        made.append(EchoRig.made(spark, kafka, tmp_path, {echo.OP: folder}, schema=SCHEMA, limits=limits))
        return made[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(OPERATORS, echo.OP, echo.EchoKind())  # type: ignore[arg-type]
        yield rig
        for one in made:
            one.close()


def test_each_query_is_folded_and_only_routed_records_are_written(rig_of: Callable[..., EchoRig]) -> None:
    rig = rig_of()
    plan = rig.plan(
        ("high", "n > 4", to_echo("high")), ("low", "n < 8", to_echo("low", "lower(s)")), ("routed", "n = 9", None)
    )
    tally = rig.run(plan, record("a", 5), record("b", 1), record("A", 9), b"?", tasks=3)
    assert rig.folder.by_key == {"high": {"A": 2}, "low": {"a": 1, "b": 1}}
    (topic,) = set(plan.topics.to_pylist()) - {own.topic for own in rig.folder.batches[0].queries.values()}
    assert rig.values(topic) == [9]
    assert tally is not None
    ids = plan.query_ids.take(pa.array(tally.by_query.ordinals)).to_pylist()
    # Records that no topic gets are accepted all the same, and cost no text.
    assert dict(zip(ids, tally.by_query.counts.tolist(), strict=True)) == {"high": 2, "low": 2, "routed": 1}
    assert (tally.tuples, tally.accepted, tally.written) == (4, 3, 1)
    batch = rig.folder.batches[0]
    assert (batch.batch_id, batch.version, batch.first, batch.end) == (7, 1, {0: 0, 1: 0}, {0: 4, 1: 4})
    assert batch.topic_id == rig.cluster.topic_id(rig.config.streams["folded"].topic)
    assert rig.folder.totals.counted == 4
    # A plan without such queries, and one with others, in the next batches.
    rig.run(rig.plan(("routed", "n = 9", None)), record("c", 9))
    assert len(rig.folder.batches) == 1
    rig.run(rig.plan(("high", "n > 4", to_echo("high"))), record("c", 9))
    assert rig.folder.by_key["high"] == {"A": 2, "C": 1}


def test_a_batch_without_rows_and_tasks_without_rows_hand_over(rig_of: Callable[..., EchoRig]) -> None:
    rig = rig_of()
    plan = rig.plan(("all", "true", to_echo("all")))
    rig.run(plan, tasks=3)
    assert rig.folder.batches[0].partials == {}
    rig.run(plan, record("a"), tasks=5)
    assert rig.folder.by_key == {"all": {"A": 1}}


def test_a_lost_hand_over_fails_the_batch_and_counts_nothing(rig_of: Callable[..., EchoRig], tmp_path: Path) -> None:
    rig, flag = rig_of(), tmp_path / "lost"
    plan = rig.plan(("all", "true", to_echo("all", flag=str(flag))), ("other", "n > 4", to_echo("other")))
    flag.touch()
    rig.run(plan, record("a"), record("b"), record("a"), again=1)
    assert not flag.exists()
    assert len(rig.folder.batches) == 1
    assert rig.folder.by_key == {"all": {"A": 2, "B": 1}, "other": {"A": 2, "B": 1}}


def test_one_that_is_replaced_during_a_batch_commits_nothing(rig_of: Callable[..., EchoRig], tmp_path: Path) -> None:
    rig = rig_of()
    plan = rig.plan(("all", "true", to_echo("all")))
    rig.run(plan, record("a"))
    bindings, taken = tmp_path / "bindings", tmp_path / "taken"
    bindings.rename(taken)
    with pytest.raises(BrokerError, match="another daemon has taken it over: this one writes no more"):
        rig.run(plan, record("b"))
    with pytest.raises(BrokerError, match="another daemon has taken it over"):
        rig.commits.write_left(1)
    assert rig.folder.by_key == {"all": {"A": 1}}
    taken.rename(bindings)
    rig.run(plan, record("c"))
    rig.commits.write_left(1)
    assert rig.folder.by_key == {"all": {"A": 1, "C": 1}}


def test_a_lost_update_of_the_accumulator_fails_the_batch(
    rig_of: Callable[..., EchoRig], monkeypatch: pytest.MonkeyPatch
) -> None:
    rig, honest, lost = rig_of(), FoldParam.addInPlace, Counter[str]()

    def lossy(self: FoldParam, value1: Any, value2: Any) -> Any:
        if ("1" in {str(partition) for _, partition in value2}) and not lost["once"]:
            lost["once"] += 1
            return value1
        return honest(self, value1, value2)

    monkeypatch.setattr(FoldParam, "addInPlace", lossy)
    plan = rig.plan(("all", "true", to_echo("all")))
    records = rig.records([record("a"), record("b")], 2)
    batch = BoundBatch(plan, is_replay=False, first={0: 0, 1: 0}, end={0: 1, 1: 1})
    with pytest.raises(FoldError, match=r"batch '?3'?: has no states of 1 of its 2 tasks \(partition 1\)"):
        rig.runner.run(3, records, batch, threading.Event())
    assert rig.folder.batches == []
    rig.runner.run(3, records, batch, threading.Event())
    assert rig.folder.by_key == {"all": {"A": 1, "B": 1}}


def test_a_commit_that_fails_is_tried_again_with_the_batch(rig_of: Callable[..., EchoRig]) -> None:
    rig = rig_of()
    plan = rig.plan(("all", "true", to_echo("all")))
    rig.folder.fails = 1
    rig.run(plan, record("a"), again=1)
    assert rig.folder.by_key == {"all": {"A": 1}}
    # What was covered is skipped: the folder decides, by offsets.
    batch = BoundBatch(plan, is_replay=True, first={0: 0, 1: 0}, end={0: 1, 1: 1})
    rig.runner.run(9, rig.records([record("a")], 1), batch, threading.Event())
    assert rig.folder.by_key == {"all": {"A": 1}}
    assert rig.folder.totals.counted == 1


def test_made_up_records_and_dead_letters_are_not_counted(rig_of: Callable[..., EchoRig]) -> None:
    rig = rig_of()
    plan = rig.plan(("all", "true", to_echo("all")), ("none", "s IS NULL", to_echo("none")))
    rig.runner.warm_up(plan, 0, threading.Event())
    rig.run(plan, record("a"), b"?", b"", record("b"), b"{")
    assert rig.folder.by_key == {"all": {"A": 1, "B": 1}}
    assert rig.folder.batches[0].newest_us == {TIME: {0: us(AT), 1: us(AT)}}


def us(at: datetime) -> int:
    return round(at.timestamp()) * 1_000_000


def test_excluded_records_are_counted_by_reason_and_move_no_time(rig_of: Callable[..., EchoRig]) -> None:
    rig = rig_of()
    plan = rig.plan(("all", "n > 1", to_echo("all")))
    records = [
        record("a", after_s=-7),
        record("b", after_s=3_600),
        record("c", after_s=3_601),
        {"n": 5, "s": "d"},
        record("x" * (echo.LARGEST_CHARS + 1), after_s=-90),
        record("not accepted", 0, after_s=60),
    ]
    rig.run(plan, *records)
    assert rig.folder.by_key == {"all": {"A": 1, "B": 1}}
    assert rig.folder.counts == {"all": {"counted": 2, "time": 1, "future_timestamp": 1, "too_large": 1}}
    # Records that no query accepts move the time as well.
    hour = timedelta(hours=1)
    assert rig.folder.batches[0].newest_us == {TIME: {0: us(AT - timedelta(seconds=7)), 1: us(AT + hour)}}
    assert rig.folder.totals.excluded == {"time": 1, "future_timestamp": 1, "too_large": 1}


def parks_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines of the log of errors."""
    return [own.getMessage() for own in caplog.records if own.levelname == "ERROR"]


def test_a_query_whose_state_fails_is_parked_alone(
    rig_of: Callable[..., EchoRig], caplog: pytest.LogCaptureFixture
) -> None:
    rig = rig_of()
    plan = rig.plan(("bad", "true", to_echo("bad")), ("good", "n > 5", to_echo("good")), version=4)
    rig.run(plan, record("a", 6), record("poison"), record("b", 6))
    reason = "its state failed: this key is"
    assert rig.folder.batches[0].failed == {"bad": reason}
    assert rig.folder.by_key == {"good": {"A": 1, "B": 1}}
    finding = rig.parks.finding
    assert finding is not None
    assert (dict(finding.queries), finding.version) == (
        {"bad": f"is parked, for {reason}: change it, or register it anew to try again"},
        4,
    )
    # From this batch on, until no plan has it.
    rig.run(plan, record("a", 6))
    assert parks_in(caplog) == [f"stream 'folded': query 'bad' is parked: {reason}"]
    assert rig.folder.batches[1].failed == {"bad": reason}
    assert rig.folder.by_key == {"good": {"A": 2, "B": 1}}
    rig.run(rig.plan(("good", "n > 5", to_echo("good"))), record("a", 6))
    rig.run(plan, record("c"))
    assert rig.folder.by_key["bad"] == {"C": 1}
    # The folder parks as well.
    rig.run(plan, record("enough"))
    assert rig.parks.finding is not None
    assert "its folder has enough" in rig.parks.finding.queries["bad"]


def test_a_query_that_cannot_write_what_a_batch_has_left_is_parked(
    rig_of: Callable[..., EchoRig], caplog: pytest.LogCaptureFixture
) -> None:
    rig = rig_of()
    rig.commits.write_left(4)
    assert rig.parks.finding is None
    rig.folder.left = {"a": "its topic takes no row so large"}
    rig.commits.write_left(4)
    assert rig.parks.finding is not None
    reason = "is parked, for its topic takes no row so large: change it, or register it anew to try again"
    assert (rig.parks.finding.queries, rig.parks.finding.version) == ({"a": reason}, 4)
    # One cause is one line, also where a batch comes before the query is parked, and reports it again.
    rig.folder.left, rig.folder.refused = {}, {"a": "its topic takes no row so large"}
    rig.run(rig.plan(("a", "true", to_echo("a")), version=4), record("a"))
    assert parks_in(caplog) == ["stream 'folded': query 'a' is parked: its topic takes no row so large"]


def test_a_definition_that_is_refused_parks_its_query_alone(rig_of: Callable[..., EchoRig]) -> None:
    rig = rig_of()
    other = replace(to_echo("other"), definition={})
    rig.run(rig.plan(("good", "true", to_echo("good")), ("other", "true", other)), record("a"))
    assert rig.folder.by_key == {"good": {"A": 1}}
    assert rig.folder.batches[0].failed == {"other": "its definition is refused: 'column'"}
    assert rig.parks.finding is not None


def test_the_widest_state_beyond_the_limit_fails_and_no_other(rig_of: Callable[..., EchoRig]) -> None:
    rig = rig_of(stream_objects=400)
    plan = rig.plan(("narrow", "true", to_echo("narrow", "upper(left(s, 1))")), ("wide", "true", to_echo("wide")))
    rig.run(plan, *(record(f"key {n:05}") for n in range(50)), tasks=2)
    (reason,) = rig.folder.batches[0].failed.values()
    assert reason.endswith("is the widest, and all of its kind may take 200, the task's share of limits.stream_objects")
    assert rig.folder.by_key == {"narrow": {"K": 50}}


def test_a_column_that_a_predicate_and_a_state_read_crosses_once(rig_of: Callable[..., EchoRig]) -> None:
    rig = rig_of()
    plan = rig.plan(("all", "upper(s) > 'A' AND n > 1", to_echo("all")))
    rig.run(plan, record("a"), record("b"))
    assert rig.folder.by_key == {"all": {"B": 1}}
    shipped = rig.runner._shipped
    assert shipped is not None
    (texts,) = ([text for text in shipped.transport.arguments if "upper(s)" in text and "isnull" not in text],)
    assert len(texts) == 1
    assert len(shipped.transport.carriers) == len(plan.p_attributes) + 2
