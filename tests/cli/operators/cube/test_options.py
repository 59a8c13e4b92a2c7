"""The texts of cubes on the command line."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from asc.errors import PredicateError
from cli.client import Json
from cli.main import main
from cli.operators.cube.options import (
    definition_options,
    divided,
    late_option,
    output_options,
    storage_options,
)


@pytest.mark.parametrize(
    ("text", "separator", "expected"),
    [
        ("", ",", []),
        ("  ", ">", []),
        ("a", ",", ["a"]),
        ("origin > dest, carrier", ",", ["origin > dest", "carrier"]),
        ("origin > dest>tail", ">", ["origin", "dest", "tail"]),
        ("(a > b) > c", ">", ["(a > b)", "c"]),
        ("a >= b", ">", ["a >= b"]),
        ("concat(a, ','), m['x,y'], `odd, name`", ",", ["concat(a, ',')", "m['x,y']", "`odd, name`"]),
        ("'a > b' > c", ">", ["'a > b'", "c"]),
        ("a,,b", ",", ["a", "", "b"]),
        ("count(*), sum(x) FILTER (WHERE y > 0) AS n", ",", ["count(*)", "sum(x) FILTER (WHERE y > 0) AS n"]),
    ],
)
def test_a_text_is_divided_outside_of_brackets_and_quotes(text: str, separator: str, expected: list[str]) -> None:
    assert divided(text, separator) == expected


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(PredicateError, match="is a quote or a comment left open"):
        divided("a, 'b", ",")


def test_the_options_of_windows_and_late_records_are_a_part_of_it() -> None:
    given: list[Json] = []

    @click.command
    @definition_options
    @late_option
    @output_options
    def command(*, where: str, operator: Json) -> None:
        given.append({name: own for name, own in operator.items() if name not in ("name", "dimensions", "measures")})

    measures = ["--measures", "count(*)"]
    options = ["--output", "a, b", "--output", "", "--window", "24h", "--slide", "1h", "--emit", "changes"]
    assert CliRunner().invoke(command, [*measures, *options]).exit_code == 0
    assert CliRunner().invoke(command, measures).exit_code == 0
    assert CliRunner().invoke(command, [*measures, "--late", "apart"]).exit_code == 0
    assert CliRunner().invoke(command, [*measures, "--emit", "some"]).exit_code == 2
    assert CliRunner().invoke(command, [*measures, "--late", "drop"]).exit_code == 2
    windows = {"output": [["a", "b"], []], "window_s": 86_400, "slide_s": 3_600, "emit": "changes"}
    assert given == [windows, {}, {"late": "apart"}]


@pytest.mark.parametrize("empty", ["", "  "])
@pytest.mark.parametrize("command", ["add", "check", "run"])
def test_no_dimensions_are_not_given_by_an_empty_text(command: str, empty: str) -> None:
    ran = CliRunner().invoke(main, ["cube", command, __file__, "--dimensions", empty, "--measures", "count(*)"])
    said = f"error: --dimensions '{empty}': is empty: leave it out for a cube without dimensions"
    assert (ran.exit_code, len(ran.stderr.splitlines())) == (2, 1)
    assert ran.stderr.startswith(said)


def test_the_options_are_the_body_of_an_operator() -> None:
    given: list[tuple[str, Json]] = []

    @click.command
    @definition_options
    def command(*, where: str, operator: Json) -> None:
        given.append((where, operator))

    options = ["--dimensions", "a > b, c", "--measures", "count(*) AS n, sum(x)", "--time", "ts", "--grain", "15min"]
    assert CliRunner().invoke(command, [*options, "--where", "x > 0"]).exit_code == 0
    assert CliRunner().invoke(command, ["--measures", "count(*)"]).exit_code == 0
    assert given == [
        (
            "x > 0",
            {
                "name": "cube",
                "dimensions": [["a", "b"], ["c"]],
                "measures": ["count(*) AS n", "sum(x)"],
                "time": "ts",
                "grain_s": 900,
            },
        ),
        ("true", {"name": "cube", "dimensions": [], "measures": ["count(*)"]}),
    ]


def test_views_are_separated_by_semicolons_outside_quotes() -> None:
    given: list[Json] = []

    @click.command
    @definition_options
    @storage_options
    def command(*, where: str, operator: Json) -> None:
        given.append({name: operator.get(name) for name in ("materialise", "keep")})

    options = ["--measures", "count(*)", "--materialise", "a; b, `c;d` at 1d; ()", "--keep", "1h:30d, 1d:2y a:0"]
    assert CliRunner().invoke(command, options).exit_code == 0
    assert CliRunner().invoke(command, ["--measures", "count(*)"]).exit_code == 0
    views = [["a"], {"by": ["b", "`c;d`"], "grain_s": 86_400}, []]
    assert given == [
        {"materialise": views, "keep": ["1h:30d", "1d:2y a:0"]},
        {"materialise": None, "keep": None},
    ]


def test_the_options_of_storage_are_a_part_of_it() -> None:
    given: list[Json] = []

    @click.command
    @definition_options
    @storage_options
    def command(*, where: str, operator: Json) -> None:
        given.append({name: own for name, own in operator.items() if name not in ("name", "dimensions", "measures")})

    options = ["--measures", "count(*)", "--materialise", "a; () at 1d", "--keep", "1h:30d, 1d:2y"]
    assert CliRunner().invoke(command, [*options, "--cuboids", "0", "--cells", "9"]).exit_code == 0
    assert CliRunner().invoke(command, [*options, "--cuboids", "-1"]).exit_code == 2
    pins = ["a"], {"by": [], "grain_s": 86_400}
    assert given == [{"materialise": list(pins), "keep": ["1h:30d", "1d:2y"], "cuboids": 0, "cells": 9}]


@pytest.mark.parametrize("grain", ["2d", "1M"])
def test_a_wrong_grain_of_a_pinned_view_names_the_option(grain: str) -> None:
    options = ["--measures", "count(*)", "--materialise", f"a; carrier at {grain}"]
    ran = CliRunner().invoke(main, ["cube", "check", "late", *options])
    assert (ran.exit_code, len(ran.stderr.splitlines())) == (2, 1)
    assert ran.stderr.startswith(f"error: invalid value for --materialise: '{grain}' is no ")


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        ("", "is empty: leave it out to keep everything"),
        (",", "is empty: leave it out"),
        ("1h:30d,, 1d:2y", "has an empty band: give bands"),
    ],
)
def test_bands_that_are_empty_are_refused(keep: str, said: str) -> None:
    ran = CliRunner().invoke(main, ["cube", "check", "late", "--measures", "count(*)", "--keep", keep])
    assert (ran.exit_code, len(ran.stderr.splitlines())) == (2, 1)
    assert said in ran.stderr


def test_a_comma_after_the_last_band_is_ignored() -> None:
    given: list[Json] = []

    @click.command()
    @definition_options
    @storage_options
    def command(*, where: str, operator: Json) -> None:
        given.append(operator)

    options = ["--measures", "count(*)", "--keep", "1h:30d, 1d:2y,"]
    assert CliRunner().invoke(command, options).exit_code == 0
    assert given[0]["keep"] == ["1h:30d", "1d:2y"]
