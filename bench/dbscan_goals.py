"""The goals of the DBSCAN benchmark, which were set before any measurement, and their comparison with measured
figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Figure = float | str
"""A measured figure, or the reason why there is none."""

SKLEARN, DBSCAN, HDBSCAN, INCDBSCAN = "scikit-learn", "dbscan 1.0", "hdbscan", "incdbscan 0.6"
EXTRA_N, EXTRA_N_SHARED, ALONE = "Extra-N", "Extra-N with shared searches", "each query alone on shared neighbours"

_TIMES, _MB, _US = "{:.2f} x", "{:.1f} MB", "{:.1f} us"


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal of a part of the DBSCAN benchmark. ``against``: the rival that the engine is compared with, or the name of
    the figure. ``value``: the bound of the figure. The bound is a minimum if ``is_least`` is true, and a maximum
    otherwise.

    ``value`` is None if the figure is only reported. ``form``: the format of the figure and of the bound, with the
    unit.
    """

    part: str
    case: str
    against: str
    value: float | None
    form: str = _TIMES
    is_least: bool = True

    def verdict(self, measured: Figure) -> str:
        """Return the verdict on a measured figure.

        >>> Goal("ratios", "one query", DBSCAN, 1.0).verdict(0.8)
        'missed'
        """
        if isinstance(measured, str):
            return "not measured"
        if self.value is None:
            return "reported"
        return "met" if (measured >= self.value if self.is_least else measured <= self.value) else "missed"

    def cells(self, measured: Figure) -> tuple[str, str, str, str, str]:
        """Return the cells of the goal's row in a table.

        >>> Goal("ratios", "heaps", "memory", 300.0, "{:.1f} MB", is_least=False).cells(41.25)
        ('heaps', 'memory', '<= 300.0 MB', '41.2 MB', 'met')
        """
        sign = ">=" if self.is_least else "<="
        goal = "-" if self.value is None else f"{sign} {self.form.format(self.value)}"
        text = measured if isinstance(measured, str) else self.form.format(measured)
        return self.case, self.against, goal, text, self.verdict(measured)


_THOUSAND = "1,000 different queries, windows 2,000-10,000, labels"
_LARGE = "1,000 different queries to 100,000 points, labels"
_SETTINGS = "290 settings, one window of 100,000, labels"
_ONE = "one query"
_DENSE = "one query, 250 neighbours a point"
_HEAPS = "12 heaps of 15,000 points, labels"
_MESSAGES = "1,000 queries with one WHERE"
_LATER = "the 1,000th slide"


def _general(count: int, ratio: float) -> dict[str, Goal]:
    case = f"{count} queries, four parameters arbitrary"
    return {
        f"general-{count}": Goal("paper", case, EXTRA_N_SHARED, ratio),
        f"general-{count}-bytes": Goal("paper", case, f"bytes of {EXTRA_N_SHARED}", 0.15, is_least=False),
        f"general-{count}-alone": Goal("paper", case, f"{ALONE}, the worst group", 1.0),
        f"general-{count}-saved": Goal("paper", case, f"saved of {ALONE}", None, "{:.0f} %"),
    }


def _scaled(count: int, most_us: float) -> dict[str, Goal]:
    case = f"the paper's settings, {count:,} queries"
    return {f"scale-{count}": Goal("paper", case, "CPU a record", most_us, _US, is_least=False)}


GOALS: Mapping[str, Goal] = {
    "thousand-sklearn": Goal("ratios", _THOUSAND, SKLEARN, 30.0),
    "thousand-dbscan": Goal("ratios", _THOUSAND, DBSCAN, 12.0),
    "large-sklearn": Goal("ratios", _LARGE, SKLEARN, 25.0),
    "large-dbscan": Goal("ratios", _LARGE, DBSCAN, 10.0),
    "settings-sklearn": Goal("ratios", _SETTINGS, SKLEARN, 100.0),
    "settings-dbscan": Goal("ratios", _SETTINGS, DBSCAN, 30.0),
    "settings-hdbscan": Goal("ratios", _SETTINGS, HDBSCAN, None),
    "one-sklearn": Goal("ratios", _ONE, SKLEARN, 1.0),
    "one-dbscan": Goal("ratios", _ONE, DBSCAN, 1.0),
    "dense-sklearn": Goal("ratios", _DENSE, SKLEARN, 1.0),
    "dense-dbscan": Goal("ratios", _DENSE, DBSCAN, 1.0),
    "short-incdbscan": Goal("ratios", "window 3,000, slide 300", INCDBSCAN, 10.0),
    "long-incdbscan": Goal("ratios", "window 15,000, slide 15", INCDBSCAN, None),
    "long-extra-n": Goal("ratios", "window 15,000, slide 15", EXTRA_N, None),
    "heaps-dbscan": Goal("ratios", _HEAPS, DBSCAN, 1.0),
    "heaps-bytes": Goal("ratios", _HEAPS, "memory above the points", 300.0, _MB, is_least=False),
    "message": Goal("ratios", _MESSAGES, "feed message", 200.0, "{:.0f} bytes", is_least=False),
    "state": Goal("ratios", f"10,000 points, {_MESSAGES}", "state", 2.0, _MB, is_least=False),
    "later-cost": Goal("ratios", _LATER, "cost of the 10th", 1.1, is_least=False),
    "later-state": Goal("ratios", _LATER, "state of the 10th", 1.01, is_least=False),
    **_general(20, 3.3),
    **_general(40, 4.2),
    **_general(60, 6.7),
    **_scaled(10, 20.0),
    **_scaled(100, 50.0),
    **_scaled(1_000, 200.0),
    "scale-cpu": Goal("paper", "the paper's settings, 10 to 1,000 queries", "CPU", 33.0, is_least=False),
    "scale-bytes": Goal("paper", "the paper's settings, 10 to 1,000 queries", "bytes", 2.0, is_least=False),
    "served-rate": Goal("served", "through Kafka, 1,000 queries", "throughput", 5_000.0, "{:,.0f} records/s"),
    "served-routing": Goal("served", "through Kafka, 1,000 queries", "routing without them", 0.9),
}
"""The goals by name, in the order of the table. For a goal that a figure does not grow, the bound permits 10 % more for
a cost, and 1 % more for the size of a state.
"""

NOT_RUN = "its part was not run"


def goals_table(measured: Mapping[str, Figure]) -> str:
    """Return all goals as a Markdown table. If a goal has no figure, its row has the reason."""
    lines = ["| case | against | goal | measured | |", "|---|---|---|---|---|"]
    for name, goal in GOALS.items():
        lines.append(f"| {' | '.join(goal.cells(measured.get(name, NOT_RUN)))} |")
    return "\n".join(lines)
