"""Rearrangements of sequences as events, each with its trigger and its result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

_SHOWN = 5
"""The number of p-attributes of a sequence that a log line names."""


@dataclass(frozen=True, slots=True)
class Rearrangement:
    """The result of a search for another sequence of a block: a new sequence, or the decision to keep the current one.

    ``trigger`` fired over ``tuples`` tuples. The dropping ratio changed from ``dropping_ratio_before`` (when the old
    sequence was put in place; None at the first time) to ``dropping_ratio_now``. ``cost_before`` and ``cost_after``:
    evaluated constructs per tuple with the old and the new sequence, on the same sample of ``sample_tuples``. Sequences
    are p-attributes as SQL.

    ``kind``: macro or hybrid, whichever took less time per tuple (``macro_us``, ``hybrid_us``; None: no micro-arrow was
    found). ``kind`` is ``kept`` if the old sequence took the least time (``kept_us``); the new sequence then equals the
    old one. ``spent_s``: the time of the monitor for the search.
    """

    at: datetime
    stream: str
    version: int
    block: int
    trigger: str
    tuples: int
    sample_tuples: int
    dropping_ratio_before: float | None
    dropping_ratio_now: float
    cost_before: float
    cost_after: float
    old_sequence: tuple[str, ...]
    old_micro_arrows: int
    new_sequence: tuple[str, ...]
    new_micro_arrows: int
    kind: str
    kept_us: float
    macro_us: float
    hybrid_us: float | None
    spent_s: float

    def plain(self) -> dict[str, Any]:
        """Return the event as plain values, ready for JSON."""
        values = asdict(self)
        values["at"] = self.at.isoformat(timespec="milliseconds")
        values["reason"] = self.reason
        return values

    @property
    def reason(self) -> str:
        """Return the measured times by which the kind was chosen."""
        hybrid = "no micro-arrow is better" if self.hybrid_us is None else f"hybrid {self.hybrid_us:.3f}"
        return f"{self.kind}: before {self.kept_us:.3f}, macro {self.macro_us:.3f} us a tuple, {hybrid}"

    def __str__(self) -> str:
        before = "-" if self.dropping_ratio_before is None else f"{self.dropping_ratio_before:.3f}"
        done = "keeps its sequence" if self.kind == "kept" else "rearranged"
        old, new = self.old_sequence[:_SHOWN], self.new_sequence[:_SHOWN]
        return (
            f"stream '{self.stream}' block {self.block} {done} ({self.trigger}): "
            f"dropping ratio {before} -> {self.dropping_ratio_now:.3f}, "
            f"cost {self.cost_before:.2f} -> {self.cost_after:.2f} constructs a tuple, "
            f"{_listed(old, self.old_sequence)} -> {_listed(new, self.new_sequence)} "
            f"with {self.new_micro_arrows} micro-arrows, {self.reason}, in {self.spent_s:.3f} s"
        )


def _listed(shown: tuple[str, ...], whole: tuple[str, ...]) -> str:
    return ", ".join(shown) + (", ..." if len(whole) > len(shown) else "")
