"""The stored panes of a cube over time, for a page: from when to when the cube keeps panes of which length and levels.
They are shown as a table and as a drawing with a time axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from asc.operators.cube.json_values import instant_text
from asc.operators.cube.view import grain_text
from broker.http.console.operators.cube_lattice import cuboid_text
from broker.http.console.pages import counted_text
from broker.operators.cube.batch_time import first_open
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.region import Region, first_kept, kept_regions
from broker.operators.cube.snapshot import Snapshot
from broker.pages.markup import text

_WIDTH, _LEFT, _RIGHT = 600, 8, 8
_TOP, _ROW, _BAR, _BOTTOM = 36, 34, 12, 24
_NAME_CHARS = 50

Interval = tuple[int, int]
"""An interval in microseconds since 1970: its beginning, and its exclusive end."""


@dataclass(frozen=True, slots=True)
class KeptSpan:
    """An interval of event time whose panes are kept with the same levels and length. ``name``: the levels and the
    length as text. ``is_base``: whether they are those of the base view. ``interval``: the interval; None if it has no
    panes yet. ``panes``, ``cells``: the numbers of its closed panes and of their cells.
    """

    name: str
    cuboid: str
    grain: str
    is_base: bool
    interval: Interval | None
    panes: int
    cells: int


@dataclass(frozen=True, slots=True)
class ShownPast:
    """The intervals of a cube's kept panes, the finest and newest first.

    ``open``: the interval of the open panes. ``first_us``: the beginning of the first kept pane. ``deleted_to_us``: the
    time before which panes were deleted for their age; None if none was deleted. ``end_us``: the end of the newest
    pane. ``watermark_us``: the watermark of the cube. ``gaps``: the intervals in which records may be missing, with
    None for no bound. All times are in microseconds since 1970, and None if there is no pane.
    """

    spans: tuple[KeptSpan, ...]
    open: Interval | None
    open_panes: int
    first_us: int | None
    deleted_to_us: int | None
    end_us: int | None
    watermark_us: int | None
    gaps: tuple[tuple[int | None, int | None], ...]


def shown_past(snapshot: Snapshot, state: CubeState) -> ShownPast:
    """Return the intervals of a cube's kept panes. Cost: proportional to the numbers of bands, open panes and gaps."""
    grain_us = state.grain_us
    open_from = first_open(snapshot.marks.get(state.time), snapshot.lateness_us, grain_us)
    regions = kept_regions(state, open_from)
    first = first_kept(state)
    ends = [pane + 1 for pane in state.panes.open] + ([] if open_from is None else [open_from])
    opened = (min(state.panes.open), max(state.panes.open) + 1) if state.panes.open else None
    return ShownPast(
        spans=tuple(_span(state, region, first, open_from) for region in reversed(regions)),
        open=None if opened is None else (opened[0] * grain_us, opened[1] * grain_us),
        open_panes=len(state.panes.open),
        first_us=None if first is None else first * grain_us,
        deleted_to_us=None if state.kept_from is None else state.kept_from * grain_us,
        end_us=max(ends) * grain_us if ends and first is not None else None,
        watermark_us=snapshot.watermark_us(state),
        gaps=tuple((gap.first_us, gap.end_us) for gap in snapshot.all_gaps(state)),
    )


