"""The time that a search takes: what is searched, and how the seconds are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.search import KINDS, LIMIT_QUERIES, search, search_text

Written = Callable[[Path, str], dict[str, Any]]


@pytest.mark.usefixtures("two_seeds")
def test_every_kind_is_searched_as_often_as_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Written
) -> None:
    monkeypatch.setattr("bench.search.QUERIES", (100, LIMIT_QUERIES))
    monkeypatch.setattr("bench.search.REPETITIONS", 2)
    result = search(0.01, tmp_path)
    assert written(tmp_path, "adaptation-search") == json.loads(json.dumps(result))
    assert result["parameters"]["sample_tuples"] == 500
    cases = result["results"]["cases"]
    assert [(case["queries"], case["seed"]) for case in cases] == [(q, s) for q in (100, LIMIT_QUERIES) for s in (1, 2)]
    for case in cases:
        assert (case["realised"]["conjuncts"], case["realised"]["p_attributes"]) == (case["queries"], 20)
        for kind in KINDS:
            first, second = case["runs_s"][kind]
            assert 0 < min(first, second) <= case["median_s"][kind] <= max(first, second)
    rows = search_text(result).splitlines()[4:6]
    assert [row.split()[0] for row in rows] == ["100", f"{LIMIT_QUERIES:,}"]
    assert all(row.count("±") == len(KINDS) for row in rows)
