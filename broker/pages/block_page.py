"""A block of a plan as parts of a page: its constructs with their regions, and its sequence with the micro-arrows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from broker.pages.bars import region_bar
from broker.pages.markup import element, joined
from broker.pages.words import words

Json = Mapping[str, Any]

_ROW = 30
_NODE_WIDTH, _NODE_HEIGHT = 250, 22
_NAME_CHARS = 28
_ARC = 9.0
"""The width of the arc of a micro-arrow, in units of the drawing, for each step of the sequence that the arc spans."""

_ARC_MOST = 300.0
_ARROWS_LISTED = 40


def block_fragment(block: Json) -> str:
    """Return the whole block, from the answer of ``GET /v1/plan/{stream}/blocks/{number}``."""
    counts = (
        f"{block['conjuncts']:,} conjuncts, {len(block['constructs'])} constructs, plan of version {block['version']}"
    )
    return element(
        "section",
        {"class": "asc"},
        element("h2", None, f"Block {block['number']} (of {block['blocks']:,}, from 0 on)"),
        element("p", {"class": "soft"}, words(f"Stream {block['stream']}: {counts}.")),
        sequence_fragment(block),
        constructs_fragment(block),
    )


def sequence_fragment(block: Json) -> str:
    """Return the macro-sequence from top to bottom with the micro-arrows as arcs beside it, and both as text."""
    names = {construct["construct"]: construct["attribute"] for construct in block["constructs"]}
    places = {construct: place for place, construct in enumerate(block["sequence"])}
    arcs = Counter((arrow["construct"], arrow["target"]) for arrow in block["micro_arrows"])
    more = block["arrow_count"] - len(block["micro_arrows"])
    said = f"{block['arrow_count']:,} micro-arrows" + (
        f", the first {len(block['micro_arrows']):,} drawn" if more else ""
    )
    reach = max((abs(places[target] - places[own]) for own, target in arcs), default=0)
    width = _NODE_WIDTH + 20 + min(_ARC_MOST, _ARC * reach + 30)
    height = _ROW * len(block["sequence"]) + 4
    label = f"macro-sequence: {', '.join(names[own] for own in block['sequence'])}; {said}"
    drawn = [*_nodes([names[own] for own in block["sequence"]])]
    drawn += [_arc(places[own], places[target], count, names, (own, target)) for (own, target), count in arcs.items()]
    shape = {"viewBox": f"0 0 {width:.0f} {height}", "width": f"{width:.0f}", "height": height}
    return joined(
        element("h3", None, "Sequence"),
        element("p", {"class": "soft"}, f"{said}; a micro-arrow leads on from one region of its construct."),
        element("div", {"class": "wide"}, element("svg", {"role": "img", "aria-label": label, **shape}, *drawn)),
        _arrow_list(arcs, names),
    )


def constructs_fragment(block: Json) -> str:
    """Return the constructs in the order of the sequence, with the monitor's measurements.

    A bar shows the regions of a construct. The height of a region in the bar is the number of conjuncts that the region
    does not rule out.
    """
    measured = {one["construct"]: one for one in (block.get("monitor") or {}).get("constructs", ())}
    own = {construct["construct"]: construct for construct in block["constructs"]}
    rows = [
        _construct(place, own[number], measured.get(number), block["conjuncts"])
        for place, number in enumerate(block["sequence"], 1)
    ]
    heads = (
        *(("Place", "number"), ("Attribute", None), ("Regions", None), ("Constrained", "number")),
        *(("Passes", "number"), ("Dropped after it", "number")),
    )
    caption = (
        "A region is as high as the share of the block's conjuncts that it does not rule out; NULL's is at the end. "
        "Passes: the conditional selectivity; dropped: the share of records of which nothing is left (both as the "
        "monitor measured them when the sequence was found)."
    )
    table = element(
        "table",
        None,
        element("caption", None, caption),
        element(
            "thead", None, element("tr", None, *(element("th", {"scope": "col", "class": k}, n) for n, k in heads))
        ),
        element("tbody", None, *rows),
    )
    return joined(element("h3", None, "Constructs"), element("div", {"class": "wide"}, table))


def _construct(place: int, construct: Json, measured: Json | None, conjuncts: int) -> Markup:
    regions, null = construct["regions"], construct["null"]
    shares = [region["satisfied"] / max(1, conjuncts) for region in (*regions, null)]
    fewest = min(regions, key=lambda region: int(region["satisfied"]))
    summary = f"{fewest['satisfied']:,} of {conjuncts:,} left in {fewest['text']}, {null['satisfied']:,} in NULL"
    kind = "exact" if construct["exact"] else "bounded"
    return element(
        "tr",
        None,
        element("td", {"class": "number", "data-label": "Place"}, place),
        element(
            "td",
            {"data-label": "Attribute"},
            element("code", None, words(construct["attribute"])),
            element(
                "p", {"class": "soft"}, f"{construct['type']}{', computed by Spark' if construct['spark'] else ''}"
            ),
        ),
        element(
            "td",
            {"data-label": "Regions"},
            region_bar(construct["region_count"], None, label=f"{construct['attribute']}: {summary}", shares=shares),
            element("p", {"class": "soft"}, words(f"{construct['region_count']:,} {kind} regions and NULL; {summary}")),
        ),
        element("td", {"class": "number", "data-label": "Constrained"}, f"{construct['constrained']:,}"),
        element("td", {"class": "number", "data-label": "Passes"}, _share(measured, "conditional_selectivity")),
        element("td", {"class": "number", "data-label": "Dropped"}, _share(measured, "dropping_ratio")),
    )


def _share(measured: Json | None, name: str) -> str:
    value = None if measured is None else measured[name]
    return "–" if value is None else f"{100 * value:.1f} %"


def _nodes(names: Sequence[str]) -> list[Markup]:
    drawn = []
    for place, name in enumerate(names):
        top = place * _ROW + 2
        shown = name if len(name) <= _NAME_CHARS else f"{name[: _NAME_CHARS - 1]}…"
        box = {"x": 0, "y": top, "width": _NODE_WIDTH, "height": _NODE_HEIGHT, "rx": 4}
        drawn.append(element("rect", {"class": "node", **box}))
        drawn.append(element("text", {"x": 8, "y": top + 15}, element("title", None, name), f"{place + 1}. {shown}"))
        if place:
            line = {"x1": 16, "x2": 16, "y1": top - _ROW + _NODE_HEIGHT, "y2": top}
            drawn.append(element("line", {"class": "macro", **line}))
            drawn.append(element("path", {"class": "tip", "d": f"M12 {top - 5}L20 {top - 5}L16 {top}Z"}))
    return drawn


def _arc(start: int, end: int, count: int, names: Mapping[int, str], between: tuple[int, int]) -> Markup:
    first, last = (place * _ROW + 2 + _NODE_HEIGHT / 2 for place in (start, end))
    out = _NODE_WIDTH + min(_ARC_MOST, _ARC * abs(end - start) + 18)
    line = f"M{_NODE_WIDTH} {first:.0f}C{out:.0f} {first:.0f} {out:.0f} {last:.0f} {_NODE_WIDTH} {last:.0f}"
    said = f"{names[between[0]]} → {names[between[1]]}: {count} regions"
    drawn = element("path", {"class": "micro", "d": line, "stroke-width": f"{min(5.0, 1 + count / 8):.1f}"})
    tip = element("circle", {"class": "marked", "cx": _NODE_WIDTH, "cy": f"{last:.0f}", "r": 3})
    return element("g", None, element("title", None, said), drawn, tip)


def _arrow_list(arcs: Mapping[tuple[int, int], int], names: Mapping[int, str]) -> Markup | None:
    if not arcs:
        return None
    listed = sorted(arcs.items(), key=lambda arc: (-arc[1], arc[0]))
    items = [
        element(
            "li",
            None,
            element("code", None, words(f"{names[own]} → {names[target]}")),
            f", from {count:,} of its regions",
        )
        for (own, target), count in listed[:_ARROWS_LISTED]
    ]
    if len(listed) > _ARROWS_LISTED:
        items.append(element("li", {"class": "soft"}, f"and {len(listed) - _ARROWS_LISTED:,} more pairs"))
    return element("details", None, element("summary", None, "The micro-arrows as a list"), element("ul", None, *items))
