"""The drawing of a DBSCAN query's last window as SVG: a sample of the points, and the bounding boxes and centres of the
clusters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from asc.operators.dbscan.definition import DbscanDefinition
from asc.spatial.shape import EARTH_RADIUS_M
from broker.http.console.operators.dbscan_marks import ClusterMark
from broker.http.console.operators.dbscan_plane import HEIGHT, WIDTH, Axis, Plane, wrapped_longitude
from broker.http.console.operators.dbscan_window import LastWindow, SeenCluster
from broker.http.console.pages import number_text
from broker.pages.markup import text

BOXES_DRAWN = 200
"""The largest number of clusters whose boxes and centres are drawn. The largest clusters are selected."""

_NOISE = -1
_DIGITS = 10
_FEW_PIXELS = 150.0
"""The length in pixels below which the horizontal axis has no label in its middle. For the vertical axis, the bound is
half of this length.
"""

_BAR = (4.0, 300.0)
"""The least and the greatest length in pixels of the scale line, which is as long as eps. A shorter or longer line is
not drawn.
"""


def window_drawing(last: LastWindow, definition: DbscanDefinition, name: str) -> Markup:
    """Return the drawing of a window, with a title, a description and a legend. ``name``: the bounds of the window as
    text.
    """
    is_position = definition.position is not None
    plane = Plane.of(last, is_position=is_position)
    drawn = largest(last.clusters, BOXES_DRAWN)
    parts = [
        *_rules(plane, definition),
        *_boxes(plane, drawn),
        *_points(plane, last),
        *_centres(plane, drawn),
        _eps_bar(plane, definition),
    ]
    return Markup(
        '<figure class="chart wide"><svg viewBox="0 0 {} {}" role="img" aria-labelledby="window-title window-told">'
        '<title id="window-title">{}</title><desc id="window-told">{}</desc>{}</svg>'
        "<figcaption>{}</figcaption></figure>"
    ).format(
        WIDTH,
        HEIGHT,
        text(f"Clusters of the window {name}"),
        text(_description(last)),
        Markup("").join(parts),
        text(_legend(last, plane, definition, len(drawn))),
    )


def largest(clusters: Sequence[SeenCluster], most: int) -> list[SeenCluster]:
    """Return the clusters with the most points, at most ``most`` of them, ordered by label."""
    found = sorted(clusters, key=lambda own: (-own.points, own.label))[:most]
    return sorted(found, key=lambda own: own.label)


def _description(last: LastWindow) -> str:
    """Return the content of the drawing in words, for users who cannot see it. The table beside the drawing describes
    each cluster.
    """
    own = last.window
    counts = f"{own.clusters:,} clusters of {own.core:,} core and {own.border:,} border points, {own.noise:,} noise"
    return f"{counts}; {len(own.sample):,} of {own.points:,} points are drawn. The table lists the clusters."


def _legend(last: LastWindow, plane: Plane, definition: DbscanDefinition, drawn: int) -> str:
    """Return the legend of the drawing: the attributes on the axes, and the meanings of points and boxes. ``drawn``:
    the number of clusters whose boxes are drawn.
    """
    window = last.window
    names = ["longitude", "latitude"] if plane.is_position else list(definition.attributes)
    axes = [f"across {names[0]}, up {names[1]}" if len(names) > 1 else f"across {names[0]}"]
    if len(names) > 2:
        axes.append(f"of {len(names)} attributes the first two")
    if not plane.is_equal:
        axes.append("each with its own scale")
    shown = (
        f"{len(window.sample):,} of {window.points:,} points" if len(window.sample) < window.points else "All points"
    )
    boxes = "" if drawn == len(last.clusters) else f" of the {drawn:,} largest clusters"
    return (
        f"{shown}, {', '.join(axes)}. Grey dots are noise. Boxes{boxes} bound the points of a cluster, "
        "and the label is at its centre."
    )


def _rules(plane: Plane, definition: DbscanDefinition) -> Iterator[Markup]:
    """Yield thin lines across the drawing at the ends and in the middle of both axes, with the values of the axes."""
    rule = Markup('<line class="rule" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>')
    label = Markup('<text class="axis" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>')
    left, right = plane.x.begin, plane.x.begin + plane.x.length
    bottom, top = plane.y.begin, plane.y.begin + plane.y.length
    # On a short axis, the labels at the two ends are outside of the axis, so that they do not overlap.
    ends = ("start", "middle", "end") if plane.x.length >= _FEW_PIXELS else ("end", "start")
    for value, anchor in zip(_ticks(plane.x, len(ends)), ends, strict=False):
        at = plane.x.at(value)
        yield rule.format(at, at, bottom + 4, top)
        shown = wrapped_longitude(value) if plane.is_position else value
        yield label.format(at, bottom + 18, anchor, _axis_text(shown, plane.x))
    if plane.is_position or len(definition.attributes) > 1:
        ticks = _ticks(plane.y, 3 if -plane.y.length >= _FEW_PIXELS / 2 else 2)
        for value in ticks:
            at = plane.y.at(value)
            yield rule.format(left - 4, right, at, at)
            beside = -4 if value == ticks[-1] else 14 if value == ticks[0] else 4
            yield label.format(4, at + beside, "start", _axis_text(value, plane.y))


def _ticks(axis: Axis, count: int) -> Sequence[float]:
    """Return at most ``count`` values of an axis, at which lines across the drawing are drawn. Return one value if all
    values of the axis are equal.
    """
    if axis.low == axis.high:
        return (axis.low,)
    middle = (axis.low / 2 + axis.high / 2,) if count > 2 else ()
    return (axis.low, *middle, axis.high)


def _axis_text(value: float, axis: Axis) -> str:
    """Return a value of an axis as text, with enough digits to distinguish the two ends of the axis.

    >>> _axis_text(5_200_001.25, Axis(5_200_001.25, 5_200_003.5, 0, 1)), _axis_text(0.1, Axis(-1e300, 1e300, 0, 1))
    ('5200001.25', '0.1')
    """
    span = axis.high / 2 - axis.low / 2
    most = max(abs(axis.low), abs(axis.high))
    digits = 3 + (math.ceil(math.log10(most / 2) - math.log10(span)) if span > 0 and most / 2 > 0 else 0)
    return f"{value:.{max(3, min(_DIGITS, digits))}g}"


def _boxes(plane: Plane, clusters: Sequence[SeenCluster]) -> Iterator[Markup]:
    for own in clusters:
        if own.box is not None:
            box = plane.box(*own.box)
            yield Markup(
                '<rect class="box {}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>'
            ).format(ClusterMark.of(own.id).css, box.x, box.y, box.width, box.height, text(_cluster_text(own)))


def _points(plane: Plane, last: LastWindow) -> Iterator[Markup]:
    """Yield the sampled points, as one SVG group for each cluster. The group of noise comes first. If the record of a
    cluster was not read, its group has the label in place of the cluster id.
    """
    ids = {own.label: own for own in last.clusters}
    places: dict[int, list[tuple[float, float]]] = {}
    for values, label in last.window.sample:
        places.setdefault(label, []).append(plane.place(values))
    for label, points in sorted(places.items()):
        cluster = ids.get(label)
        if cluster is None:
            css, title = ("noise", "noise") if label == _NOISE else ("unknown", f"cluster with the label {label}")
            dots = Markup("").join(Markup('<circle cx="{:.1f}" cy="{:.1f}" r="2.2"/>').format(*each) for each in points)
        else:
            mark = ClusterMark.of(cluster.id)
            css, title = mark.css, _cluster_text(cluster)
            dots = Markup("").join(mark.at(*each) for each in points)
        yield Markup('<g class="{}"><title>{}</title>{}</g>').format(css, text(title), dots)


def _centres(plane: Plane, clusters: Sequence[SeenCluster]) -> Iterator[Markup]:
    for own in clusters:
        if own.center is not None:
            x, y = plane.place(own.center)
            yield Markup('<text class="label" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>').format(
                x, y + 4, own.label
            )


def _eps_bar(plane: Plane, definition: DbscanDefinition) -> Markup:
    """Return a scale line as long as the radius eps. Return an empty text if the axes have different scales, or if the
    line would be too short or too long.
    """
    eps = definition.eps
    pixels = math.degrees(eps / EARTH_RADIUS_M) * plane.y.unit if plane.is_position else eps * plane.x.unit
    if not plane.is_equal or not _BAR[0] <= pixels <= _BAR[1]:
        return Markup("")
    y = HEIGHT - 6
    unit = " m" if plane.is_position else ""
    return Markup(
        '<line class="line scale" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>'
        '<text class="axis" x="{:.1f}" y="{}" text-anchor="end">eps {}{}</text>'
    ).format(WIDTH - 16 - pixels, WIDTH - 16.0, y, y, WIDTH - 22 - pixels, y + 2, number_text(eps), unit)


def _cluster_text(own: SeenCluster) -> str:
    return f"{own.id}: {own.points:,} points, {own.core:,} core"
