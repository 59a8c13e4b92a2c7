"""Dead letters counted by reason, and told a line a minute."""

from __future__ import annotations

import pytest

from broker.formats.dead_letter_reason import DeadLetterReason
from broker.stream.metrics.dead_letters import DeadLetters

EMPTY = DeadLetterReason("value is empty")
NO_INT = DeadLetterReason("malformed: column 'n' holds no INT", "malformed", "n")


def test_they_are_counted_by_reason_and_told_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    now = 100.0
    letters = DeadLetters("flights", (EMPTY, NO_INT), lambda: now)
    letters.count({})
    assert (letters.counts(), caplog.messages) == ([], [])
    letters.count({2: 3, 1: 1})
    letters.count({2: 5})
    assert letters.counts() == [(NO_INT, 8), (EMPTY, 1)]
    assert caplog.messages == [
        "stream 'flights': 4 records were not decoded and are dead letters, 3 of them: malformed: column 'n' holds "
        "no INT, and 1 other reason"
    ]
    # What came within the minute is told after it, by whatever batch comes.
    now = 161.0
    letters.count({})
    assert caplog.messages[1:] == [
        "stream 'flights': 5 records were not decoded and are dead letters: malformed: column 'n' holds no INT"
    ]
    letters.count({})
    assert len(caplog.messages) == 2
    now = 222.0
    letters.count({1: 1})
    assert caplog.messages[2:] == ["stream 'flights': 1 record was not decoded and is a dead letter: value is empty"]
