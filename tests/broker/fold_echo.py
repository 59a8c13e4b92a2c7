"""A kind of the handoff ``fold`` that tests alone have: it counts the keys of the records that a query accepts."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from asc.operators.fold import Fold, FoldState
from asc.predicate.normal_form.disjunctive_form import Predicate
from broker.body import Text
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.kafka.cluster import KafkaCluster
from broker.operators.estimate_body import EstimateBody
from broker.operators.expression import Expression, OperatorExpressions, RecordAnalyser
from broker.operators.fold_destination import FoldColumn, FoldDestination
from broker.operators.fold_sample import FoldEstimate, FoldSample
from broker.operators.folder import FoldBatch, FoldContext, Folder, FoldTotals
from broker.operators.kept_body import KeptBody
from broker.operators.kind import FoldedQuery, Sampler, read_fields
from broker.operators.kind_body import KindBody
from broker.operators.operator_fields import check_known, expression_of, key_of
from broker.plans.binding import write_durably

OP = "echo"

POISON = "POISON"
"""The key that a state fails on."""

LARGEST_CHARS = 40
"""The most characters of a key that is counted."""


class LostError(BaseException):
    """A hand-over that fails: no error of one state, which are caught."""


class EchoCounts:
    """The state: records by key. With a file at ``flag`` it takes that away, and the hand-over fails."""

    def __init__(self, column: str, flag: str) -> None:
        self._column, self._flag = column, flag
        self._counts: Counter[str] = Counter()
        self._uncounted: list[str] = []

    @property
    def nbytes(self) -> int:
        return sum(8 + len(key) for key in (*self._counts, *self._uncounted))

    def compact(self) -> None:
        self._counts.update(self._uncounted)
        self._uncounted = []

    def fold(self, columns: Mapping[str, list[str | None]], rows: npt.NDArray[np.int64]) -> int:
        keys = [columns[self._column][row] or "" for row in rows.tolist()]
        if POISON in keys:
            raise ValueError("this key is\npoison")
        kept = [key for key in keys if len(key) <= LARGEST_CHARS]
        self._uncounted += kept
        return len(keys) - len(kept)

    def to_bytes(self) -> bytes:
        if self._flag and Path(self._flag).exists():
            Path(self._flag).unlink()
            raise LostError("the hand-over is lost")
        self.compact()
        return json.dumps(self._counts).encode()


class EchoFold:
    """The computation."""

    def columns(self, batch: pa.RecordBatch) -> Mapping[str, list[str | None]]:
        return {name: batch.column(name).cast(pa.string()).to_pylist() for name in batch.schema.names}

    def prepare(self, definition: Mapping[str, Any]) -> tuple[str, str]:
        return str(definition["column"]), str(definition["flag"])

    def state(self, prepared: tuple[str, str]) -> FoldState:
        return EchoCounts(*prepared)

    def merge(self, prepared: tuple[str, str], states: Sequence[bytes]) -> bytes:
        whole: Counter[str] = Counter()
        for state in states:
            whole.update(json.loads(state))
        return json.dumps(whole).encode()


class EchoFolder:
    """All that was committed, in one file: totals by query, coverage, counts, and what is parked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self.batches: list[FoldBatch] = []
        self.totals = FoldTotals()
        self.fails = 0
        """The number of commits that fail from now on."""
        self.left: dict[str, str] = {}
        """The queries that cannot write what the last batch has left."""
        self.refused: dict[str, str] = {}
        """The queries that each commit reports as parked."""

    @property
    def held(self) -> int | None:
        return sum(map(len, self.by_key.values()))

    @property
    def outputs(self) -> Mapping[str, int]:
        return {}

    @property
    def watermarks_us(self) -> Mapping[str, int]:
        return {time: min(own.values()) for batch in self.batches[-1:] for time, own in batch.newest_us.items()}

    @property
    def by_key(self) -> dict[str, dict[str, int]]:
        """The records counted, by query and key."""
        found: dict[str, dict[str, int]] = self._read()["totals"]
        return found

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """The records by query, counted and excluded."""
        found: dict[str, dict[str, int]] = self._read()["counts"]
        return found

    def _read(self) -> dict[str, Any]:
        if not self.path.exists():
            return {"coverage": [], "totals": {}, "counts": {}}
        found: dict[str, Any] = json.loads(self.path.read_text())
        return found

    def set_registered(
        self,
        registered: Mapping[str, int | None],
        planned: Mapping[str, FoldDestination],
        version: int,
        unserved: Mapping[str, str],
    ) -> None:
        """Delete the states of queries that are not registered any more."""
        with self._lock:
            now = self._read()
            now["totals"] = {name: own for name, own in now["totals"].items() if name in registered}
            if now["coverage"]:
                write_durably(self.path, json.dumps(now))

    def tidy(self) -> None:
        """Nothing is left."""

    def write_left(self) -> Mapping[str, str]:
        return self.left

    def kept(self, query_id: str, where: str, definition: Any, *, is_brief: bool = False) -> Mapping[str, Any] | None:
        own = self.by_key.get(query_id)
        if own is None:
            return None
        return {"keys": len(own)} if is_brief else {"keys": len(own), "counts": self.counts.get(query_id, {})}

    def refusal(self, query_id: str, where: str, definition: Any, since: int) -> QueryError | None:
        """Any definition goes on."""

    def commit(self, batch: FoldBatch) -> Mapping[str, str]:
        if self.fails:
            self.fails -= 1
            raise OSError(28, "No space left on device")
        with self._lock:
            return self._commit(batch)

    def _commit(self, batch: FoldBatch) -> Mapping[str, str]:
        self.batches.append(batch)
        now = self._read()
        own = [[batch.topic_id, partition, batch.first[partition], end] for partition, end in batch.end.items()]
        if all(interval in now["coverage"] for interval in own):
            return {}
        now["coverage"] += own
        for name, partial in batch.partials.items():
            self.totals.add(partial.counts)
            totals, counts = (now[part].setdefault(name, {}) for part in ("totals", "counts"))
            for key, count in json.loads(partial.state).items():
                totals[key] = totals.get(key, 0) + count
            for reason, count in {"counted": partial.counts.counted, **partial.counts.excluded}.items():
                counts[reason] = counts.get(reason, 0) + count
        write_durably(self.path, json.dumps(now))
        return {name: "its folder has enough" for name, own in now["totals"].items() if "ENOUGH" in own} | self.refused

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class EchoDefinition:
    """The key that is counted."""

    name: ClassVar[str] = OP

    key: str
    time: str = "_timestamp"

    @classmethod
    def parse(cls, plain: Mapping[str, Any]) -> EchoDefinition:
        check_known(plain, ("name", "key", "time"))
        return cls(key_of(OP, plain), expression_of("time", plain.get("time", "_timestamp")))

    def plain(self) -> dict[str, Any]:
        return {"name": OP, "key": self.key, "time": self.time}

    def expressions(self) -> tuple[Expression, ...]:
        return (Expression("key", self.key, "key"), Expression("time", self.time, "time"))

    def summary(self) -> str:
        return f"counts {self.key}"


