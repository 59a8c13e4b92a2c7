"""``asc query apply``: files through a daemon, all or none; what they would change; what they no longer have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli.client import connected
from cli.query.apply import pruning, refused_line
from cli.query.desired_queries import Selector, desired_queries

if TYPE_CHECKING:
    from conftest import Address, Asc


def test_a_bulk_file_is_all_or_none_or_goes_on(asc: Asc, tmp_path: Path) -> None:
    path = tmp_path / "queries.ndjson"
    queries = [("bulk-a", "delay > 1"), ("bulk-b", "dely > 1"), ("bulk-a", "delay > 2"), ("bulk-c", "flight = 1")]
    path.write_text(
        "\n".join(json.dumps({"id": name, "where": where, "stream": "flights"}) for name, where in queries),
        encoding="utf-8",
    )
    refused = asc("query", "apply", path)
    assert refused.exit_code == 1
    *errors, hint = refused.stderr.splitlines()
    assert [line.split(":")[1] for line in errors] == [f" {path} line 2 (bulk-b)", f" {path} line 3 (bulk-a)"]
    assert hint == "nothing was registered: mend what is refused, or register the rest with --keep-going"
    assert "did you mean 'delay'?" in errors[0]
    assert "duplicate id" in errors[1]
    assert asc.json("query", "list", "--prefix", "bulk-") == []
    kept = asc("query", "apply", "--keep-going", path)
    assert kept.exit_code == 1
    assert kept.stdout.startswith("2 registered, 2 refused, version ")
    assert [q["id"] for q in asc.json("query", "list", "--prefix", "bulk-")] == ["bulk-a", "bulk-c"]
    from_stdin = asc("query", "apply", "-", stdin='{"id": "bulk-d", "where": "delay = 3", "stream": "flights"}\n')
    assert from_stdin.exit_code == 0
    assert from_stdin.stdout.startswith("1 registered, version ")


def test_a_file_replaces_and_can_be_kept_from_it(asc: Asc, tmp_path: Path) -> None:
    assert asc("query", "add", "standing", "--where", "delay > 2", "--stream", "flights").exit_code == 0
    path = tmp_path / "queries.toml"
    wanted = {"new": "delay > 1", "standing": "delay > 4"}
    tables = [f'[{name}]\nwhere = "{where}"\nstream = "flights"\n' for name, where in wanted.items()]
    path.write_text("\n".join(tables), encoding="utf-8")
    all_or_none = asc("query", "apply", "--no-replace", path)
    assert (all_or_none.exit_code, all_or_none.stdout) == (1, "0 registered, 1 refused\n")
    assert all_or_none.stderr.startswith(f"error: {path} query 2 (standing): query 'standing': is registered already")
    some = asc("query", "apply", "--no-replace", "--keep-going", path)
    assert (some.exit_code, some.stdout.startswith("1 registered, 1 refused, version ")) == (1, True)
    assert asc.json("query", "show", "standing")["where"] == "delay > 2"
    assert asc("query", "apply", path).stdout.startswith("1 replaced, 1 unchanged, version ")
    assert asc("query", "remove", "standing", "new").exit_code == 0


class Folder:
    """A folder of queries of the stream flights, whose ids begin with a prefix of the test's own."""

    def __init__(self, path: Path, prefix: str) -> None:
        self.path, self.prefix = path, prefix

    def write(self, name: str, queries: dict[str, dict[str, Any]]) -> None:
        """A file of queries, by id without the prefix."""
        named = {f"{self.prefix}{query_id}": {"stream": "flights", **body} for query_id, body in queries.items()}
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(json.dumps(named), encoding="utf-8")

    def standing(self, asc: Asc) -> dict[str, str]:
        """What stands, by id without the prefix."""
        found = asc.json("query", "list", "--prefix", self.prefix)
        return {query["id"].removeprefix(self.prefix): query["where"] for query in found}


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Folder:
    return Folder(tmp_path / "queries", f"{request.node.name[5:25]}-")


