"""The cubes of a stream in a broker under faults. The tests register the cubes, pause and resume them, and compare
their answers with DuckDB.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from asc.operators.cube.json_values import instant_of
from broker.consuming.consume import receive
from broker.kafka.cluster import KafkaCluster
from tools.faults.counted_cubes import CountedCube
from tools.faults.cube_ledger import CubeAudit, CubeLedger, Interval, covered_of
from tools.faults.cube_windows import output_cuboids, window_differences
from tools.faults.raw_records import RawRecords
from tools.faults.topic_reading import read_topic

_STALLED_S = 180.0
_LOOK_S = 0.2
_INTERVALS = 4
_REPEATS = 10_000_000


class StandingCubes:
    """Cubes over a topic from its first record on, and the ledger of the records that each must have folded."""

    def __init__(
        self,
        broker: httpx.Client,
        cluster: KafkaCluster,
        cubes: Sequence[CountedCube],
        columns: Mapping[str, str],
        *,
        stream: str,
        source: str,
        slack_s: float,
    ) -> None:
        """Create the cubes, without registering them. ``slack_s``: the event time by which a gap may extend beyond the
        missing records.
        """
        self._broker = broker
        self._stream = stream
        self._cluster = cluster
        self._source = source
        self._cubes = cubes
        self._slack_us = round(slack_s * 1_000_000)
        self._records = RawRecords(columns)
        self._changes: dict[str, list[Mapping[int, int]]] = {cube.query: [] for cube in cubes}
        """For each cube, the offsets by partition at which it was paused, resumed, paused, and so on."""

    def register(self) -> None:
        """Register the cubes, before the first record is published."""
        for cube in self._cubes:
            body = {"where": cube.where, "operator": cube.operator, "stream": self._stream, "topic": self._topic(cube)}
            self._broker.put(f"/v1/queries/{cube.query}", json=body).raise_for_status()

    def toggle(self, cube: CountedCube) -> None:
        """Pause the cube, or resume it if it is paused. Do so only while no fault is active, because the API then
        returns the offsets of the change.
        """
        own = self._changes[cube.query]
        answer = self._broker.put(f"/v1/queries/{cube.query}", json={"paused": len(own) % 2 == 0}, timeout=120)
        offsets = answer.raise_for_status().json()["effective_offsets"]
        own.append({int(partition): offset for partition, offset in offsets.items()})

    def audit(self, random_: random.Random) -> CubeAudit:
        """Wait until each cube has folded all records of the source topic, and compare its answers with DuckDB. Raise
        RuntimeError if a cube stops progressing.
        """
        own = read_topic(self._cluster, self._source, self._records.ends)
        self._records.add((partition, offset, value) for partition, offset, _, value, _ in own)
        audits = []
        for cube in self._cubes:
            self._await_folded(cube)
            ledger = CubeLedger(
                cube,
                self._records,
                ask=lambda body, cube=cube: self._asked("POST", cube, "/cube/query", json=body),  # type: ignore[misc]
                kept=lambda cube=cube: self._asked("GET", cube)["kept"],  # type: ignore[misc]
                covered=self._covered(cube),
                slack_us=self._slack_us,
            )
            audits += [ledger.audit(self._intervals(cube, random_)), self._windows(cube)]
        return CubeAudit.of(audits)

    def _covered(self, cube: CountedCube) -> dict[int, list[tuple[int, int]]]:
        """Return the offsets that a cube must have folded, by partition. If the offset of a change is unknown for a
        partition, it is 0.
        """
        found = {}
        for partition, end in self._records.ends.items():
            places = [0, *(offsets.get(partition, 0) for offsets in self._changes[cube.query]), end]
            found[partition] = [
                (first, last) for first, last in zip(places[::2], places[1::2], strict=False) if first < last
            ]
        return {partition: own for partition, own in found.items() if own}

    def _await_folded(self, cube: CountedCube) -> None:
        wanted = {partition: own[-1][1] for partition, own in self._covered(cube).items()}
        deadline = time.monotonic() + _STALLED_S
        while True:
            kept = self._asked("GET", cube)["kept"]
            reached = {partition: own[-1][1] for partition, own in covered_of(kept or {"coverage": ()}).items()}
            if all(reached.get(partition, 0) >= end for partition, end in wanted.items()):
                return
            if time.monotonic() > deadline:
                raise RuntimeError(f"cube {cube.query} does not reach offsets {wanted}, and is at {reached}")
            time.sleep(_LOOK_S)

    def _intervals(self, cube: CountedCube, random_: random.Random) -> list[Interval]:
        """Return some intervals that begin and end with a pane, drawn at random: of one pane, of several panes, and
        without an end.
        """
        span = self._records.span_us(cube, self._covered(cube))
        if span is None:
            return []
        first, last = (own // cube.grain_us for own in span)
        intervals: list[Interval] = []
        for _ in range(_INTERVALS):
            begin = random_.randint(first, last)
            end = random_.randint(begin + 1, last + 1)
            intervals += [
                (begin * cube.grain_us, (begin + 1) * cube.grain_us),
                (begin * cube.grain_us, end * cube.grain_us),
            ]
        return [*intervals, (last * cube.grain_us, None)]

    def _windows(self, cube: CountedCube) -> CubeAudit:
        """Compare the windows that end at or before the watermark with DuckDB's results. Repeat the comparison until
        there is no difference or a deadline has passed, because the cube may not have written all windows yet.
        """
        if not output_cuboids(cube):
            return CubeAudit()
        until_us = instant_of("watermark", self._asked("GET", cube)["kept"]["watermark"])
        deadline = time.monotonic() + _STALLED_S / 3
        while True:
            topics = [self._topic(cube)]
            rows = receive(self._cluster.client, topics, group=None, from_beginning=True, to_end=True, window=_REPEATS)
            due, wrong = window_differences(cube, self._records, self._covered(cube), rows, until_us)
            if not wrong or time.monotonic() > deadline:
                return CubeAudit(wrong, windows=due)
            time.sleep(_LOOK_S)

    def _asked(self, method: str, cube: CountedCube, path: str = "", **request: Any) -> Mapping[str, Any]:
        """Return the API's answer. Repeat the request if its connection breaks, as after a fault, or if the answer is a
        server error.
        """
        deadline = time.monotonic() + _STALLED_S
        while True:
            try:
                answer = self._broker.request(method, f"/v1/queries/{cube.query}{path}", **request)
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.is_success:
                found: Mapping[str, Any] = answer.json()
                return found
            if (answer is not None and answer.status_code < 500) or time.monotonic() > deadline:
                raise RuntimeError(f"cube {cube.query} was answered with {answer and answer.text[:300]}")
            time.sleep(_LOOK_S)

    def _topic(self, cube: CountedCube) -> str:
        """Return the topic of a cube's windows."""
        return f"{self._stream}-{cube.query}"
