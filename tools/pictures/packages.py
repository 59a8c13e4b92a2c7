"""``python -m tools.pictures.packages``: draw the imports between packages to docs/images/packages.svg.

An arrow leads from a package to a package that it imports. An arrow is omitted if a path of other arrows connects the
same two packages.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from pathlib import Path

from tools.pictures.imports import imports_in, subpackages, top_packages
from tools.pictures.layers import BOX_HEIGHT, BOX_WIDTH, Layout, Point, layout_of

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "packages.svg"

_STYLE = """
text{font:13px system-ui,sans-serif;fill:#1b1f24;text-anchor:middle}.title{font-weight:600;text-anchor:start}
rect{fill:#f3f5f7;stroke:#8a939c}path{fill:none;stroke:#1f5fa8;stroke-width:1.3}.tip{fill:#1f5fa8;stroke:none}
@media (prefers-color-scheme:dark){text{fill:#e8ebee}rect{fill:#1f242a;stroke:#7a838c}path{stroke:#7db4f0}
.tip{fill:#7db4f0}}
"""
_MARGIN, _TITLE_HEIGHT, _BETWEEN = 16, 30, 48
_TIP = 5
_SVG = "http://www.w3.org/2000/svg"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the picture, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.pictures.packages", description="Picture of the packages.")
    parser.add_argument("--out", type=Path, default=PICTURE, help="file of the picture (default: in docs/images)")
    options = parser.parse_args(arguments)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(picture(ROOT), encoding="utf-8")
    return 0


def picture(root: Path) -> str:
    """Return a picture as SVG: the imports between the packages of a repository, between the subpackages of ``asc``,
    and between the subpackages of ``broker``.
    """
    imports = imports_in(root)
    whole = layout_of(top_packages(root, imports).reduced())
    engine, broker = (layout_of(subpackages(root, package, imports).reduced()) for package in ("asc", "broker"))
    left = max(whole.width, engine.width)
    below = _MARGIN + _TITLE_HEIGHT + whole.height + _BETWEEN
    beside = _MARGIN + left + _BETWEEN
    width = beside + broker.width + _MARGIN
    height = max(below + _TITLE_HEIGHT + engine.height, _MARGIN + _TITLE_HEIGHT + broker.height) + _MARGIN
    parts = [
        f'<svg xmlns="{_SVG}" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img">',
        "<title>Which package imports which: the repository, asc and broker</title>",
        f"<style>{_STYLE}</style>",
        *_drawn("the repository", whole, _MARGIN, _MARGIN),
        *_drawn("asc/", engine, _MARGIN, below),
        *_drawn("broker/", broker, beside, _MARGIN),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _drawn(title: str, layout: Layout, x: float, y: float) -> list[str]:
    """Return the SVG elements that draw a graph and its title at a position of the picture."""
    parts = [f'<g transform="translate({x:.0f} {y:.0f})">', f'<text class="title" y="14">{escape(title)}</text>']
    parts.append(f'<g transform="translate(0 {_TITLE_HEIGHT})">')
    for (importer, imported), bends in sorted(layout.bends.items()):
        (x1, y1), (x2, y2) = layout.boxes[importer], layout.boxes[imported]
        parts += _arrow([(x1, y1 + BOX_HEIGHT / 2), *bends, (x2, y2 - BOX_HEIGHT / 2)])
    for name, (middle, height) in sorted(layout.boxes.items()):
        corner = f'x="{middle - BOX_WIDTH / 2:.1f}" y="{height - BOX_HEIGHT / 2:.1f}"'
        parts.append(f'<rect {corner} width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5"/>')
        parts.append(f'<text x="{middle:.1f}" y="{height + 4.5:.1f}">{escape(name)}</text>')
    return [*parts, "</g>", "</g>"]


def _arrow(points: Sequence[Point]) -> list[str]:
    *first, (end_x, end_y) = points
    line = [f"M{first[0][0]:.1f} {first[0][1]:.1f}"]
    for (x, y), (to_x, to_y) in pairwise([*first, (end_x, end_y - _TIP)]):
        middle = (y + to_y) / 2
        line.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
    tip = f"M{end_x:.1f} {end_y:.1f}l{-_TIP / 1.5:.1f} {-_TIP * 1.5}h{_TIP / 0.75:.1f}z"
    return [f'<path d="{"".join(line)}"/>', f'<path class="tip" d="{tip}"/>']


if __name__ == "__main__":
    raise SystemExit(main())
