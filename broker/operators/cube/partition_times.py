"""Progress of the partitions of a stream in event time, and the reason why a watermark does not advance."""

from __future__ import annotations

from typing import Any

from asc.operators.cube.json_values import instant_text
from broker.operators.cube.batch_time import Clock, PartitionState

_NAMED = 5
"""The most partitions that a sentence names."""


def partitions_of(clock: Clock) -> list[dict[str, Any]]:
    """Return each partition with its newest time and its state in the last batch, in the form of the API."""
    newest = clock.progress.newest
    return [
        {
            "partition": each,
            "newest": None if (time_us := newest.get(each)) is None else instant_text(time_us),
            "progress": state,
        }
        for each, state in sorted(clock.states.items())
    ]


def waiting_reason(time: str, clock: Clock, closes_us: int | None) -> str:
    """Return a sentence with the reason why the next pane is not closed yet, and the partition that holds the watermark
    of a time expression back. ``time``: that expression.

    ``closes_us``: the mark at which the next pane closes; None before the first record with a time.
    """
    if closes_us is None:
        sentence = f"no record had a usable time in {time} yet: the first one makes the watermark"
    else:
        needed = f"the next pane closes when the newest {time} of each partition with records is {_at(closes_us)}"
        sentence = f"{needed}{_behind(clock, closes_us)}"
    silent, waiting = _in_state(clock, "silent"), _in_state(clock, "waits")
    if silent:
        sentence += f"; {_named(silent)} {_verb(silent, 'is', 'are')} silent, and hold{_s(silent)} nothing back"
    if waiting:
        cause = "with records that are still to be read, or an end that Kafka did not report"
        sentence += f"; {_named(waiting)} wait{_s(waiting)}, {cause}"
    return sentence


def _in_state(clock: Clock, state: PartitionState) -> list[int]:
    return sorted(each for each, own in clock.states.items() if own == state)


def _behind(clock: Clock, closes_us: int) -> str:
    """Return a clause that names, of the partitions with records in the last batch, the one whose newest time is
    furthest before ``closes_us``. Return an empty text if no newest time is before it.
    """
    newest = clock.progress.newest
    known = {each: time_us for each in _in_state(clock, "read") if (time_us := newest.get(each)) is not None}
    least = min(known, key=lambda each: (known[each], each), default=None)
    if least is None or known[least] >= closes_us:
        return ""
    return f": partition {least} is the furthest behind, at {instant_text(known[least])}"


def _at(closes_us: int) -> str:
    return f"{instant_text(closes_us)} or later"


def _named(partitions: list[int]) -> str:
    """Return the names of partitions as text.

    >>> _named([3]), _named([1, 2])
    ('partition 3', 'partitions 1, 2')
    """
    shown = ", ".join(map(str, partitions[:_NAMED])) + (", ..." if len(partitions) > _NAMED else "")
    return f"partition{'' if len(partitions) == 1 else 's'} {shown}"


def _verb(partitions: list[int], one: str, several: str) -> str:
    return one if len(partitions) == 1 else several


def _s(partitions: list[int]) -> str:
    return _verb(partitions, "s", "")
