"""Moving objects: records of a second stream, and queries with operators over them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from broker.operators.kind import OperatorKind
from broker.operators.kinds import OPERATORS

STREAM = "moves"
SOURCE = "moves-in"
DDL = "k STRING, x DOUBLE, y DOUBLE, icao24 STRING, longitude DOUBLE, latitude DOUBLE, altitude DOUBLE"
"""The columns: those of the queries here, and those of the first example of each kind of operator."""

COLUMNS: Mapping[str, str] = MappingProxyType({"k": "VARCHAR", "x": "DOUBLE", "y": "DOUBLE"})
"""The DuckDB type of each column of a record."""

SETTINGS = "lateness_s = 0.0"

STEP_S = 0.01
"""The event time in seconds from one record to the next. The time depends on the offset, so it is the same however
often a record is sent.
"""

_TIME = f"timestamp_micros(_offset * {round(STEP_S * 1_000_000)})"
_OBJECTS = 12

_EVENTS = {"name": "events", "key": "k", "time": _TIME, "events": ["enter", "exit"], "lost_after_s": 1000}
_CUBE = {
    "name": "cube",
    "dimensions": [["k"], ["(x > 0)"]],
    # Declare no sum of doubles, because its rounding would depend on the division of records into batches.
    "measures": ["count(*) AS records", "min(x) AS west", "max(y) AS north"],
    "time": _TIME,
    "grain_s": 1,
    "output": [["k"]],
    "window_s": 3,
    "slide_s": 1,
}
_DBSCAN = {
    "name": "dbscan",
    "attributes": ["x", "y"],
    "eps": 1.5,
    "min_samples": 3,
    "time": _TIME,
    "window_s": 2.0,
    "slide_s": 1.0,
    "members": "changes",
    "key": "k",
}
_NEAR = {"name": "near", "key": "k", "time": _TIME, "position": "ST_Point(x, y)", "window_s": 2.0, "every_s": 0.5}

_OWN: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "east": {"where": "x > 2", "operator": _EVENTS},
        "north": {"where": "y > 0 AND k <> 'o3'", "operator": {**_EVENTS, "dwell_s": 0.3}},
        "close": {"where": "TRUE", "operator": {**_NEAR, "distance_m": 150_000.0, "events": ["pair"]}},
        "seen": {"where": "TRUE", "operator": _CUBE},
        "crowd": {"where": "x > -6", "operator": _DBSCAN},
        "met": {
            "where": "x > -5",
            "operator": {**_NEAR, "distance_m": 300_000.0, "events": ["near", "apart"], "on": "a.y < 8 AND b.y < 8"},
        },
    }
)
"""The queries of the kinds that are known here, by id."""


def example_queries(kinds: Mapping[str, OperatorKind[Any]]) -> dict[str, dict[str, Any]]:
    """Return a query of each kind by id: the first example of the kind, with the event time of the records."""
    return {
        f"example-{name}": {"where": "TRUE", "operator": {**kind.body.examples[0], "time": _TIME}}
        for name, kind in kinds.items()
    }


_KNOWN = {query["operator"]["name"] for query in _OWN.values()}

QUERIES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {**_OWN, **example_queries({name: kind for name, kind in OPERATORS.items() if name not in _KNOWN})}
)
"""The queries by id, without their topics: at least one of each kind. Their outputs depend only on the order of the
records, because all records are in one partition with ascending times.
"""


def move_of(number: int) -> tuple[bytes | None, bytes, list[tuple[str, bytes]]]:
    """Return key, value and headers of the record with this number: the position of a moving object."""
    own = number % _OBJECTS
    turn = number / (700 + 90 * own)
    x, y = round((4 + own / 3) * math.sin(turn), 4), round((9 - own / 2) * math.cos(1.7 * turn), 4)
    aircraft = {"icao24": f"o{own}", "longitude": x, "latitude": y, "altitude": 1_000.0 * own}
    return None, json.dumps({"k": f"o{own}", "x": x, "y": y, **aircraft}).encode(), []
