"""The rule that decides when the monitor searches for another sequence of a block (section 5.2 of the paper). It needs
only counts of tuples and of evaluated constructs.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from monitor.errors import MonitorError


class Trigger(enum.Enum):
    """A reason for a rearrangement, which is the search for another sequence of a block."""

    DROPPING_RATIO = "dropping ratio"
    COST = "cost"
    UNMEASURED = "unmeasured"
    """The reason for a block whose current sequence was never measured, so that a check has no initial figures with
    which it can compare the current figures.
    """


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The thresholds that decide when a block's sequence is checked, and when another sequence is searched (a
    rearrangement).

    ``recompute_tuples``: lambda, the number of tuples between two checks. ``rearrangement``: mu, the relative change of
    a figure that causes a rearrangement; with 0, every check causes one. ``dropping_trigger`` and ``cost_trigger``:
    whether a check compares the dropping ratio, and the cost, with their initial values. If both are False, there is
    never a rearrangement. Raise MonitorError if lambda is below 1 or mu is not a number >= 0.
    """

    recompute_tuples: int
    rearrangement: float
    dropping_trigger: bool = True
    cost_trigger: bool = True

    def __post_init__(self) -> None:
        if self.recompute_tuples < 1:
            raise MonitorError("re-computation period lambda", self.recompute_tuples, "at least 1 tuple")
        if not (math.isfinite(self.rearrangement) and self.rearrangement >= 0):
            raise MonitorError("rearrangement threshold mu", self.rearrangement, "a number that is not negative")


@dataclass(frozen=True, slots=True)
class Figures:
    """The effect of a sequence on some tuples: the share of dropped tuples, and the mean number of constructs evaluated
    per tuple.
    """

    dropping_ratio: float
    cost: float


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of a rearrangement: the reason ``trigger``, and the figures that were compared. ``now``: the figures of
    the current sequence on the last ``tuples`` tuples.

    ``before``: the initial figures of the sequence; None if the sequence was never measured.
    """

    trigger: Trigger
    tuples: int
    before: Figures | None
    now: Figures


class Adaptation:
    """The state of one block's sequence between two checks.

    The state has the initial figures of the current sequence (the dropping ratio, d_init in the paper, and the cost),
    and the counts of tuples since the last check. A check takes place as soon as at least lambda tuples are counted. It
    uses all counted tuples, which may be more than lambda, because a batch is not divided. After a check, the counts
    start again from 0. The attribute ``thresholds`` may be replaced at any time; the new thresholds apply from the next
    call of :meth:`count` on. Cost: six numbers.

    >>> state = Adaptation(Thresholds(recompute_tuples=100, rearrangement=0.5))
    >>> state.put_in_place(Figures(dropping_ratio=0.4, cost=3.0))
    >>> state.count(tuples=60, dropped=30, evaluated=180)
    >>> cause = state.count(tuples=60, dropped=54, evaluated=180)
    >>> cause.trigger.value, cause.tuples, cause.now
    ('dropping ratio', 120, Figures(dropping_ratio=0.7, cost=3.0))
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self.thresholds = thresholds
        self._before: Figures | None = None
        self._begin()

    @property
    def before(self) -> Figures | None:
        """The initial figures of the current sequence; None if the sequence was never measured."""
        return self._before

    def put_in_place(self, figures: Figures | None) -> None:
        """Set the initial figures of a sequence that has become the current one, and start the counts again from 0.
        ``figures``: the figures of the sequence on the sample from which it was found.

        The caller ensures that the figures are counted in the same way as the arguments of :meth:`count`. With None,
        the next check causes a rearrangement.
        """
        self._before = figures
        self._begin()

    def count(self, tuples: int, dropped: int, evaluated: int) -> Cause | None:
        """Add the counts of a batch: its tuples, the dropped tuples, and the constructs evaluated. Return the cause if
        a rearrangement is now due, otherwise None.

        Raise MonitorError if the counts are impossible.
        """
        if not 0 <= dropped <= tuples or evaluated < 0:
            raise MonitorError(
                "counts of a batch", (tuples, dropped, evaluated), "0 <= dropped <= tuples, evaluated >= 0"
            )
        self._tuples += tuples
        self._dropped += dropped
        self._evaluated += evaluated
        if self._tuples < self.thresholds.recompute_tuples:
            return None
        counted = self._tuples
        now = Figures(self._dropped / counted, self._evaluated / counted)
        self._begin()
        trigger = self._fired(now)
        return None if trigger is None else Cause(trigger, counted, self._before, now)

    def _fired(self, now: Figures) -> Trigger | None:
        """Compare the figures of the current sequence with its initial figures. Return the reason for a rearrangement,
        or None if there is none. The dropping ratio is checked first, and the cost after it.
        """
        thresholds, before = self.thresholds, self._before
        if not (thresholds.dropping_trigger or thresholds.cost_trigger):
            return None
        if before is None:
            return Trigger.UNMEASURED
        mu = thresholds.rearrangement
        if thresholds.dropping_trigger and has_changed(before.dropping_ratio, now.dropping_ratio, mu):
            return Trigger.DROPPING_RATIO
        if thresholds.cost_trigger and has_changed(before.cost, now.cost, mu):
            return Trigger.COST
        return None

    def _begin(self) -> None:
        self._tuples = self._dropped = self._evaluated = 0


def has_changed(initial: float, current: float, threshold: float) -> bool:
    """Return True if a figure has changed by at least the share ``threshold`` of its initial value (equation 5 of the
    paper).

    If the initial value is 0, any increase is such a change. A threshold of 0 is always reached, even without a change.

    >>> has_changed(0.5, 0.75, 0.5), has_changed(0.5, 0.4, 0.5), has_changed(0.0, 0.1, 9.0), has_changed(0.0, 0.0, 0.0)
    (True, False, True, True)
    """
    if threshold == 0:
        return True
    if initial == 0:
        return current > 0
    return abs(current - initial) / initial >= threshold
