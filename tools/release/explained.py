"""``python -m tools.release.explained``: draw the pictures of docs/how-it-works.md from the examples on that page.

The pictures show the engine's result for the examples: regions, bitmaps, and the path of a tuple.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from bitarray import bitarray
from markupsafe import Markup

from asc.evaluation.trace_walk import traced
from asc.frozen import frozen_int32
from asc.plan.compiler import compile_plan
from asc.plan.construct import Construct
from asc.plan.order import Order
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.pages.markup import element

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-it-works.md"
IMAGES = ROOT / "docs" / "images"
SCHEMA = Schema.from_ddl("A1 INT, A2 INT, A3 INT, A4 INT")

_STYLE = """
text{font:13px system-ui,sans-serif;fill:#1b1f24}.soft{fill:#4d5660}.cell{fill:#f3f5f7;stroke:#c6ccd3}
.here{fill:#ffe2c7;stroke:#b34700}.on{fill:#1f5fa8}.off{fill:none;stroke:#8a939c}
@media (prefers-color-scheme:dark){text{fill:#e8ebee}.soft{fill:#b1bac3}.cell{fill:#1f242a;stroke:#474f58}
.here{fill:#4a2d12;stroke:#ffa657}.on{fill:#7db4f0}.off{stroke:#7a838c}}
"""
_CELL, _ROW, _LEFT = 96, 62, 60


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pictures, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.release.explained", description="Pictures of docs/how-it-works.md."
    )
    parser.add_argument("--out", type=Path, default=IMAGES, help="folder of the pictures (default: docs/images)")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in pictures(PAGE.read_text("utf-8")).items():
        (options.out / name).write_text(text, encoding="utf-8")
    return 0


def pictures(page: str) -> dict[str, str]:
    """Return the pictures by file name. They are made from the rows ``| q1 | `predicate` |`` and ``| t1 | value | value
    ... |`` in the page's tables.
    """
    predicates = dict(re.findall(r"^\| (q\d+) \| `([^`]*)` \|", page, re.MULTILINE))
    rows = re.findall(r"^\| (t\d+) \|((?: -?\d+ \|){4})", page, re.MULTILINE)
    tuples = {name: [int(text) for text in values.strip(" |").split("|")] for name, values in rows}
    plan = compile_plan([Query(name, normalise(where, SCHEMA)) for name, where in predicates.items()])
    # Evaluate the constructs by name, as the page does, although another order may cost less.
    by_name = Order(frozen_int32(np.arange(len(plan.constructs(0)))), plan.blocks[0].order.arrows[:0])
    plan = plan.with_orders({0: by_name})
    found = {"constructs.svg": _constructs(plan)}
    for name, values in tuples.items():
        found[f"way-{name}.svg"] = _path_picture(plan, name, dict(zip(("A1", "A2", "A3", "A4"), values, strict=True)))
    return found


def _constructs(plan: Plan) -> str:
    constructs = plan.constructs(0)
    drawn = [piece for row, one in enumerate(constructs) for piece in _construct(plan, one, row, None)]
    columns = max(len(one.ra) for one in constructs) + 1
    said = "; ".join(f"{one.attribute}: {len(one.ra)} regions and NULL's" for one in constructs)
    return _image(_LEFT + columns * _CELL + 10, len(constructs) * _ROW + 8, said, drawn)


def _construct(plan: Plan, construct: Construct, row: int, here: int | None) -> list[Markup]:
    """Return the SVG elements of a construct, drawn as a strip of regions. Each region has a filled square for each
    query that it does not exclude, and an empty square for each other query. The square of q1 is on the left.
    """
    top = row * _ROW + 6
    drawn = [element("text", {"x": 8, "y": top + 30}, str(construct.attribute))]
    for region, text in enumerate(_regions(construct)):
        left = _LEFT + region * _CELL
        cell = {"x": left, "y": top, "width": _CELL - 6, "height": _ROW - 12, "rx": 4}
        drawn.append(element("rect", {**cell, "class": "here" if region == here else "cell"}))
        drawn.append(element("text", {"x": left + 8, "y": top + 19}, text))
        drawn += _squares(plan, construct.ra.qrb(region), left + 8, top + 28)
    return drawn


def _regions(construct: Construct) -> list[str]:
    """Return a text about the values of each region: the constants, the ranges around and between them, and NULL as the
    last region.
    """
    constants = construct.constants
    found = [f"< {constants[0]}"]
    for place, constant in enumerate(constants):
        found.append(f"= {constant}")
        more = constants[place + 1] if place + 1 < len(constants) else None
        found.append(f"> {constant}" if more is None else f"{constant} to {more}")
    return [*found, "NULL"]


def _path_picture(plan: Plan, name: str, values: Mapping[str, int]) -> str:
    """Return a picture of the regions that a tuple's values visit along the sequence, with the GRB after each
    region.
    """
    in_order = [pa.scalar(values[str(attribute)], pa.int32()) for attribute in plan.p_attributes]
    (block,) = traced(plan, in_order).blocks_shown
    constructs = {str(one.attribute): one for one in plan.constructs(0)}
    drawn: list[Markup] = []
    left = bitarray(len(_names(plan)), endian="little")
    left.setall(1)
    said = []
    columns = max(len(one.ra) for one in constructs.values()) + 1
    aside = _LEFT + columns * _CELL + 10
    for row, visit in enumerate(block.visits):
        construct = constructs[visit.attribute]
        region = construct.region_of(values[visit.attribute])
        left &= construct.ra.qrb(region)[: len(left)]
        drawn += _construct(plan, construct, row, region)
        top = row * _ROW + 6
        text = f"{visit.attribute} = {values[visit.attribute]}"
        drawn.append(element("text", {"x": aside, "y": top + 19}, f"{text}: GRB"))
        drawn += _squares(plan, left, aside, top + 28)
        said.append(f"after {text}: {_written(plan, left)}")
    end = len(block.visits) * _ROW + 22
    accepted = [query for bit, query in sorted(_names(plan).items()) if left[bit]]
    outcome = (
        f"{name} is accepted by {', '.join(sorted(accepted))}" if accepted else f"{name} is dropped: nothing is left"
    )
    drawn.append(element("text", {"x": 8, "y": end, "class": "soft"}, outcome))
    return _image(aside + 130, end + 12, f"{'; '.join(said)}. {outcome}", drawn)


def _names(plan: Plan) -> dict[int, str]:
    """Return the name of the query of each bit."""
    ids = plan.query_ids.to_pylist()
    owners = enumerate(plan.blocks[0].table.owner.tolist())
    # The last word of the bitmap has bits that belong to no conjunct; their owner is negative.
    return {bit: ids[plan.ranks[owner]] for bit, owner in owners if owner >= 0}


def _squares(plan: Plan, bits: bitarray, left: float, top: float) -> list[Markup]:
    by_query = sorted((query, bits[bit]) for bit, query in _names(plan).items())
    return [
        element(
            "rect",
            {"x": left + 18 * place, "y": top, "width": 13, "height": 13, "class": "on" if bit else "off"},
        )
        for place, (_, bit) in enumerate(by_query)
    ]


def _written(plan: Plan, bits: bitarray) -> str:
    """Return a bitmap as text, q1 on the left."""
    return "".join(str(bits[bit]) for _, bit in sorted((query, bit) for bit, query in _names(plan).items()))


def _image(width: float, height: float, label: str, drawn: Sequence[Markup]) -> str:
    shape = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {width} {height}",
        "width": width,
        "height": height,
    }
    style = element("style", None, Markup(_STYLE.strip()))
    return str(element("svg", {**shape, "role": "img", "aria-label": label}, style, *drawn)) + "\n"


if __name__ == "__main__":
    sys.exit(main())
