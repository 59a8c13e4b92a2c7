"""``python -m tools.figures``: fill the tables of figures in the documentation from the result files of benchmarks.

The exit code is 0, or 1 for a stale table with ``--check``, an unreadable result, or an unknown name. It is 2 for wrong
usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.figures.catalogue import TABLES
from tools.figures.errors import FiguresError
from tools.figures.page import filled
from tools.figures.results import ResultFolder, Results

ROOT = Path(__file__).parents[2]
RESULTS = Path("bench", "results")
_EXAMPLES = """examples:
  python -m tools.figures                      fill the tables of all pages in docs
  python -m tools.figures docs/benchmarks.md   fill those of one page
  python -m tools.figures --check              name each stale table, and change nothing
  python -m tools.figures --list               the names of all tables

a page names a table where it is wanted:
  <!-- figures: latency -->
  <!-- end -->
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill or check the tables, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.figures",
        description="Fill the tables of figures in the documentation from the result files of benchmarks.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE", help="pages (default: all in docs)")
    parser.add_argument("--check", action="store_true", help="print the stale tables; end with 1 if there is one")
    parser.add_argument("--list", action="store_true", help="print the names of the tables")
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(TABLES))
        return 0
    try:
        stale = _filled_pages(options.pages or pages_of(ROOT), is_check=options.check)
    except FiguresError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    verb = "is stale: fill it with `python -m tools.figures`" if options.check else "filled"
    for page, name in stale:
        print(f"{page}: {name}: {verb}")
    return 1 if options.check and stale else 0


def pages_of(root: Path) -> list[Path]:
    """Return the pages of the documentation, in the order of their names."""
    return sorted((root / "docs").rglob("*.md"))


def table_maker(results: Results) -> Callable[[str], str]:
    """Return the function that makes a table by its name."""

    def table_of(name: str) -> str:
        if name not in TABLES:
            raise FiguresError("table", name, "is unknown: `python -m tools.figures --list` prints all names")
        return TABLES[name](results)

    return table_of


def _filled_pages(pages: Sequence[Path], *, is_check: bool) -> list[tuple[Path, str]]:
    """Return the page and the name of each table that differs from the results. Unless ``is_check`` is set, fill the
    pages.
    """
    table_of = table_maker(ResultFolder(ROOT / RESULTS))
    stale: list[tuple[Path, str]] = []
    for path in pages:
        try:
            text = path.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise FiguresError("page", str(path), f"cannot be read: {error}") from error
        page = filled(str(path), text, table_of)
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        stale += [(shown, name) for name in page.stale]
        if page.stale and not is_check:
            path.write_text(page.text, encoding="utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main())
