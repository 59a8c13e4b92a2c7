"""Files of queries in a folder: all of them, each query once, and none that the files do not manage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from broker.errors import InputError
from cli.failure import failure_text
from cli.query.desired_queries import DesiredQueries, Selector, desired_queries, query_files

OPS = Selector("ops-", ("team", "ops"))


def wanted(*files: tuple[str, str], selector: Selector | None = None) -> DesiredQueries:
    return desired_queries([(name, text.encode()) for name, text in files], selector=selector)


def test_a_folder_is_read_in_all_forms_and_to_its_ground(tmp_path: Path) -> None:
    for name, text in {
        "b.toml": 'late = "n > 1"\n',
        "a/c.ndjson": '{"id": "x", "where": "n > 2"}\n\n{"id": "y", "where": "n > 3"}\n',
        "a/deep/d.JSON": '{"z": {"where": "n > 4", "labels": {"team": "ops"}}}',
        "README.md": "no queries",
        ".hidden.json": "{",
        ".git/config.json": "{",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    # As a volume of Kubernetes has them: links to files, within links to folders that are not followed.
    (tmp_path / "linked.toml").symlink_to(tmp_path.parent / "elsewhere.toml")
    (tmp_path.parent / "elsewhere.toml").write_text('linked = "n > 5"\n', encoding="utf-8")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    found = desired_queries(query_files(tmp_path))
    assert {query_id: found.place(query_id) for query_id in found.line_of} == {
        "x": "a/c.ndjson line 1",
        "y": "a/c.ndjson line 3",
        "z": "a/deep/d.JSON query 1",
        "late": "b.toml query 1",
        "linked": "linked.toml query 1",
    }
    assert found.body("z") == {"id": "z", "where": "n > 4", "labels": {"team": "ops"}}
    assert [json.loads(line)["id"] for line in found.lines] == ["x", "y", "z", "late", "linked"]


def test_a_folder_without_such_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "queries.txt").write_text("late", encoding="utf-8")
    with pytest.raises(InputError, match=r"no file of queries in folder .* ends in \.toml, \.json"):
        query_files(tmp_path)


def test_an_id_in_two_files_names_both() -> None:
    with pytest.raises(InputError) as caught:
        wanted(("a.toml", 'one = "n > 1"\nlate = "n > 1"\n'), ("b.ndjson", '\n{"id": "late", "where": "n > 1"}'))
    assert str(caught.value) == "query id 'late': is in a.toml query 2 and in b.ndjson line 2: keep one of them"


def test_what_is_wrong_is_told_of_all_files() -> None:
    with pytest.raises(InputError) as caught:
        wanted(("a.toml", "late ="), ("b.json", "[]"), ("c.ndjson", '{"id": "x", "where": "n"}'), ("d.ndjson", "[1]"))
    lines = failure_text(caught.value).splitlines()
    assert [line.split("'")[0] for line in lines] == [
        "error: not TOML, file ",
        "error: no queries in file ",
        "error: no query in file ",
    ]
    assert [name for name in ("a.toml", "b.json", "d.ndjson") if name in failure_text(caught.value)] == [
        "a.toml",
        "b.json",
        "d.ndjson",
    ]


@pytest.mark.parametrize(
    ("selector", "takes", "said"),
    [
        (Selector(), [True, True, True], "--all"),
        (Selector("ops-"), [True, True, False], "--prefix ops-"),
        (Selector("", ("team", "ops")), [True, False, False], "--label team=ops"),
        (OPS, [True, False, False], "--prefix ops- --label team=ops"),
    ],
    ids=["all", "prefix", "label", "both"],
)
def test_a_selector_takes_what_fits_all_of_it(selector: Selector, takes: list[bool], said: str) -> None:
    queries = [{"id": "ops-1", "labels": {"team": "ops"}}, {"id": "ops-2", "labels": {"team": "air"}}, {"id": "late"}]
    assert [selector.takes(query) for query in queries] == takes
    assert str(selector) == said


def test_a_query_that_the_selector_does_not_take_is_an_error() -> None:
    own = '{"id": "ops-1", "where": "n", "labels": {"team": "ops"}}'
    assert wanted(("a.ndjson", own), selector=OPS).line_of == {"ops-1": 0}
    with pytest.raises(InputError, match=r"'ops-2': is in a.ndjson line 2, and --prefix ops- --label .* does not"):
        wanted(("a.ndjson", own + '\n{"id": "ops-2", "where": "n", "labels": "team=ops"}'), selector=OPS)


def test_a_line_without_an_id_is_left_to_the_daemon() -> None:
    found = wanted(("a.json", '[{"where": "n > 1"}, {"id": 7, "where": "n > 1"}, {"id": "x", "where": "n"}]'))
    assert (len(found.lines), found.line_of) == (3, {"x": 2})


@pytest.mark.parametrize(
    ("ids", "prefix"),
    [(["ops-1", "ops-22"], "ops-"), (["late"], "late"), (["a", "b"], ""), (["late", "lat"], "lat")],
    ids=["some", "one", "none", "within"],
)
def test_the_prefix_of_all_ids(ids: list[str], prefix: str) -> None:
    text = json.dumps(dict.fromkeys(ids, "n > 1"))
    assert wanted(("a.json", text)).prefix() == prefix
