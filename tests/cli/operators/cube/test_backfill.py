"""``asc cube backfill``: the progress of a backfill as people read it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from cli.main import main

if TYPE_CHECKING:
    from cli.conftest import Address

PARTITION = {"partition": 0, "from": 0, "to": 336_776, "folded": 336_776, "expired": 0}
DONE: dict[str, Any] = {
    "id": "late",
    "phase": "done",
    "problem": None,
    "topic_id": "T",
    "offsets": [PARTITION],
    "left": 0,
    "backfilled": 130_000,
    "whole": True,
    "whole_from": "2013-01-01T00:00:00Z",
    "gaps": [],
}
RUNNING = {
    **DONE,
    **{"phase": "running", "left": 100_000, "whole": False, "whole_from": None},
    "offsets": [{**PARTITION, "folded": 236_776}],
}


def backfill(address: Address, *arguments: str, answers: list[dict[str, Any]]) -> Result:
    address.answers["/v1/queries/late/cube/backfill"] = [(200, json.dumps(own)) for own in answers]
    return CliRunner().invoke(main, ["cube", "backfill", "late", *arguments, "--server", address.url])


def test_it_waits_and_prints_the_offsets_of_each_partition(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.operators.cube.backfill._LOOK_S", 0.0)
    ran = backfill(address, answers=[RUNNING, RUNNING, DONE])
    assert (ran.exit_code, address.asked) == (0, ["/v1/queries/late/cube/backfill"] * 3)
    assert ran.stdout == "offsets 0-336775 of partition 0: 336,776 of 336,776, whole from 2013-01-01\n"


PAUSED = {"from": "2013-03-01T07:00:00Z", "to": None, "reason": "it was paused"}


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        (
            {**DONE, "whole": False, "whole_from": None, "gaps": [PAUSED]},
            [
                "offsets 0-336775 of partition 0: 336,776 of 336,776",
                "not whole from 2013-03-01T07:00:00Z to now: it was paused",
            ],
        ),
        (RUNNING, ["offsets 0-336775 of partition 0: 236,776 of 336,776", "running: 100,000 offsets are left"]),
        (
            {**RUNNING, "problem": "failed, and is tried again in 2 s: Kafka"},
            [
                "offsets 0-336775 of partition 0: 236,776 of 336,776",
                "running: 100,000 offsets are left; its last batch failed, and is tried again in 2 s: Kafka",
            ],
        ),
        (
            {**RUNNING, "phase": "off"},
            [
                "offsets 0-336775 of partition 0: 236,776 of 336,776",
                "not requested: the other records are not counted; 'asc cube backfill' requests that",
            ],
        ),
        (
            {
                **{**DONE, "whole_from": "2013-03-01T07:00:00Z"},
                "offsets": [{**PARTITION, "folded": 300_000, "expired": 36_776}],
            },
            ["offsets 0-336775 of partition 0: 300,000 of 336,776, 36,776 expired, whole from 2013-03-01T07:00:00Z"],
        ),
        ({**DONE, "offsets": [{**PARTITION, "to": 0, "folded": 0}]}, ["the topic has no records yet"]),
    ],
)
def test_the_progress(address: Address, answer: dict[str, Any], lines: list[str]) -> None:
    ran = backfill(address, "--status", answers=[answer])
    assert (ran.exit_code, ran.stdout.splitlines(), len(address.asked)) == (0, lines, 1)


def test_one_that_stops_ends_with_the_reason(address: Address) -> None:
    ran = backfill(address, answers=[{**RUNNING, "phase": "stopped", "problem": "its query is not served now"}])
    assert ran.exit_code == 1
    assert "backfill of cube 'late': does not go on: its query is not served now" in ran.stderr
    shown = backfill(address, "--no-wait", "--json", answers=[RUNNING])
    assert json.loads(shown.stdout) == RUNNING
    assert backfill(address, "--no-wait", "--status", answers=[DONE]).exit_code == 2
