"""The cubes of the fault tests, with the DuckDB expressions that compute the same values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from asc.operators.cube.cuboid import Dimensions
from tools.faults import moves

FUTURE_US = 4_102_444_800_000_000
"""The beginning of the year 2100, in microseconds: the event time of some records. A cube excludes them, because this
time is later than their Kafka timestamps.
"""

LATENESS_S = 60.0
"""The allowed lateness in seconds. It is more than the event times of partitions can differ while Kafka is down."""

STEP_S = 0.01
"""The event time in seconds from one record to the next."""

_STEP_US = round(STEP_S * 1_000_000)
_BEHIND_US = 90_000_000
_TIME_US = (
    f"CASE WHEN n % 97 = 0 THEN NULL WHEN n % 89 = 0 THEN {FUTURE_US} "
    f"WHEN n % 23 = 5 THEN n * {_STEP_US} - {_BEHIND_US} ELSE n * {_STEP_US} END"
)
_IN_ORDER_US = f"n * {_STEP_US}"
_TEXT = "CASE WHEN n % 101 = 50 THEN rpad(s, 5000, '.') ELSE s END"


@dataclass(frozen=True, slots=True)
class CountedCube:
    """A cube of the fault tests, with DuckDB's expressions for its values.

    ``dimensions`` and ``measures``: DuckDB's expression of each dimension and measure, by the name of the value in the
    cube's answers. ``double_sums``: the expression of the addends of each measure that is a sum of doubles.
    ``time_us``: the expression of the event time in microseconds.
    """

    query: str
    where: str
    operator: Mapping[str, Any]
    dimensions: Mapping[str, str]
    measures: Mapping[str, str]
    time_us: str
    double_sums: Mapping[str, str] = field(default_factory=dict)

    @property
    def grain_us(self) -> int:
        """Return the length of the cube's panes in microseconds."""
        return int(self.operator["grain_s"]) * 1_000_000

    def cuboids(self) -> Iterator[Sequence[str]]:
        """Yield for each cuboid of the cube the names by which it groups records, the base cuboid first."""
        own = Dimensions(tuple(tuple(hierarchy) for hierarchy in self.operator["dimensions"]))
        for levels in own.cuboids():
            yield [own.names[place] for place in own.columns(levels)]


LATE = CountedCube(
    query="rolled",
    where="NOT g = 4 OR d > 0",
    operator={
        "name": "cube",
        "dimensions": [["g", _TEXT], ["(d > 0)"]],
        "measures": [
            *("count(*) AS n", "count(d) AS ds", "sum(n) AS total", "sum(d) AS drift", "avg(g) AS mean"),
            *("min(d) AS least", "max(s) AS last", "count(*) FILTER (WHERE d > 1) AS high"),
        ],
        "time": f"timestamp_micros({_TIME_US})",
        "grain_s": 10,
        "output": [["g"], []],
        "window_s": 20,
        "slide_s": 10,
    },
    dimensions={"g": "g", _TEXT: _TEXT, "(d > 0)": "d > 0"},
    measures={
        "n": "count(*)",
        "ds": "count(d)",
        "total": "sum(n)",
        "mean": "avg(g)",
        "least": "min(d)",
        "last": "max(s)",
        "high": "count(*) FILTER (WHERE d > 1)",
    },
    double_sums={"drift": "d"},
    time_us=_TIME_US,
)
"""A cube with three kinds of unusual records: later than the allowed lateness, without a usable time, and of a group
whose key is too large.
"""

RESTED = CountedCube(
    query="rested",
    where="TRUE",
    operator={
        "name": "cube",
        "dimensions": [["g"]],
        "measures": ["count(*) AS n", "sum(n) AS total"],
        "time": f"timestamp_micros({_IN_ORDER_US})",
        "grain_s": 10,
    },
    dimensions={"g": "g"},
    measures={"n": "count(*)", "total": "sum(n)"},
    time_us=_IN_ORDER_US,
)
"""A cube that is paused from time to time."""

MOVES = CountedCube(
    query="seen",
    where=str(moves.QUERIES["seen"]["where"]),
    operator=moves.QUERIES["seen"]["operator"],
    dimensions={"k": "k", "(x > 0)": "x > 0"},
    measures={"records": "count(*)", "west": "min(x)", "north": "max(y)"},
    time_us=f"_offset * {round(moves.STEP_S * 1_000_000)}",
)