class EchoKept(KeptBody):
    """The keys of a query, and its counts."""

    name: Literal["echo"]
    keys: int
    counts: dict[str, int] = Field(default={})


class EchoEstimate(EstimateBody):
    """The keys of the records in a sample."""

    name: Literal["echo"]
    keys: int | None = Field(description="Different keys.")


class EchoBody(KindBody):
    """The number of records by key."""

    name: Literal["echo"]
    key: Text = Field(description="The expression that is counted.")
    time: Text = Field(default="_timestamp", description="The TIMESTAMP of a record.")


class EchoDaemonPart:
    """The calls of the daemon, in order; those in a row once."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def load(self) -> None:
        self._called("load")

    def keep_up(self) -> None:
        self._called("keep_up")

    def close(self) -> None:
        self._called("close")

    def _called(self, call: str) -> None:
        if self.calls[-1:] != [call]:
            self.calls.append(call)


@dataclass(frozen=True, slots=True)
class EchoKind:
    """Counts of the records that a query accepts, by key."""

    name: str = OP
    noun: str = "echo query"
    definition: type[EchoDefinition] = EchoDefinition
    body: type[KindBody] = EchoBody
    handoff: Literal["fold"] = "fold"
    limits: tuple[str, ...] = ("stream_near_queries", "stream_objects")
    allows_join: bool = False
    allows_compacted_topic: bool = False
    held_noun: str = "keys"
    partial_limit: str = "stream_objects"
    kept: type[KeptBody] = EchoKept
    estimate_body: type[EstimateBody] = EchoEstimate

    def read(
        self, definition: EchoDefinition, analyser: RecordAnalyser, *, patiently: bool = False
    ) -> OperatorExpressions:
        return OperatorExpressions(read_fields(definition, analyser))

    def excess(self, definition: EchoDefinition, limits: LimitsConfig) -> QueryError | None:
        return None

    def daemon_part(self, cluster: KafkaCluster) -> EchoDaemonPart:
        return EchoDaemonPart()

    def destination(
        self, definition: EchoDefinition, query: FoldedQuery, predicate: Predicate, expressions: OperatorExpressions
    ) -> FoldDestination:
        key, time = (own.read[0] for own in expressions.fields)
        columns = (FoldColumn(key.sql, key),)
        return FoldDestination(OP, query.id, query.topic, time.sql, columns, {"column": key.sql, "flag": ""})

    def fold(self) -> Fold:
        return EchoFold()

    def completed(self, definition: Any, former: Any, sampler: Sampler) -> Any:
        """Return the definition unchanged, because no sample decides a part of it."""
        return definition

    def estimate(self, destination: FoldDestination, sample: FoldSample | str) -> FoldEstimate:
        if isinstance(sample, str):
            return FoldEstimate(EchoEstimate(name="echo", text=f"its keys are not known: {sample}", keys=None))
        keys = len({*EchoFold().columns(sample.columns)[destination.definition["column"]]})
        text = f"{keys} keys of {sample.records} records"
        return FoldEstimate(EchoEstimate(name="echo", text=text, keys=keys), ("few keys",) if keys < 2 else ())

    def folder(self, stream: FoldContext) -> Folder:
        return EchoFolder(stream.checkpoint_dir / ".echo" / stream.name / "echo.json")
