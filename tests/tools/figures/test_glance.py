"""The main figures: each line leads to its section."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.figures.errors import FiguresError
from tools.figures.glance import TABLES, row_of
from tools.figures.results import ResultFolder

ROOT = Path(__file__).parents[3]


def test_each_line_leads_to_a_section() -> None:
    table = TABLES["glance"](ResultFolder(ROOT / "bench" / "results"))
    page = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    anchors = {anchor(heading) for heading in re.findall(r"^#+ (.+)$", page, re.MULTILINE)}
    named = re.findall(r"^\| \[[^]]+\]\(#([^)]+)\)", table, re.MULTILINE)
    assert named
    assert set(named) <= anchors


def test_a_result_without_the_row_is_refused() -> None:
    with pytest.raises(FiguresError, match="is not in the result"):
        row_of([{"queries": 10}], queries=100)


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
