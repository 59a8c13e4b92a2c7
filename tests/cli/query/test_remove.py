"""``asc query remove``: one step for all, by ids or by a label."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from click.testing import Result

if TYPE_CHECKING:
    from conftest import Asc


def added(asc: Asc, query_id: str, *labels: str) -> None:
    options = [option for label in labels for option in ("--label", label)]
    result = asc("query", "add", query_id, "--where", "delay > 1", "--stream", "flights", *options)
    assert result.exit_code == 0, result.stderr


def test_all_of_a_label_are_removed_in_one_step(asc: Asc) -> None:
    for number in range(22):
        added(asc, f"labelled-{number:02}", "of=removal", f"n={number}")
    added(asc, "labelled-other", "of=removals")
    before = asc.json("query", "show", "labelled-other")["version"]
    tried = asc("query", "remove", "--label", "of=removal", "--dry-run")
    assert tried.stdout.splitlines()[::21] == ["would be removed: labelled-00", "22 queries would be removed"]
    assert asc.json("query", "show", "labelled-00")["version"] < before
    removed = asc("query", "remove", "--label", "of=removal").stdout.splitlines()
    assert removed[0] == "removed: labelled-00"
    assert removed[20] == "and 2 others"
    assert removed[21].startswith("22 queries removed, version ")
    assert removed[22].startswith("flights: from offset ")
    nothing = asc("query", "remove", "--label", "of=removal")
    assert (nothing.exit_code, nothing.stdout) == (1, "")
    assert nothing.stderr.startswith("error: no query with label 'of=removal': ")
    assert asc("query", "remove", "labelled-other").stdout.startswith("removed labelled-other, version ")


def test_several_have_one_version(asc: Asc) -> None:
    added(asc, "several-a")
    added(asc, "several-b")
    answer = asc.json("query", "remove", "several-a", "several-b", "several-a")
    assert (answer["removed"], answer["removed_ids"], answer["errors"]) == (2, ["several-a", "several-b"], [])
    assert isinstance(answer["version"], int)
    assert list(answer["effective_offsets"]) == ["flights"]


def test_an_id_that_no_query_has_is_named(asc: Asc) -> None:
    added(asc, "known")
    result = asc("query", "remove", "nope", "known", "--json")
    assert result.exit_code == 1
    assert '"removed": 1' in result.stdout
    assert result.stderr.startswith("error: unknown query 'nope'")
    result = asc("query", "remove", "nope")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: unknown query 'nope'")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name the queries by their IDs, or by --label"),
        (["late", "--label", "team=ops"], "name the queries by their IDs, or by --label"),
        (["--label", "team"], "--label 'team' is not of the form KEY=VALUE"),
    ],
)
def test_wrong_use(run: Callable[..., Result], arguments: list[str], said: str) -> None:
    result = run("query", "remove", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {said}: '")
