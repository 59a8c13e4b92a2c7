"""``asc schema``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

FLIGHTS = Path(__file__).parents[2] / "workloads" / "data" / "flights.csv.gz"


def test_an_inferred_schema_is_what_other_commands_take(run: Callable[..., Result], tmp_path: Path) -> None:
    found = run("schema", "infer", FLIGHTS)
    assert found.exit_code == 0, found.stderr
    assert "arr_delay: INT from 10,000 rows, 3% empty" in found.stderr.splitlines()
    assert json.loads(run("schema", "infer", FLIGHTS, "--json").stdout)["schema"] == found.stdout.rstrip("\n")
    (tmp_path / "flights.ddl").write_text(found.stdout, encoding="utf-8")
    (tmp_path / "queries.json").write_text('{"late": "arr_delay > 60", "summer": "month = 7"}', encoding="utf-8")
    where = "arr_delay > 60 AND time_hour > TIMESTAMP '2013-06-01 00:00:00'"
    checked = run("query", "check", "--where", where, "--schema", tmp_path / "flights.ddl")
    assert checked.exit_code == 0, checked.stderr
    schema = ("--schema", tmp_path / "flights.ddl")
    matched = run("match", "--queries", tmp_path / "queries.json", *schema, FLIGHTS)
    assert matched.stdout.splitlines()[-1].startswith("20,000 rows read, ")
    config = tmp_path / "asc.toml"
    config.write_text(
        '[streams.flights]\ntopic = "flights"\nformat = "csv"\nschema_file = "flights.ddl"\n', encoding="utf-8"
    )
    again = run("match", "--queries", tmp_path / "queries.json", "--config", config, FLIGHTS)
    assert again.stdout == matched.stdout


def test_malformed_lines_are_told(run: Callable[..., Result], tmp_path: Path) -> None:
    rows = tmp_path / "rows.ndjson"
    rows.write_text('{"n": 1}\n{"n": \n', encoding="utf-8")
    found = run("schema", "infer", rows)
    assert (found.exit_code, found.stdout) == (0, "n INT\n")
    assert found.stderr.splitlines() == [
        "warning: 1 malformed line excluded; the first: line 2 is no JSON object",
        "n: INT from 1 row",
    ]
    plain = json.loads(run("schema", "infer", rows, "--json").stdout)
    assert (plain["malformed"], plain["first_malformed"]) == (1, "line 2 is no JSON object")
