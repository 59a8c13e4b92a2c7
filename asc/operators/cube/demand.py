"""The demand for views: how often questions need each view, with all counts halved daily."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from types import MappingProxyType
from typing import Any

from asc.errors import CubeError
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View

VIEWS_MOST = 4_096
"""The largest number of views whose demand is stored. If there are more, the view with the fewest questions
is dropped.
"""
HALVED_S = 86_400
"""The time between two halvings, in seconds."""
_FORGOTTEN = 2.0**-7
"""A view with at most this number of questions is dropped. A view that one question needed reaches it at the seventh
halving.
"""
_HOUR_S = 3_600.0


@dataclass(frozen=True, slots=True)
class Frequency:
    """The counts of questions for a view, halved daily. ``questions``: the number of questions. ``panes``: the sum of
    the panes of the cube in the intervals of these questions.
    """

    questions: float
    panes: float

    def plus(self, panes: float, questions: float) -> Frequency:
        """Return the counts with further questions, each over an interval of ``panes`` panes."""
        return Frequency(self.questions + questions, self.panes + questions * panes)

    def halved(self, times: int) -> Frequency:
        """Return the counts after ``times`` halvings."""
        return Frequency(self.questions * 0.5**times, self.panes * 0.5**times)


@dataclass(frozen=True, slots=True)
class Demand:
    """The demand for the views of one cube. Immutable.

    ``halved_at_s``: the time of the last halving, in seconds since the epoch. ``observed_s``: the time in seconds in
    which questions were counted before the last halving, halved as the counts are. So the counts divided by the
    observed time are a rate, at any time of the day and from the first day on. ``asked``: the counts of each view.

    >>> demand = Demand.begin(0).plus(View((1,), 24), 48, at_s=7_200)
    >>> demand.panes_an_hour(at_s=14_400)
    {View(cuboid=(1,), panes=24): 12.0}
    >>> demand.at(86_400).asked[View((1,), 24)]
    Frequency(questions=0.5, panes=24.0)
    """

    halved_at_s: float
    observed_s: float = 0.0
    asked: Mapping[View, Frequency] = field(default_factory=lambda: MappingProxyType({}))

    @staticmethod
    def begin(at_s: float) -> Demand:
        """Return the demand of a cube without questions yet, counted from ``at_s`` on."""
        return Demand(at_s)

    def at(self, at_s: float) -> Demand:
        """Return the demand at a time, halved once for each day since the last halving. If the clock was set back, the
        present day starts at ``at_s``.
        """
        if at_s < self.halved_at_s:
            return Demand(at_s, self.observed_s, self.asked)
        times = int((at_s - self.halved_at_s) // HALVED_S)
        if not times:
            return self
        halved = {view: own.halved(times) for view, own in self.asked.items()}
        kept = {view: own for view, own in halved.items() if own.questions > _FORGOTTEN}
        # Each halving first adds the day that ends. Repeated halvings converge to an observed time of one day.
        observed_s = HALVED_S + (self.observed_s - HALVED_S) * 0.5**times
        return Demand(self.halved_at_s + times * HALVED_S, observed_s, MappingProxyType(kept))

    def plus(self, view: View, panes: float, *, at_s: float, questions: float = 1.0) -> Demand:
        """Return the demand after questions for a view, each over an interval of ``panes`` panes of the cube.

        Cost: a copy of the table, which has at most VIEWS_MOST entries.
        """
        now = self.at(at_s)
        counts = dict(now.asked)
        own = counts.pop(view, None)
        if len(counts) >= VIEWS_MOST:
            del counts[min(counts, key=lambda least: (counts[least].questions, least))]
        counts[view] = (own or Frequency(0.0, 0.0)).plus(panes, questions)
        return Demand(now.halved_at_s, now.observed_s, MappingProxyType(counts))

    def panes_an_hour(self, *, at_s: float) -> dict[View, float]:
        """Return for each view the average number of panes that questions read in an hour. During the first hour,
        return the counts.
        """
        now = self.at(at_s)
        hours = now._hours(at_s)
        return {view: own.panes / hours for view, own in sorted(now.asked.items())}

    def questions_an_hour(self, *, at_s: float) -> dict[View, float]:
        """Return for each view the average number of questions in an hour. During the first hour, return the counts."""
        now = self.at(at_s)
        hours = now._hours(at_s)
        return {view: own.questions / hours for view, own in sorted(now.asked.items())}

    def _hours(self, at_s: float) -> float:
        """Return the observed time in hours up to ``at_s``, a time on the present day; at least one hour."""
        return max(1.0, (self.observed_s + at_s - self.halved_at_s) / _HOUR_S)

    def plain(self) -> dict[str, Any]:
        """Return the demand as a JSON object that :meth:`parse` accepts."""
        return {
            "halved_at_s": self.halved_at_s,
            "observed_s": self.observed_s,
            "asked": [
                [list(view.cuboid), view.panes, own.questions, own.panes] for view, own in sorted(self.asked.items())
            ],
        }

    @staticmethod
    def parse(plain: Mapping[str, Any], lattice: Lattice) -> Demand:
        """Return the demand in a JSON object. Views that are not in the lattice are dropped, because another definition
        had them. Raise CubeError if the object has another form.
        """
        try:
            rows = [
                (View(tuple(map(int, cuboid)), int(panes)), Frequency(_count(questions), _count(read)))
                for cuboid, panes, questions, read in plain["asked"]
            ]
            halved_at_s, observed_s = _count(plain["halved_at_s"]), _count(plain["observed_s"])
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            remedy = f"has another form ({type(error).__name__}: {error}): remove it, and it is counted anew"
            raise CubeError("demand", None, remedy) from None
        rows = [(view, own) for view, own in rows if lattice.has(view)][:VIEWS_MOST]
        return Demand(halved_at_s, observed_s, MappingProxyType(dict(rows)))


def _count(value: Any) -> float:
    """Return a finite number that is not negative. Raise ValueError for any other value."""
    number = float(value)
    if not isfinite(number) or number < 0:
        raise ValueError(f"{value} is no count")
    return number