def test_a_dry_run_shows_what_apply_then_does(asc: Asc, folder: Folder) -> None:
    labelled = {"labels": {"team": "ops"}}
    folder.write("a.json", {"same": {"where": "delay > 1"}, "changed": {"where": "delay > 1"}})
    folder.write("deep/b.json", {"gone": {"where": "delay > 1"}})
    assert asc("query", "apply", folder.path).stdout.startswith("3 registered, version ")
    (folder.path / "deep" / "b.json").unlink()
    folder.write("a.json", {"same": {"where": "delay > 1"}, "changed": {"where": "delay > 2", **labelled}})
    folder.write("deep/c.json", {"new": {"where": "delay > 3", "topic": "t"}})
    pruning = ("--prune", "--prefix", folder.prefix)
    shown = asc("query", "apply", folder.path, *pruning, "--dry-run")
    own = folder.prefix
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert shown.stdout.splitlines() == [
        f"~ {own}changed  (a.json query 2)",
        '    where: "delay > 1" -> "delay > 2"',
        '    labels: {} -> {"team": "ops"}',
        f"- {own}gone",
        '    stream: "flights"',
        '    where: "delay > 1"',
        f'    topic: "asc.{own}gone"',
        f"+ {own}new  (deep/c.json query 1)",
        '    stream: "flights"',
        '    where: "delay > 3"',
        '    topic: "t"',
        "1 to add, 1 to change, 1 to remove, 1 unchanged",
    ]
    assert asc("query", "apply", folder.path, *pruning, "--dry-run", "--exit-code").exit_code == 3
    result = asc.json("query", "apply", folder.path, *pruning, "--dry-run")
    assert {kind: [one["id"] for one in result[kind]] for kind in ("add", "change", "remove")} == {
        "add": [f"{own}new"],
        "change": [f"{own}changed"],
        "remove": [f"{own}gone"],
    }
    assert result["change"][0]["fields"]["where"] == {"old": "delay > 1", "new": "delay > 2"}
    assert (result["unchanged"], result["errors"]) == (1, [])
    assert set(folder.standing(asc)) == {"same", "changed", "gone"}

    # Without --prune nothing is removed, neither shown nor done.
    kept = asc("query", "apply", folder.path, "--dry-run").stdout.splitlines()[-1]
    assert kept == "1 to add, 1 to change, 0 to remove, 1 unchanged"

    done = asc("query", "apply", folder.path, *pruning)
    first, last = done.stdout.splitlines()
    assert first == f"removed {own}gone"
    assert last.startswith("1 registered, 1 replaced, 1 unchanged, 1 removed, version ")
    assert folder.standing(asc) == {"same": "delay > 1", "changed": "delay > 2", "new": "delay > 3"}
    again = asc("query", "apply", folder.path, *pruning, "--dry-run", "--exit-code")
    assert (again.exit_code, again.stdout) == (0, "0 to add, 0 to change, 0 to remove, 3 unchanged\n")
    assert asc("query", "apply", folder.path, *pruning).stdout.startswith("3 unchanged, version ")


def test_a_label_prunes_what_bears_it_alone(asc: Asc, folder: Folder) -> None:
    of_team = {"labels": {"team": folder.prefix}}
    other = {"where": "delay > 1", "labels": {"team": "other"}}
    folder.write("a.json", {"old": {"where": "delay > 1", **of_team}, "other": other, "bare": {"where": "delay > 1"}})
    assert asc("query", "apply", folder.path).exit_code == 0
    (folder.path / "a.json").unlink()
    folder.write("b.json", {"bare": {"where": "delay > 1", **of_team}})
    pruning = ("--prune", "--label", f"team={folder.prefix}")
    shown = asc("query", "apply", folder.path, *pruning, "--dry-run").stdout.splitlines()
    assert [line for line in shown if line[0] != " "] == [
        f"~ {folder.prefix}bare  (b.json query 1)",
        f"- {folder.prefix}old",
        "0 to add, 1 to change, 1 to remove, 0 unchanged",
    ]
    assert asc("query", "apply", folder.path, *pruning).exit_code == 0
    assert set(folder.standing(asc)) == {"bare", "other"}


def test_what_is_refused_is_told_of_all_files_and_nothing_is_changed(asc: Asc, folder: Folder) -> None:
    folder.write("old.json", {"gone": {"where": "delay > 1"}})
    assert asc("query", "apply", folder.path).exit_code == 0
    (folder.path / "old.json").unlink()
    folder.write("a.json", {"right": {"where": "delay > 1"}, "wrong": {"where": "dely > 1"}})
    folder.write("b.json", {"worse": {"where": "delay > "}})
    pruning = ("--prune", "--prefix", folder.prefix)
    for more, end in (((), "nothing was changed"), (("--dry-run",), "nothing would be changed")):
        refused = asc("query", "apply", folder.path, *pruning, *more)
        assert refused.exit_code == 1
        first, second, last = refused.stderr.splitlines()
        assert first.startswith(f"error: a.json query 2 ({folder.prefix}wrong): unknown column 'dely'")
        assert second.startswith(f"error: b.json query 1 ({folder.prefix}worse): ")
        assert last.startswith(end)
        assert set(folder.standing(asc)) == {"gone"}
    result = asc("query", "apply", folder.path, *pruning, "--dry-run", "--json")
    assert [error["id"] for error in json.loads(result.stdout)["errors"]] == [
        f"{folder.prefix}wrong",
        f"{folder.prefix}worse",
    ]
    kept = asc("query", "apply", folder.path, "--keep-going")
    assert (kept.exit_code, set(folder.standing(asc))) == (1, {"gone", "right"})


def test_a_query_beside_what_is_pruned_is_an_error_before_anything_is_asked(run: Any, folder: Folder) -> None:
    folder.write("a.json", {"own": {"where": "delay > 1"}})
    result = run("query", "apply", folder.path, "--prune", "--prefix", "other-", "--server", "http://127.0.0.1:9")
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert (
        f"query '{folder.prefix}own': is in a.json query 1, and --prefix other- does not manage it: change"
        in result.stderr
    )


