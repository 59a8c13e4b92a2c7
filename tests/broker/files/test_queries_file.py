"""Files of queries: every form is read alike, and what is written is read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.errors import InputError
from broker.files.queries_file import FORMATS, as_ndjson, bodies, form_of, queries_text, read_queries

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
        ("q.json", '[{"id": "late", "where": "delay > 60", "version": 3}, {"id": "über", "where": "city = \'Oslo\'"}]'),
        (
            "q.json",
            '{"queries": [{"id": "late", "where": "delay > 60"}, '
            '{"id": "über", "where": "city = \'Oslo\'"}], "cursor": null}',
        ),
        ("q.json", '{"late": {"where": "delay > 60", "topic": "t"}, "über": "city = \'Oslo\'"}'),
        ("q.json", '{"id": "late", "where": "delay > 60"}\n{"id": "über", "where": "city = \'Oslo\'"}'),
        ("q.toml", '[late]\r\nwhere = "delay > 60"\r\n\r\n["über"]\r\nwhere = "city = \'Oslo\'"\r\n'),
        ("queries", '\ufefflate = "delay > 60"\n"über" = "city = \'Oslo\'"\n'),
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
        ("q.ndjson", "late: delay", r"line 1: Expecting value \(column 1\)$"),
        ("q.ndjson", '{"id": "a", "where": "n"}\n{"id" "b"}', r"line 2: Expecting ':' delimiter \(column 7\)$"),
        ("q.ndjson", '{"id": "a", "where": "x > 1"}\n{"id": "b"}', 'line 2 needs "id" and "where"'),
        ("q.ndjson", '{"id": "a", "where": "x > 1"}\n[]', "line 2 must be an object"),
        ("q.ndjson", '{"id": "a", "where": "x > z.i", "join": {"layer": "z"}}', "join in a file of queries 'a'"),
        ("q.ndjson", '{"remove": "late"}', 'line 1 needs "id" and "where"'),
        ("q.ndjson", '{"id": 1, "where": "x > 1"}', 'line 1 needs "id" and "where", both texts'),
        ("q.ndjson", '{"id": "a", "where": "x > 1"}\n{"id": "a", "where": "x > 2"}', "duplicate query id 'a'"),
        ("q.json", '{"a": "x > 1", "a": "x > 2"}', "duplicate key 'a'"),
        ("q.json", '[{"id": "a", "where": "x > 1"}, {"id": "a", "where": "x > 2"}]', "duplicate query id 'a'"),
        ("q.json", '["a"]', "query 1 must be an object"),
        ("q.json", "[]", "no queries in file"),
        ("q.json", "7", "write {"),
        ("q.json", "{", "not JSON"),
        ("q.json", "[" * 100_000, "is nested too deeply"),
        ("q.json", '{"a": {"topic": "t"}}', 'query 1 needs "id" and "where"'),
        ("q.json", '{"a": {"id": "b", "where": "x > 1"}}', "'a' must be a predicate"),
        ("q.json", '{"a": 1}', "'a' must be a predicate"),
        ("sensors.csv", "at,celsius\r\n1,20.5\r\n", "no queries in file .*sensors.csv': it is neither NDJSON nor JSON"),
        ("q.toml", "a = ", "not TOML"),
        ("q.toml", 'a = "x > 1"\na = "x > 2"\n', "not TOML"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said) as caught:
        read_queries(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", '{"late": "delay > 60"}', '[{"id": "a", "where": "n"}]', 'late = "n > 1"', "{"])
def test_the_end_of_a_name_tells_ndjson_whatever_the_file_holds(text: str) -> None:
    assert [form_of(name, text.encode()) for name in ("q.ndjson", "Q.JSONL")] == ["ndjson", "ndjson"]


def test_bytes_that_are_no_text_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(InputError, match="byte 7 is not"):
        read_queries(path)


def test_lines_go_to_the_daemon_as_they_are_with_what_is_wrong_in_them() -> None:
    content = b'\n{"id": "a"}\r\n\xff{\n'
    assert as_ndjson(content, form_of("-", content), "-") == (content, [f"- line {number}" for number in (1, 2, 3, 4)])


def test_of_other_forms_a_query_keeps_its_place() -> None:
    content = b"[late]\nwhere = 'x > 1'\nexpires_at = 2030-01-31T12:00:00Z\n[early]\nwhere = 'x < 1'\n"
    lines, places = as_ndjson(content, "toml", "q.toml")
    late, early = map(json.loads, lines.split(b"\n"))
    assert (late["id"], late["expires_at"], early) == (
        "late",
        "2030-01-31 12:00:00+00:00",
        {"id": "early", "where": "x < 1"},
    )
    assert places == ["q.toml query 1", "q.toml query 2"]
    with pytest.raises(InputError, match="no queries in file"):
        as_ndjson(b"[]", "json", "q.json")


ids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True) | st.sampled_from(
    ["queries", "id", "where", "cursor"]
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    [
        "s = 'it\\'s \"so\"'",
        "n > 1\n  AND s = '\r\n'",
        "s = '\u2028\x7f\x85\U0001f40b'",
        "'" * 3,
        '"' * 3,
        "\\u0041",
        "[a]",
    ]
)
queries = st.lists(
    st.fixed_dictionaries(
        {
            "id": ids,
            "stream": ids,
            "where": texts,
            "topic": ids,
            "labels": st.dictionaries(texts, texts, max_size=3),
            "paused": st.booleans(),
            "expires_at": st.none() | st.sampled_from(["2030-01-31T12:00:00Z", "2031-01-01T00:00:00.000001Z"]),
            "operator": st.none() | st.just({"name": "events", "events": ["enter"], "key": "k", "dwell_s": 1.5}),
            "version": st.integers(0, 9),
            "served": st.booleans(),
            "reason": st.none() | texts,
            "delivered": st.none() | st.integers(0, 9),
            "evaluation_errors": st.integers(0, 9),
        }
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda query: query["id"],
)


@settings(deadline=None)
@given(queries, st.sampled_from(FORMATS), st.booleans())
def test_what_is_listed_is_what_is_applied(listed: list[dict[str, Any]], form: str, named: bool) -> None:
    content = f"{queries_text(listed, form)}\n".encode()
    name = f"q.{form}" if named else "<stdin>"
    assert form_of(name, content) == form
    lines, _ = as_ndjson(content, form, name)
    settable = ("id", "stream", "where", "topic", "labels", "paused", "expires_at", "operator")
    wanted = [{key: query[key] for key in settable if query[key] is not None} for query in listed]
    assert [{"labels": {}, **json.loads(line)} for line in lines.split(b"\n") if line] == wanted


@settings(deadline=None)
@given(queries)
def test_the_list_that_programs_read_is_a_file_of_queries_as_well(listed: list[dict[str, Any]]) -> None:
    content = json.dumps(listed, indent=2, ensure_ascii=False).encode()
    assert [body for _, body in bodies(content, form_of("<stdin>", content), "<stdin>")] == listed
