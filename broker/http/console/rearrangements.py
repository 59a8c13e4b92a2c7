"""A time line of the monitor's rearrangements, as SVG. A rearrangement replaces the sequence of a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from markupsafe import Markup

from broker.http.console.pages import number_text
from broker.time_text import page_date, page_time

_WIDTH, _HEIGHT = 600, 140
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 8, 10, 22
_KINDS = ("macro", "hybrid", "kept")


def time_line(events: Sequence[Mapping[str, Any]], now_s: float) -> Markup:
    """Return a drawing of the monitor's rearrangements, from the first to now. Return an empty text if there are none.

    Each event is a vertical stroke at its time. The stroke goes from the cost before the event to the cost after it,
    where it has a point. The cost is the number of constructs evaluated per record. ``events``: each with its time,
    kind, block and costs; the kind ``kept`` means that the former sequence was kept.
    """
    if not events:
        return Markup("")
    at_s = [datetime.fromisoformat(event["at"].replace("Z", "+00:00")).timestamp() for event in events]
    first_s = min(at_s)
    span_s = max(1.0, now_s - first_s, max(at_s) - first_s)
    most = max((max(event["cost_before"], event["cost_after"]) for event in events), default=0.0) or 1.0
    strokes = Markup("").join(
        _stroke(event, (when_s - first_s) / span_s, most) for event, when_s in zip(events, at_s, strict=True)
    )
    rule = Markup(
        '<line class="rule" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>'
        '<text class="axis" x="{3}" y="{2}" text-anchor="end">{4}</text>'
    )
    rules = Markup("").join(
        rule.format(_LEFT, _WIDTH - _RIGHT, round(_y(share), 1), _LEFT - 6, number_text(most * share))
        for share in (0, 0.5, 1)
    )
    ends = Markup(
        '<text class="axis" x="{}" y="{}">{}</text><text class="axis" x="{}" y="{}" text-anchor="end">now</text>'
    )
    kept = sum(event["kind"] == "kept" for event in events)
    counts = f"rearrangements: {len(events) - kept}, orders that were measured and kept: {kept}"
    label = f"{counts}; since {page_time(first_s * 1000)}, and the list below has each of them"
    legend = Markup("").join(
        Markup('<span class="key key-{}">{}</span> ').format(number, kind) for number, kind in enumerate(_KINDS)
    )
    return Markup(
        '<figure class="chart"><figcaption>Constructs a record, before and after {}</figcaption>'
        '<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}{}</svg></figure>'
    ).format(
        legend,
        _WIDTH,
        _HEIGHT,
        label,
        rules,
        strokes,
        ends.format(_LEFT, _HEIGHT - 4, page_time(first_s * 1000), _WIDTH - _RIGHT, _HEIGHT - 4),
    )


def _stroke(event: Mapping[str, Any], share: float, most: float) -> Markup:
    number = _KINDS.index(event["kind"])
    before, after = (round(_y(event[name] / most), 1) for name in ("cost_before", "cost_after"))
    costs = " to ".join(number_text(event[name]) for name in ("cost_before", "cost_after"))
    said = f"{page_date(event['at'])} block {event['block']}: {costs}"
    return Markup(
        '<g><title>{0}</title><line class="line line-{1}" x1="{2}" x2="{2}" y1="{3}" y2="{4}"/>'
        '<circle class="point point-{1}" cx="{2}" cy="{4}" r="3.5"/></g>'
    ).format(said, number, round(_LEFT + share * (_WIDTH - _RIGHT - _LEFT), 1), before, after)


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _BOTTOM - _TOP)
