"""Counts of records by reason. Reasons that differ only in numbers are counted together."""

from __future__ import annotations

import re
from collections import Counter

_PARTS = re.compile(
    r"(?<!\w)'[^']*'(?!\w)"  # a name
    r"|\w*[^\W\d]\w*(?:-\w+)*(?:\([0-9, ]*\))?"  # a word, as UTF-8, or a type, as DECIMAL(10,2)
    r"|(?P<number>[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)"
)
_OTHER = "N"


class ReasonCounts:
    """The number of records by reason. A number in a reason, such as a length, is shown as N if it differs between
    records.

    >>> counts = ReasonCounts()
    >>> for size in (7, 8):
    ...     counts.add(f"value is not UTF-8 text: {size} bytes, over the limit of 5")
    >>> counts.by_reason()
    {'value is not UTF-8 text: N bytes, over the limit of 5': 2}
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, ...]] = Counter()
        self._numbers: dict[tuple[str, ...], list[str]] = {}

    def add(self, reason: str) -> None:
        """Count a record with a reason."""
        texts, numbers, end = [], [], 0
        for part in _PARTS.finditer(reason):
            if part["number"] is not None:
                texts.append(reason[end : part.start()])
                numbers.append(part["number"])
                end = part.end()
        key = (*texts, reason[end:])
        self._counts[key] += 1
        known = self._numbers.setdefault(key, numbers)
        for place, number in enumerate(numbers):
            if known[place] != number:
                known[place] = _OTHER

    def by_reason(self) -> dict[str, int]:
        """Return the number of records by reason, the most frequent reason first."""
        return {self._text(key): count for key, count in self._counts.most_common()}

    def _text(self, key: tuple[str, ...]) -> str:
        *texts, last = key
        return "".join(f"{text}{number}" for text, number in zip(texts, self._numbers[key], strict=True)) + last
