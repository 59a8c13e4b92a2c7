"""The counts of a stream's records that could not be decoded, by reason."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from broker.formats.dead_letter_reason import DeadLetterReason

LOG = logging.getLogger("asc.dead-letters")

_LOGGED_EVERY_S = 60.0


class DeadLetters:
    """The counts of records of one stream that became dead letters on decoding, by reason, since the daemon started.

    The records of a replayed batch are counted again. The log has a line for the first dead letters, then at most one
    line a minute with the count since the last line. Cost: one number for each reason that occurred. The number of
    reasons is that of the stream's columns and a few more.
    """

    def __init__(
        self, stream: str, reasons: Sequence[DeadLetterReason], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._reasons = reasons
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: Counter[int] = Counter()
        self._unlogged: Counter[int] = Counter()
        self._logged_at_s: float | None = None

    def count(self, numbers: Mapping[int, int]) -> None:
        """Add the counts of a batch, by the number of the reason (from 1). To be called for every batch."""
        with self._lock:
            self._counts.update(numbers)
            self._unlogged.update(numbers)
            now = self._clock()
            if not self._unlogged or (self._logged_at_s is not None and now < self._logged_at_s + _LOGGED_EVERY_S):
                return
            unlogged, self._unlogged, self._logged_at_s = self._unlogged, Counter(), now
        ((most, _),) = unlogged.most_common(1)
        said = _said(unlogged.total(), unlogged[most], self._reasons[most - 1].text, len(unlogged) - 1)
        LOG.warning("stream '%s': %s", self._stream, said)

    def counts(self) -> list[tuple[DeadLetterReason, int]]:
        """Return the reasons that occurred, with their counts, the most frequent reason first."""
        with self._lock:
            counted = self._counts.most_common()
        return [(self._reasons[number - 1], count) for number, count in counted]


def _said(total: int, of_most: int, most: str, others: int) -> str:
    """Return a log text: the number of dead letters, the most frequent reason, and the number of other reasons.

    >>> _said(1, 1, "value is empty", 0)
    '1 record was not decoded and is a dead letter: value is empty'
    >>> _said(4, 3, "value is empty", 1)
    '4 records were not decoded and are dead letters, 3 of them: value is empty, and 1 other reason'
    """
    if total == 1:
        return f"1 record was not decoded and is a dead letter: {most}"
    of_them = f", {of_most} of them" if others else ""
    tail = f", and {others} other reason{'s' if others > 1 else ''}" if others else ""
    return f"{total} records were not decoded and are dead letters{of_them}: {most}{tail}"