def _span(state: CubeState, region: Region, oldest: int | None, open_from: int | None) -> KeptSpan:
    dimensions, grain_us = state.definition.dimensions, state.grain_us
    cuboid = cuboid_text(dimensions, region.view.cuboid)
    grain = grain_text(region.view.panes * grain_us // 1_000_000)
    first = max((own for own in (region.first, oldest) if own is not None), default=None)
    end = region.end if region.end is not None else open_from
    has_panes = first is not None and end is not None and first < end
    return KeptSpan(
        f"{cuboid} at {grain}",
        cuboid,
        grain,
        is_base=region.view.panes == 1 and region.view.cuboid == dimensions.base,
        interval=(first * grain_us, end * grain_us) if has_panes and first is not None and end is not None else None,
        panes=len(region.closed),
        cells=region.cells(first, end) if has_panes and first is not None and end is not None else 0,
    )


def past_drawing(past: ShownPast, name: str) -> Markup | None:
    """Return a drawing of the kept panes: a bar for each interval of panes with the same levels and length. Return None
    if there is no pane. ``name``: the name of the cube.
    """
    if past.first_us is None or past.end_us is None or past.first_us >= past.end_us:
        return None
    axis = _Axis(past.first_us, max(past.end_us, past.watermark_us or past.end_us))
    height = _TOP + _ROW * len(past.spans) + _BOTTOM
    bottom = height - _BOTTOM
    parts = [
        *_gaps(axis, past, bottom),
        *_bars(axis, past),
        *_marks(axis, past, bottom),
        *_times(axis, height),
    ]
    said = (
        f"From {short_time(axis.first_us)} to {short_time(axis.end_us)}: "
        f"{counted_text(len(past.spans), 'length')} of panes, {counted_text(past.open_panes, 'open pane')}, "
        f"{counted_text(len(past.gaps), 'gap')}. The table has the same content."
    )
    return Markup(
        '<figure class="chart wide past"><svg viewBox="0 0 {} {}" role="img" aria-labelledby="past-title past-told">'
        '<title id="past-title">{}</title><desc id="past-told">{}</desc>{}</svg><figcaption>{}</figcaption></figure>'
    ).format(
        _WIDTH,
        height,
        text(f"What is kept of {name}, on a line of time"),
        text(said),
        Markup("").join(parts),
        text(
            "A bar is as long as the time whose panes are kept so. A hollow bar has the open panes. Records may be "
            "missing in shaded times."
        ),
    )


@dataclass(frozen=True, slots=True)
class _Axis:
    """The time axis of the drawing, from the first kept pane to the newest pane or the watermark."""

    first_us: int
    end_us: int

    def x(self, at_us: int) -> float:
        """Return the x coordinate of a time. A time before or after the axis has the coordinate of the nearer end."""
        share = (at_us - self.first_us) / (self.end_us - self.first_us)
        return _LEFT + min(1.0, max(0.0, share)) * (_WIDTH - _LEFT - _RIGHT)

    def bar(self, css: str, interval: Interval, y: float, height: float, said: str) -> Markup:
        """Return an interval as a bar. A bar is at least two units wide, so that a short interval is visible. ``css``:
        the CSS class. ``said``: the tooltip.
        """
        x, end = self.x(interval[0]), self.x(interval[1])
        width = max(2.0, end - x)
        return Markup('<rect class="{}" x="{:.1f}" y="{}" width="{:.1f}" height="{}"><title>{}</title></rect>').format(
            css, min(x, _WIDTH - _RIGHT - width), y, width, height, text(said)
        )


def _bars(axis: _Axis, past: ShownPast) -> Iterator[Markup]:
    for row, span in enumerate(past.spans):
        y = _TOP + _ROW * row
        shown = span.name if len(span.name) <= _NAME_CHARS else f"{span.name[: _NAME_CHARS - 3]}..."
        yield Markup('<text class="axis" x="{}" y="{}">{}<title>{}</title></text>').format(
            _LEFT, y + 12, text(shown), text(span.name[:2_000])
        )
        if span.interval is not None:
            css = "stored base" if span.is_base else "stored band"
            yield axis.bar(css, span.interval, y + 16, _BAR, f"{span.name}, {_from_to(span.interval)}")
        if span.is_base and past.open is not None:
            said = f"{counted_text(past.open_panes, 'open pane')}, {_from_to(past.open)}"
            yield axis.bar("opened", past.open, y + 16, _BAR, said)


def _gaps(axis: _Axis, past: ShownPast, bottom: int) -> Iterator[Markup]:
    for first_us, end_us in past.gaps:
        first = axis.first_us if first_us is None else max(first_us, axis.first_us)
        end = axis.end_us if end_us is None else min(end_us, axis.end_us)
        if first < end:
            yield axis.bar("missing", (first, end), _TOP, bottom - _TOP, f"gap, {_from_to((first, end))}")


def _marks(axis: _Axis, past: ShownPast, bottom: int) -> Iterator[Markup]:
    """Yield labelled vertical lines at the beginning of the first kept pane and at the watermark."""
    marks = [(axis.first_us, "first kept pane")]
    if past.watermark_us is not None:
        marks.append((past.watermark_us, "watermark"))
    for row, (at_us, said) in enumerate(marks):
        x, y = axis.x(at_us), 12 + 14 * row
        anchor = "start" if x < _WIDTH / 2 else "end"
        yield Markup('<line class="moment" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>').format(x, x, y + 3, bottom)
        yield Markup('<text class="axis" x="{:.1f}" y="{}" text-anchor="{}">{}<title>{}</title></text>').format(
            x, y, anchor, said, text(f"{said}: {short_time(at_us)}")
        )


def _times(axis: _Axis, height: int) -> Iterator[Markup]:
    middle_us = axis.first_us + (axis.end_us - axis.first_us) // 2
    labels: Sequence[tuple[int, str]] = ((axis.first_us, "start"), (middle_us, "middle"), (axis.end_us, "end"))
    for at_us, anchor in labels:
        yield Markup('<text class="axis" x="{:.1f}" y="{}" text-anchor="{}">{}</text>').format(
            axis.x(at_us), height - 6, anchor, short_time(at_us // 60_000_000 * 60_000_000)
        )


def _from_to(interval: Interval) -> str:
    return f"from {short_time(interval[0])} to {short_time(interval[1])}"


def short_time(time_us: int) -> str:
    """Return a time in UTC as text, without seconds if they are 0. ``time_us``: microseconds since 1970.

    >>> short_time(1_373_414_400_000_000), short_time(1_373_414_401_000_000)
    ('2013-07-10 00:00', '2013-07-10 00:00:01')
    """
    return instant_text(time_us).removesuffix("Z").replace("T", " ").removesuffix(":00")
