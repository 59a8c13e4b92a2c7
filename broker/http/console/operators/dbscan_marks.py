"""Marks of clusters. A mark is a colour and a shape, which identify a cluster in every window."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from markupsafe import Markup

COLOURS = 6
"""The number of colours; the style sheet defines them for each theme."""

_SHAPES = (
    '<circle cx="{x}" cy="{y}" r="3.2"/>',
    '<path d="M{x} {y}m-3-3h6v6h-6z"/>',
    '<path d="M{x} {y}m0-4l3.9 6.8h-7.8z"/>',
    '<path d="M{x} {y}m0-4.4l4.4 4.4-4.4 4.4-4.4-4.4z"/>',
    '<path d="M{x} {y}m-1.3-4.2h2.6v2.9h2.9v2.6h-2.9v2.9h-2.6v-2.9h-2.9v-2.6h2.9z"/>',
)

MARKS = COLOURS * len(_SHAPES)
"""The number of marks. The numbers of colours and shapes have no common divisor, so two clusters with adjacent labels
differ in both colour and shape.
"""

_SWATCH = 12


@dataclass(frozen=True, slots=True)
class ClusterMark:
    """The mark of a cluster: the number of its colour, and the index of its shape in ``_SHAPES``."""

    colour: int
    shape: int

    @staticmethod
    def of(cluster_id: str) -> ClusterMark:
        """Return the mark of a cluster. It depends only on the id of the cluster.

        So a cluster has the same mark in every window. Clusters that appeared in the same window have different marks,
        if this window has at most MARKS labels.

        >>> ClusterMark.of("1533100800000-2") == ClusterMark.of("1533100800000-3")
        False
        """
        end, _, label = cluster_id.rpartition("-")
        number = int(label) if label.isascii() and label.isdecimal() and len(label) < _DIGITS else 0
        place = (zlib.crc32(end.encode("utf-8", "replace")) + number) % MARKS
        return ClusterMark(place % COLOURS, place % len(_SHAPES))

    @property
    def css(self) -> str:
        """Return the CSS classes of the mark's colour."""
        return f"mark mark-{self.colour}"

    def at(self, x: float, y: float) -> Markup:
        """Return the shape of the mark at a position, as an SVG element."""
        return Markup(_SHAPES[self.shape].format(x=f"{x:.1f}", y=f"{y:.1f}"))

    def swatch(self) -> Markup:
        """Return the mark as a small picture, for a text that also contains the cluster's id."""
        return Markup('<svg class="swatch {}" viewBox="0 0 {} {}" aria-hidden="true">{}</svg>').format(
            self.css, _SWATCH, _SWATCH, self.at(_SWATCH / 2, _SWATCH / 2)
        )


_DIGITS = 18
"""A number of digits that exceeds that of every label. A longer text is no label, and is not parsed."""
