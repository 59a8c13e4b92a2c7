"""Records of DBSCAN queries as the end of a topic has them, for the tests of what is read from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.definition import DbscanDefinition
from asc.operators.dbscan.records import DbscanOutput
from asc.operators.feed import Observation, Settings, Watermarks

BY_COUNTS = {"eps": 0.5, "min_samples": 3, "window_points": 100, "slide_points": 50}


@dataclass(frozen=True)
class Sent:
    """A record of Kafka's client."""

    offset: int
    value: bytes | None
    headers: Sequence[tuple[str, bytes]] = ()
    partition: int = 0
    timestamp: int = 0
    key: bytes | None = None


@dataclass
class Topic:
    """The records of one partition."""

    records: list[Sent] = field(default_factory=list)
    partition: int = 0
    timestamp: int = 0

    def send(self, query: str, value: dict[str, Any] | bytes, identity: str = "e") -> Topic:
        """Add an output of a query."""
        content = value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()
        headers = [("asc-event", identity.encode()), ("asc-query", query.encode()), ("asc-source", b"s-0-1")]
        own = Sent(len(self.records), content, headers, self.partition, self.timestamp)
        self.records.append(own)
        return self

    def send_all(self, outputs: Iterable[DbscanOutput]) -> Topic:
        """Add outputs as a task writes them."""
        for output in outputs:
            self.send(output.query, output.value.encode(), output.identity)
        return self


def cluster_record(query: str, end: int, label: int, /, **changes: Any) -> dict[str, Any]:
    """Return the record of a cluster of a window by counts."""
    return {
        "query": query,
        "record": "cluster",
        "window": [end - 9, end],
        "cluster": f"{end}-{label}",
        "label": label,
        "points": 4,
        "core": 3,
        "center": [1.0 + label, 2.0],
        "box": [[0.5 + label, 1.5], [1.5 + label, 2.5]],
        "events": ["appear"],
        "from": [],
        **changes,
    }


def window_record(query: str, end: int, clusters: int, /, **changes: Any) -> dict[str, Any]:
    """Return the record of a window by counts."""
    return {
        "query": query,
        "record": "window",
        "window": [end - 9, end],
        "partial": False,
        "clusters": clusters,
        "points": 100,
        "core": 3 * clusters,
        "border": clusters,
        "noise": 100 - 4 * clusters,
        "disappeared": {},
        "sample": [[1.0 + label, 2.0, label] for label in range(clusters)],
        **changes,
    }


def outputs(rows: npt.NDArray[np.float64], definition: dict[str, Any], query_id: str = "crowds") -> list[DbscanOutput]:
    """Return what a query makes of rows in order: float64[n, attributes], a second apart."""
    parsed = DbscanDefinition.parse(definition)
    query = parsed.query(query_id, "asc.crowds", track="t", time="", selection="s", lateness_us=0)
    clusters = Clusters()
    found = list(clusters.outputs([Settings("dbscan", "rows", False, 200_000, (query.settings(),))]))
    messages = [
        Observation("dbscan", "t", None, place * 1_000_000, tuple(row), 0, place, ("s",))
        for place, row in enumerate(rows.tolist())
    ]
    found += clusters.outputs([*messages, Watermarks({"": (len(rows) - 1) * 1_000_000})])
    return [*found, *clusters.settled()]
