"""What is said while records do not come: once, and only where it may not be what was meant."""

from __future__ import annotations

import pytest

from cli.idle_notice import IdleNotice


@pytest.mark.parametrize(
    ("limit", "from_beginning", "came", "said"),
    [
        (3, True, 2, "2 of 3 records so far: waiting for more until Ctrl-C; --exit stops where the topic ends\n"),
        (
            1_000,
            False,
            0,
            "0 of 1,000 records so far: waiting for more until Ctrl-C; --from-beginning reads those that are there; "
            "--exit stops where the topic ends\n",
        ),
        (None, True, 0, "no record so far: waiting for more until Ctrl-C; --exit stops where the topic ends\n"),
        (None, True, 1, ""),
    ],
    ids=["some", "none", "all", "comes"],
)
def test_it_is_said_once_after_five_seconds(
    capsys: pytest.CaptureFixture[str], limit: int | None, from_beginning: bool, came: int, said: str
) -> None:
    now_s = 100.0
    patience = IdleNotice(limit, from_beginning=from_beginning, clock_s=lambda: now_s)
    now_s = 104.0
    for _ in range(came):
        patience.came()
    now_s = 105.5 if not came else 108.5
    before = capsys.readouterr().err
    if came:
        patience.idle()
        assert capsys.readouterr().err == before == ""
        now_s = 109.5
    for _ in range(3):
        patience.idle()
    assert capsys.readouterr().err == said
