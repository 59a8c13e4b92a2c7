"""A keeper with a cube of made-up records, and the ledger that holds it against DuckDB."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.broker.operators.cube.kept_stream import BASE_US, Record, Topic, batch, opened, partial
from tests.broker.operators.cube.window_rig import CUBE, LATE
from tools.faults.counted_cubes import CountedCube
from tools.faults.cube_ledger import CubeLedger
from tools.faults.raw_records import Intervals, RawRecords

SPREAD = "(count(delay) * sum(delay * delay) - sum(delay) * sum(delay)) / nullif(count(delay) * count(delay), 0)"
"""The variance as a quotient of integers. DuckDB's own variance depends on the order of the records."""

COUNTED = CountedCube(
    query=LATE.query,
    where="true",
    operator={**CUBE.plain(), "output": [["carrier"], []], "window_s": 120, "slide_s": 60},
    dimensions={"carrier": "carrier", "dest": "dest"},
    measures={
        **{"n": "count(*)", "d": "sum(delay)", "least": "min(delay)", "most": "max(delay)", "mean": "avg(delay)"},
        **{"spread": SPREAD, "known": "count(delay)"},
    },
    time_us="t",
)
COLUMNS = {"carrier": "VARCHAR", "dest": "VARCHAR", "delay": "BIGINT", "t": "BIGINT"}


def raw(records: Sequence[Record]) -> RawRecords:
    """Return records of partition 0 as DuckDB has them, their places being their offsets."""
    found = RawRecords(COLUMNS)
    plain = ((*record[:3], None if record[3] is None else BASE_US + record[3]) for record in records)
    values = (json.dumps(dict(zip(COLUMNS, own, strict=True))).encode() for own in plain)
    found.add((0, offset, value) for offset, value in enumerate(values))
    return found


@dataclass
class CountedRig:
    """A keeper that has batches of a topic of one partition."""

    folder: Path
    records: Sequence[Record]
    lateness_s: float = 0
    changed: Mapping[str, Any] = field(default_factory=dict)
    """Members of answers that are told otherwise."""

    def __post_init__(self) -> None:
        self.topic = Topic(partitions={0: list(self.records)})
        self.keeper = opened(self.folder, lateness_s=self.lateness_s)
        self.keeper.define(LATE, CUBE)

    def commit(self, first: int, end: int, *, times: int = 1) -> None:
        """Commit a batch, whose records were folded so many times."""
        own = batch(first, end)
        tasks = list(self.topic.records(own).values()) * times
        self.keeper.commit(own, {LATE: partial(CUBE, tasks)}, self.topic.newest(own))

    def reopen(self) -> None:
        self.keeper.close()
        self.keeper = opened(self.folder, lateness_s=self.lateness_s)

    def wrong(self, covered: Intervals | None = None, *, slack_us: int = 0) -> list[str]:
        """Return what the ledger finds."""
        ledger = CubeLedger(
            COUNTED,
            raw(self.records),
            ask=lambda body: {**self.keeper.questions.query(LATE, body), **self.changed},
            kept=lambda: self.keeper.snapshot.status(LATE),
            covered={0: [(0, len(self.records))]} if covered is None else covered,
            slack_us=slack_us,
        )
        minutes = [(BASE_US + own * 60_000_000, BASE_US + (own + 1) * 60_000_000) for own in range(6)]
        found = ledger.audit([*minutes, (None, BASE_US + 120_000_000), (BASE_US + 120_000_000, None)])
        assert found.values > 0
        assert found.sound == (not found.wrong)
        return found.wrong
