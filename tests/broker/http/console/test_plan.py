"""A plan in a browser: its blocks, and each with its regions, sequence and arrows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from fastapi.testclient import TestClient

from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Query
from asc.predicate import normalise
from asc.schema import Schema

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

Browse = Callable[[str], TestClient]


def test_a_plan_and_its_blocks(browse: Browse, registered: Callable[..., None], resting: Resting) -> None:
    registered({"con-late": "n > 60 AND s = '<b>'", "con-early": "n < 0 AND s = 'a'", "con-all": "true"})
    client, name = browse("all"), resting.stream("json")
    page = client.get("/console/plan", params={"stream": name}).text
    assert f"<dd>{resting.streams()[name].running.plan.version}</dd>" in page
    (link, *_) = re.findall(r'<a href="(/console/plan/[^"]*)">0</a>', page)
    assert link == f"/console/plan/{name}/0"
    block = client.get(link)
    assert block.status_code == 200
    assert "Block 0 (of 1, from 0 on)" in block.text
    assert 'aria-label="macro-sequence: ' in block.text
    assert "style=" not in block.text
    assert "<b>" not in block.text
    assert client.get(f"/console/plan/{name}/1").status_code == 404
    assert client.get("/console/plan/none/0").status_code == 400
    assert client.get(f"/console/plan/{name}/x").status_code in (400, 404)
    for path in ("/console/plan", link):
        assert browse("ops").get(path).status_code == 403
        assert browse("reader").get(path).status_code == 200


def test_a_plan_has_a_row_for_each_block(browse: Browse, resting: Resting) -> None:
    for name, stream in resting.streams().items():
        page = browse("all").get("/console/plan", params={"stream": name}).text
        blocks = len(stream.running.plan.blocks)
        assert page.count(f'<a href="/console/plan/{name}/') == blocks
        listed = stream.running.plan.listed
        is_empty = blocks == 0 and not listed
        assert ("No block: no query compares anything." in page) == is_empty
        assert (f'<a href="/console/query/new?stream={name}">Register one that does</a>' in page) == is_empty
        assert ("Listed by position" in page) == any(block.by_shapes for block in listed)


def test_blocks_listed_by_value_have_a_row(browse: Browse, resting: Resting, monkeypatch: pytest.MonkeyPatch) -> None:
    name = resting.stream("csv")
    queries = [Query(f"q{number}", normalise(f"n = {number // 2}", Schema.from_ddl("n INT"))) for number in range(12)]
    plan = compile_plan(queries, CompileOptions(listed_conjuncts=1))
    monkeypatch.setattr(resting.streams()[name].running, "_plan", plan)
    page = browse("all").get("/console/plan", params={"stream": name}).text
    assert "Listed by value" in page
    row = re.search(
        r'<code>n</code></th><td data-label="conjuncts"[^>]*>12</td><td data-label="values"[^>]*>6</td>', page
    )
    assert row is not None
    assert "No block" not in page
    assert "Listed by position" not in page
