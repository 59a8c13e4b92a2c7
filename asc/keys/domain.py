"""Domains: the keys that the values of a type can have, and constraints restricted to a domain."""

from __future__ import annotations

from typing import NamedTuple

from asc.keys.constraint import EMPTY, Constraint, Interval, Key


class Domain(NamedTuple):
    """The least and the greatest key of a type (None: no bound). ``discrete``: whether the keys are all integers
    between the two.
    """

    low: Key | None
    high: Key | None
    discrete: bool


def clipped(constraint: Constraint, domain: Domain) -> Constraint:
    """Return a constraint in a form that admits the same keys of a domain, but is as simple as possible.

    Ends at or beyond the ends of the domain become None, and intervals that hold no key of the domain are removed.

    >>> clipped(Constraint((((5, 1), (6, 0)),)), Domain(-128, 127, discrete=True)).is_empty
    True
    >>> clipped(Constraint(((None, (1000, 0)),)), Domain(-128, 127, discrete=True))
    Constraint(intervals=((None, None),), null=False)
    """
    kept: list[Interval] = []
    changed = False
    least, greatest, discrete = domain
    for interval in constraint.intervals:
        low, high = interval
        if low is not None and least is not None and low <= (least, 0):
            low = None
        if high is not None and greatest is not None and high >= (greatest, 1):
            high = None
        if low is None and high is None:
            return Constraint(((None, None),), constraint.null)
        # The interval is completely below or above the domain.
        if (high is not None and least is not None and high <= (least, 0)) or (
            low is not None and greatest is not None and low >= (greatest, 1)
        ):
            changed = True
            continue
        if discrete:
            # The cut (c, 0) lies just before c, and the cut (c, 1) just before c + 1.
            if low is not None and high is not None and low[0] + low[1] >= high[0] + high[1]:
                changed = True
                continue
            if kept:
                last_low, last_high = kept[-1]
                if last_high is not None and low is not None and last_high[0] + last_high[1] >= low[0] + low[1]:
                    kept[-1] = (last_low, high)
                    changed = True
                    continue
        if low is not interval[0] or high is not interval[1]:
            changed = True
        kept.append((low, high))
    if not changed:
        return constraint
    if not kept and not constraint.null:
        return EMPTY
    if kept == [(None, None)]:
        return Constraint(((None, None),), constraint.null)
    return Constraint(tuple(kept), constraint.null)
