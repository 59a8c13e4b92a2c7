"""``asc cube lookup``: the commands, what they print, and what they refuse before they ask the daemon."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from click.testing import Result

    from cli.conftest import Address

PLANES: dict[str, Any] = {
    "name": "planes",
    "topic": "asc.lookup.planes",
    "key": "tailnum",
    "attributes": [{"name": "manufacturer", "type": "STRING"}, {"name": "seats", "type": "INT"}],
    "rows": 3_322,
    "bytes": 120_000,
    "version": 7,
    "written": "2026-06-01T00:00:00Z",
}

NAMES = ["manufacturer,", "seats"]
SUMMARY = "planes: 3,322 rows by tailnum, 2 attributes, 120,000 bytes, version 7"


@pytest.fixture
def lookup(run: Callable[..., Result], address: Address) -> Callable[..., Result]:
    address.answers["/v1/cube/lookups"] = [(200, json.dumps({"lookups": [PLANES]}))]
    address.answers["/v1/cube/lookups/planes"] = [(200, json.dumps(PLANES))]
    return lambda *arguments: run("cube", "lookup", *arguments, "--server", address.url)


def test_a_list_and_a_look_up_are_printed(lookup: Callable[..., Result]) -> None:
    lines = lookup("list").stdout.splitlines()
    assert lines[0].split() == ["name", "key", "rows", "bytes", "version", "written", "attributes"]
    assert lines[1].split() == [
        "planes",
        "tailnum",
        "3,322",
        "120,000",
        "7",
        PLANES["written"],
        "manufacturer,",
        "seats",
    ]
    assert json.loads(lookup("list", "--json").stdout) == {"lookups": [PLANES]}
    lines = lookup("show", "planes").stdout.splitlines()
    assert lines[0].startswith(
        "planes: 3,322 rows by tailnum, 2 attributes, 120,000 bytes, version 7, written 2026-06-01"
    )
    assert lines[-1].split() == ["planes.seats", "INT"]
    assert json.loads(lookup("show", "planes", "--json").stdout) == PLANES


@pytest.mark.parametrize("command", [["put", "planes"], ["planes"]])
@pytest.mark.parametrize("suffix", [".csv", ".PARQUET"])
def test_the_command_that_stores_may_be_omitted(
    lookup: Callable[..., Result], address: Address, tmp_path: Path, command: list[str], suffix: str
) -> None:
    file = tmp_path / f"planes{suffix}"
    file.write_bytes(b"tailnum,seats\nN1,4\n")
    done = lookup(*command, "--key", "tailnum", file)
    assert (done.exit_code, done.stdout) == (
        0,
        "planes: 3,322 rows by tailnum, 2 attributes, 120,000 bytes, version 7\n",
    )
    assert address.asked[-1] == "/v1/cube/lookups/planes?key=tailnum"


def test_a_look_up_is_removed(lookup: Callable[..., Result]) -> None:
    done = lookup("remove", "planes")
    assert (done.exit_code, done.stdout) == (0, "planes: removed\n")
    assert json.loads(lookup("remove", "planes", "--json").stdout) == {"removed": "planes"}


def test_a_file_over_the_limit_is_refused_before_the_daemon_is_asked(
    lookup: Callable[..., Result], address: Address, tmp_path: Path
) -> None:
    file = tmp_path / "planes.csv"
    with file.open("wb") as sparse:
        sparse.truncate((64 << 20) + 1)
    done = lookup("planes", "--key", "tailnum", file)
    assert done.exit_code == 1
    assert "is over 64 MiB, the limit of a look-up: leave out rows or columns" in done.stderr
    assert address.asked == []


def test_a_file_of_another_format_is_refused_before_the_daemon_is_asked(
    lookup: Callable[..., Result], address: Address, tmp_path: Path
) -> None:
    file = tmp_path / "planes.csv.gz"
    file.write_bytes(b"")
    done = lookup("planes", "--key", "tailnum", file)
    assert done.exit_code == 2
    assert "is neither .csv nor .parquet: write the table as one of these" in done.stderr
    assert address.asked == []
