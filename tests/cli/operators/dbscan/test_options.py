"""The options of a DBSCAN query: each refusal names the option and a remedy."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from cli.operators.dbscan.commands import dbscan

PLAIN = {"--attributes": "x, y", "--eps": "1", "--min-samples": "5", "--window": "10min", "--slide": "1min"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"--eps": "nan"}, "'nan' is no number: write one as 0.05, or several as 0.05,0.1"),
        ({"--eps": "0.1,,2"}, "'' is no number"),
        ({"--min-samples": "5 points"}, "'5 points' is no number"),
        ({"--window": "long"}, "'long' is no span: write a time, as 10min, or a number of points, as 5000"),
        ({"--window": "10 weeks"}, "'10 weeks' is no duration"),
        ({"--slide": "100"}, "give --window and --slide both as a time, or both as a number of points"),
        ({"--position": "ST_Point(x, y)"}, "give --attributes or --position"),
        ({"--attributes": None}, "give --attributes or --position"),
        ({"--members": "some"}, "'some' is not one of"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_sent(changed: dict[str, str | None], said: str) -> None:
    options = [part for name, value in {**PLAIN, **changed}.items() if value is not None for part in (name, value)]
    ran = CliRunner().invoke(dbscan, ["add", "x", *options])
    assert ran.exit_code == 2
    assert said in " ".join(ran.output.split())
