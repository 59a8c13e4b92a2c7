"""The file of queries behind ``asc match``."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.failure import CommandError
from cli.queries_file import read_queries

QUERIES = {"late": "delay > 60", "über": "city = 'Oslo'"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "q.ndjson",
            '{"id": "late", "where": "delay > 60"}\n\n{"id": "über", "where": "city = \'Oslo\'", "topic": "t"}\n',
        ),
        ("q.json", '{"late": "delay > 60", "über": "city = \'Oslo\'"}'),
        ("q.toml", 'late = "delay > 60"\n"über" = "city = \'Oslo\'"\n'),
    ],
)
def test_each_form_reads_the_same(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert read_queries(path) == QUERIES


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("q.ndjson", "", "no queries in file"),
        ("q.ndjson", "late: delay", "line 1"),
        ("q.ndjson", '{"id": "a", "where": "x > 1"}\n{"id": "b"}', "line 2"),
        ("q.ndjson", '{"id": 1, "where": "x > 1"}', "must be two texts"),
        ("q.ndjson", '{"id": "a", "where": "x > 1"}\n{"id": "a", "where": "x > 2"}', "duplicate query id 'a'"),
        ("q.json", '{"a": "x > 1", "a": "x > 2"}', "duplicate query id 'a'"),
        ("q.json", '["a"]', "no mapping in file"),
        ("q.json", "{", "not JSON"),
        ("q.json", '{"a": {"where": "x > 1"}}', "must be two texts"),
        ("q.toml", "a = ", "not TOML"),
        ("q.toml", 'a = "x > 1"\na = "x > 2"\n', "not TOML"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError, match=said) as caught:
        read_queries(path)
    assert "\n" not in str(caught.value)
