"""The layout of a graph in layers, from the top down, by the method of Sugiyama, Tagawa and Toda (1981)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tools.pictures.graph import Edge, Graph

BOX_WIDTH, BOX_HEIGHT = 92, 28
_BEND_WIDTH = 8
_GAP = 14
_LAYER_HEIGHT = 64
_SWEEPS = 24

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a picture. ``boxes``: the centre of each box, by name. ``bends``: the bends of each edge between
    its two boxes. ``width`` and ``height``: the size of the picture.
    """

    boxes: Mapping[str, Point]
    bends: Mapping[Edge, Sequence[Point]]
    width: float
    height: float


def layout_of(graph: Graph) -> Layout:
    """Return a layout of a graph in which every edge leads down.

    An edge over several layers has a bend in each layer that it crosses, so that it passes between boxes.
    """
    levels = graph.levels()
    top = max(levels.values(), default=0)
    layers: list[list[str]] = [[] for _ in range(top + 1)]
    for name in graph.names:
        layers[top - levels[name]].append(name)
    paths: dict[Edge, list[str]] = {}
    for a, b in sorted(graph.edges):
        first, last = top - levels[a], top - levels[b]
        bends = [f"{a}>{b}:{layer}" for layer in range(first + 1, last)]
        for layer, bend in enumerate(bends, first + 1):
            layers[layer].append(bend)
        paths[a, b] = [a, *bends, b]
    links = [link for path in paths.values() for link in pairwise(path)]
    layers = _ordered(layers, links)
    columns = _columns(layers, links, frozenset(graph.names))
    heights = {name: BOX_HEIGHT / 2 + place * _LAYER_HEIGHT for place, layer in enumerate(layers) for name in layer}
    least = min(columns.values(), default=0.0) - BOX_WIDTH / 2
    points = {name: (x - least, heights[name]) for name, x in columns.items()}
    return Layout(
        {name: points[name] for name in graph.names},
        {edge: [points[bend] for bend in path[1:-1]] for edge, path in paths.items()},
        max((x for x, _ in points.values()), default=0.0) + BOX_WIDTH / 2,
        top * _LAYER_HEIGHT + BOX_HEIGHT,
    )


def _ordered(layers: list[list[str]], links: Sequence[Edge]) -> list[list[str]]:
    """Return the layers, each in an order in which few links cross."""
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for a, b in links:
        above.setdefault(b, []).append(a)
        below.setdefault(a, []).append(b)
    best, fewest = layers, _crossings(layers, links)
    for sweep in range(_SWEEPS):
        neighbours = below if sweep % 2 else above
        ordered = [list(layer) for layer in layers]
        places = {name: place for layer in ordered for place, name in enumerate(layer)}
        for layer in reversed(ordered) if sweep % 2 else ordered:
            means = {name: _mean([places[other] for other in neighbours.get(name, [name])]) for name in layer}
            layer.sort(key=lambda name: (means[name], name))
            places.update({name: place for place, name in enumerate(layer)})
        layers, crossings = ordered, _crossings(ordered, links)
        if crossings < fewest:
            best, fewest = ordered, crossings
    return best


def _crossings(layers: Sequence[Sequence[str]], links: Sequence[Edge]) -> int:
    places = {name: (number, place) for number, layer in enumerate(layers) for place, name in enumerate(layer)}
    ends = sorted((places[a][0], places[a][1], places[b][1]) for a, b in links)
    return sum(
        one[0] == other[0] and (one[1] - other[1]) * (one[2] - other[2]) < 0
        for place, one in enumerate(ends)
        for other in ends[place + 1 :]
    )


def _columns(layers: Sequence[Sequence[str]], links: Sequence[Edge], boxes: frozenset[str]) -> dict[str, float]:
    """Return the horizontal centre of the box of each name. It is near the boxes to which the name is linked. Boxes of
    a layer keep their order and do not overlap.
    """
    neighbours: dict[str, list[str]] = {}
    for a, b in links:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    half = {name: (BOX_WIDTH if name in boxes else _BEND_WIDTH) / 2 for layer in layers for name in layer}
    middles: dict[str, float] = {}
    for layer in layers:
        middles.update(_spread(layer, [0.0] * len(layer), half))
    for _ in range(_SWEEPS):
        for layer in layers:
            wanted = [_mean([middles[other] for other in neighbours.get(name, [name])]) for name in layer]
            middles.update(_spread(layer, wanted, half))
    return middles


def _spread(layer: Sequence[str], wanted: Sequence[float], half: Mapping[str, float]) -> dict[str, float]:
    """Return positions for the names of a layer, in its order and without overlap, each near the wanted position. A
    position is the mean of two: one from shifting boxes right, one from shifting them left.
    """

    def distance(place: int) -> float:
        return half[layer[place - 1]] + half[layer[place]] + _GAP

    right, left = list(wanted), list(wanted)
    for place in range(1, len(layer)):
        right[place] = max(right[place], right[place - 1] + distance(place))
    for place in range(len(layer) - 1, 0, -1):
        left[place - 1] = min(left[place - 1], left[place] - distance(place))
    return {name: (one + other) / 2 for name, one, other in zip(layer, right, left, strict=True)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
