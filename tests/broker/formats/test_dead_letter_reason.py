"""A reason is of its own kind unless it is told otherwise."""

from __future__ import annotations

from broker.formats.dead_letter_reason import DeadLetterReason


def test_a_reason_without_a_column_is_its_own_kind() -> None:
    assert DeadLetterReason("value is null") == DeadLetterReason("value is null", "value is null", None)
    assert DeadLetterReason("no: column 'n' holds no INT", "no", "n").kind == "no"