@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--prune", "--all"), ("--prune", "--all", "--dry-run")])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ops.ndjson", '{"id": "late", "where": "n > 1"}\n{"remove": "rbig"}\n'),
        ("ops.ndjson", '{"id": "late", "where": "n > 1"}\n{"\\u0072emove": "rbig"}\n'),
        ("ops.ndjson", '{"remove": "rbig"}'),
        ("ops.json", '[{"id": "late", "where": "n > 1"}, {"remove": "rbig"}]'),
    ],
    ids=["line", "escaped", "alone", "list"],
)
def test_a_file_that_removes_a_query_is_refused_before_anything_is_asked(
    run: Any, tmp_path: Path, options: tuple[str, ...], name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    place = "query 2" if name.endswith(".json") else f"line {text.count('{')}"
    for given in (path, tmp_path):
        result = run("query", "apply", given, *options, "--server", "http://127.0.0.1:9")
        assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
        assert result.stderr.startswith("error: removal of query 'rbig': is in ")
        assert f"{name} {place}, and files hold queries alone: 'asc query remove ID' removes it" in result.stderr


@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--prune", "--all")], ids=["plain", "dry", "prune"])
@pytest.mark.parametrize("text", ["", "\ufeff \n\n"], ids=["empty", "blank"])
def test_a_file_without_a_query_is_named(run: Any, tmp_path: Path, options: tuple[str, ...], text: str) -> None:
    path = tmp_path / "e.ndjson"
    path.write_text(text, encoding="utf-8")
    result = run("query", "apply", path, *options, "--server", "http://127.0.0.1:9")
    assert result.stderr.startswith(f"error: no queries in file '{path}': a file that was cut short has none either")
    assert result.exit_code == 1


def test_pruning_keeps_what_cannot_be_read_and_says_so(address: Address, capsys: pytest.CaptureFixture[str]) -> None:
    plain = {"id": "ops-1", "stream": "s", "served": True}
    unreadable = {"id": "ops-8", "stream": "", "served": False, "reason": "its record is of form 9"}
    listed = [plain, unreadable, {**plain, "id": "ops-9", "served": False, "reason": "parked"}]
    address.answers["/v1/queries"] = [(200, json.dumps({"queries": listed, "cursor": None}))]
    selector = Selector("ops-", ("team", "ops"))
    wanted = desired_queries(
        [("q.ndjson", b'{"id": "ops-1", "where": "n", "labels": {"team": "ops"}}')], selector=selector
    )
    with connected(address.url, None, None) as client:
        load = pruning(client, wanted, selector)
    assert load.removed == ["ops-9"]
    assert load.ndjson.splitlines()[1:] == [b'{"remove": "ops-9"}']
    assert address.asked[-1] == "/v1/queries?limit=1000&prefix=ops-&label=team%3Dops"
    assert "warning: ops-8 is in no file and kept" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--prune"], "--prune needs to know which queries the files manage"),
        (["--prune", "--all", "--prefix", "a"], "--prune needs to know which queries"),
        (["--prune", "--prefix", ""], "an empty --prefix is all queries: say --all"),
        (["--prune", "--label", "team"], "not of the form KEY=VALUE"),
        (["--prune", "--all", "--keep-going"], "without --keep-going and --no-replace"),
        (["--prefix", "a"], "say which queries the files manage: give --prune"),
        (["--all"], "say which queries the files manage: give --prune"),
        (["--exit-code"], "--exit-code goes with --dry-run"),
        (["--dry-run", "--no-replace"], "--dry-run goes without"),
        (["--format", "json"], "--format goes with a file"),
    ],
    ids=["alone", "both", "empty", "label", "going", "prefix", "all", "code", "replace", "format"],
)
def test_options_that_do_not_go_together_are_wrong_use(run: Any, tmp_path: Path, options: list[str], said: str) -> None:
    result = run("query", "apply", tmp_path, *options)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert said in result.stderr


def test_one_file_and_standard_input_prune_as_well(asc: Asc, folder: Folder) -> None:
    folder.write("a.json", {"kept": {"where": "delay > 1"}, "gone": {"where": "delay > 1"}})
    assert asc("query", "apply", folder.path / "a.json").exit_code == 0
    line = json.dumps({"id": f"{folder.prefix}kept", "where": "delay > 1", "stream": "flights"})
    pruning = ("--prune", "--prefix", folder.prefix)
    shown = asc("query", "apply", "-", *pruning, "--dry-run", stdin=line).stdout.splitlines()
    assert (shown[0], shown[-1]) == (f"- {folder.prefix}gone", "0 to add, 0 to change, 1 to remove, 1 unchanged")
    result = asc("query", "apply", "-", *pruning, "--json", stdin=line)
    assert json.loads(result.stdout)["removed_ids"] == [f"{folder.prefix}gone"]
    assert set(folder.standing(asc)) == {"kept"}


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        ({"line": 3, "id": "late", "error": {"message": "no"}}, "error: line 3 (late): no"),
        ({"line": 1, "id": None, "error": {"message": "no"}}, "error: query 1: no"),
        ({"line": 2, "error": "no"}, "error: query 2: no"),
        ({"line": None, "error": "no"}, "error: line None: no"),
    ],
)
def test_a_refused_line_is_one_line(refused: dict[str, Any], said: str) -> None:
    assert refused_line(refused, ["query 1", "query 2"]) == said
