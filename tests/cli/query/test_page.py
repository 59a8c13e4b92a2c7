"""``asc query explain --html`` without a record: the constructs of a query as a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import Result

if TYPE_CHECKING:
    from conftest import Address, Asc

Run = Callable[..., Result]


def test_the_constructs_of_a_query_are_drawn(asc: Asc, tmp_path: Path) -> None:
    added = asc("query", "add", "drawn", "--where", "delay > 61 AND dest = 'SFO'", "--stream", "flights")
    assert added.exit_code == 0, added.stderr
    page = tmp_path / "drawn.html"
    result = asc("query", "explain", "drawn", "--html", page)
    assert result.exit_code == 0, result.stderr
    text = page.read_text("utf-8")
    assert "<h1>drawn in stream flights</h1>" in text
    assert "<code>delay &gt; 61</code>" in text
    assert "<h3>Constructs</h3>" in text
    assert result.stdout == asc("query", "explain", "drawn").stdout + f"the constructs are drawn in {page}\n"
    answer = asc.json("query", "explain", "drawn", "--html", page)
    assert {term["constraint"] for term in answer["conjuncts"][0]} == {"delay > 61", "dest = 'SFO'"}
    missing = asc("query", "explain", "drawn", "--html", tmp_path / "no" / "drawn.html")
    assert (missing.exit_code, missing.stdout, len(missing.stderr.splitlines())) == (1, "", 1)
    assert asc("query", "remove", "drawn").exit_code == 0


QUERY = {"id": "late", "stream": "s", "where": "n > 1", "topic": "asc.late"}
TERM = {"constraint": "n > 1", "attribute": "n"}


def answer(version: int) -> tuple[int, str]:
    found = {"query": QUERY, "version": version, "text": "late", "block": 3, "conjuncts": [[TERM]], "warnings": []}
    return 200, json.dumps(found)


def block(version: int) -> tuple[int, str]:
    region: dict[str, Any] = {"region": 0, "text": "n <= 1", "satisfied": 0}
    construct = {"construct": 0, "attribute": "n", "type": "int32", "spark": False, "exact": True, "constrained": 1}
    regions = {"region_count": 1, "regions": [region], "null": region}
    shape = {"number": 3, "blocks": 4, "conjuncts": 1, "sequence": [0], "arrow_count": 0, "micro_arrows": []}
    found = {"stream": "s", "version": version, **shape, "constructs": [{**construct, **regions}], "monitor": None}
    return 200, json.dumps(found)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "late.html"


def test_query_and_block_are_of_one_plan(run: Run, address: Address, page: Path) -> None:
    address.answers["/v1/queries/late/explain"] = [answer(4), answer(5)]
    address.answers["/v1/plan/s/blocks/3"] = [block(5)]
    result = run("query", "explain", "late", "--html", page, "--server", address.url)
    assert result.exit_code == 0, result.stderr
    assert [path.rpartition("/")[2] for path in address.asked] == ["explain", "3"] * 2
    assert "Plan of version 5" in page.read_text("utf-8")


def test_a_plan_that_changes_all_the_while_is_told(run: Run, address: Address, page: Path) -> None:
    address.answers["/v1/queries/late/explain"] = [answer(4)]
    address.answers["/v1/plan/s/blocks/3"] = [block(5)]
    result = run("query", "explain", "late", "--html", page, "--server", address.url)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: plan of stream 's': changes while it is read: try again")
    assert not page.exists()
