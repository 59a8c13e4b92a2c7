"""Refusals of questions on the command line: what they say to give, the options accept."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from cli.duration import Duration
from cli.main import main
from cli.operators.cube.grain import RowGrain

if TYPE_CHECKING:
    from cli.conftest import Address


def refused(address: Address, subject: str, value: object, remedy: str) -> str:
    """Return the line of the command for a refusal of the daemon."""
    error = {"message": f"{subject} {value!r}: {remedy}", "subject": subject, "value": value, "remedy": remedy}
    address.answers["/v1/queries/late/cube/query"] = [(400, json.dumps({"error": error}))]
    ran = CliRunner().invoke(main, ["cube", "query", "late", "--server", address.url])
    assert (ran.exit_code, len(ran.stderr.splitlines())) == (1, 1)
    return ran.stderr.strip()


@pytest.mark.parametrize(
    ("subject", "value", "remedy", "line"),
    [
        (
            "grain_s",
            3_600,
            "is no multiple: give 86400, or ask later",
            "--grain '1h': is no multiple: give 24h, or ask",
        ),
        ("grain_s", 3_600, "is no multiple: give 604800", "--grain '1h': is no multiple: give 7d"),
        ("grain_s", 3_600, "is no multiple: give last_s 2610000", "--grain '1h': is no multiple: give --last 725h"),
        ("grain_s", 1_800, "is off: give one, as 3600", "--grain '30min': is off: give one, as 1h"),
        (
            "grain_s",
            604_800,
            "give seconds that divide an hour, or whole hours that divide 24, as 60, 900, 3600 or 86400",
            "--grain '7d': give a length that divides an hour, or whole hours that divide 24, as 1min, 15min, 1h or",
        ),
        (
            "last_s",
            3_600,
            "begins early: give a time, as 2026-05-29",
            "--last '1h': begins early: give a time, as 2026-0",
        ),
        ("last_s", 5_184_000, "begins too early: give 2610000", "--last '60d': begins too early: give 725h"),
        ("grain", "1d", "not whole: give grain_s 86400, or", "grain '1d': not whole: give --grain 24h, or"),
        ("answer_from", "a", "is one: leave answer_from out", "--answer-from 'a': is one: leave --answer-from out"),
        ("answer_from", 7, "is no grain: give 900", "--answer-from 7: is no grain: give 900"),
        ("from", "2013", "is off the grain: give 2014", "from '2013': is off the grain: give 2014"),
    ],
)
def test_a_remedy_is_in_the_form_of_the_options(
    address: Address, subject: str, value: object, remedy: str, line: str
) -> None:
    found = refused(address, subject, value, remedy)
    assert found.startswith(f"error: {line}")
    if "answer" not in found and (match := re.search(r"give (?:--(?:grain|last) )?([0-9]+[a-z]+)", found)):
        seconds = re.search(r"give (?:\w+ )?([0-9]+)", remedy)
        assert seconds is not None
        if "--last" in found:
            assert Duration().convert(match[1], None, None) == int(seconds[1])
        else:
            assert RowGrain().convert(match[1], None, None) == {"grain_s": int(seconds[1])}
