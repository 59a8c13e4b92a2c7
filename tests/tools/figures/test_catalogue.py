"""All tables: each has a name of its own, and figures in the results that are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker.operators.kinds import OPERATORS
from tools.figures import changes, glance, machines, matching, monitors, operators, paper, rivals, scaling, streams
from tools.figures.catalogue import TABLES
from tools.figures.results import ResultFolder

ROOT = Path(__file__).parents[3]
RESULTS = ResultFolder(ROOT / "bench" / "results")
TOPICS = (changes, glance, machines, matching, monitors, operators, paper, rivals, scaling, streams)


TEXTS = {"cluster", *(set(OPERATORS) - set(RESULTS))}
"""Of lines that are not a table of Markdown."""


def test_figures_are_on_the_page_of_benchmarks_alone() -> None:
    pages = (path for path in (ROOT / "docs").rglob("*.md") if "<!-- figures: " in path.read_text("utf-8"))
    assert [path.name for path in pages] == ["benchmarks.md"]


def test_no_table_hides_another() -> None:
    assert len(TABLES) == sum(len(topic.TABLES) for topic in TOPICS)


@pytest.mark.parametrize("name", [name for name in TABLES if name not in TEXTS])
def test_a_table_is_a_rectangle_of_figures(name: str) -> None:
    head, rule, *rows = TABLES[name](RESULTS).splitlines()
    assert rows
    assert {line.count("|") for line in (head, rule, *rows)} == {rule.count("|")}
    assert any(character.isdigit() for character in "".join(rows))
