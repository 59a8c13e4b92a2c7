"""Texts of the regions of a p-attribute, for display."""

from __future__ import annotations

from asc.keys.constraint import Constraint
from asc.plan.plan import Plan
from asc.predicate.normal_form.describe import constraint_text

_CHARS = 300


def region_text(plan: Plan, slot: int, region: int) -> str:
    """Return the values of a region, counted from 0, as an SQL condition. The NULL region is ``NULL``. Long texts are
    cut.
    """
    grid = plan.grids[slot]
    if region == grid.null_region:
        return "NULL"
    cuts = plan.cut_count(slot)
    low = plan.cut(slot, region - 1) if region else None
    high = plan.cut(slot, region) if region < cuts else None
    text = constraint_text(plan.p_attributes[slot], Constraint(((low, high),)))
    return text if len(text) <= _CHARS else f"{text[: _CHARS - 1]}…"
