"""Dictionaries: the byte-string constants of one p-attribute, each with an int64 label. The labels have the order of
the constants.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
import numpy.typing as npt

_LABELS = 1 << 30
_SPREAD = 3 * _LABELS // 4
"""The number of labels over which the labels of the first constants are spread. The remaining labels, below and above,
are for constants that are added in ascending or descending order, such as dates.
"""

_LEAST_GAP = 4
_STEP = 1 << 12
"""The greatest distance between the labels of new constants that sort after all other constants, or before all of them.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """The sorted byte-string constants of a p-attribute, each with a label (an int64). Labels have the same order as
    the constants.

    A value that is not a constant has the label of the greatest constant below the value, plus one. If no constant is
    below the value, it has the label of the smallest constant, minus one. So every interval over byte strings is an
    interval over labels.

    Invariant: labels ascend, neighbours differ by at least 2, and all labels are within (0, 2**30). Shapes: ``offsets``
    int64[m + 1] into ``data`` uint8[n]; ``labels`` int64[m]; ``heads`` uint64[m], the first 8 bytes of each constant,
    big-endian and padded with zeros. Cost: a look-up takes log2(m) comparisons, most of them of ``heads`` alone.
    """

    offsets: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.int64]
    heads: npt.NDArray[np.uint64]

    @staticmethod
    def of(constants: Iterable[bytes]) -> Dictionary:
        """Return the dictionary of some constants. Their labels are spread evenly, so that further constants fit in
        between.

        >>> names = Dictionary.of([b"oslo", b"bergen"])
        >>> names.label(b"bergen") < names.label(b"hamar") < names.label(b"oslo")
        True
        """
        ordered = sorted(set(constants))
        spacing = max(_LEAST_GAP, _SPREAD // (len(ordered) + 1))
        lengths = np.array([len(value) for value in ordered], dtype=np.int64)
        labels = (_LABELS - _SPREAD) // 2 + (np.arange(len(ordered), dtype=np.int64) + 1) * spacing
        return _pack(b"".join(ordered), lengths, labels, _heads(ordered))

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def nbytes(self) -> int:
        return self.offsets.nbytes + self.data.nbytes + self.labels.nbytes + self.heads.nbytes

    def constant(self, index: int) -> bytes:
        """Return the constant at an index of the sorted order."""
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def constants(self) -> list[bytes]:
        data = self.data.tobytes()
        ends = self.offsets.tolist()
        return [data[start:end] for start, end in pairwise(ends)]

    def labels_by_constant(self) -> dict[bytes, int]:
        """Return a dict of the labels by constant, for many look-ups."""
        return dict(zip(self.constants(), self.labels.tolist(), strict=True))

    def label(self, value: bytes) -> int:
        """Return the label of any byte string. :class:`Dictionary` says which label a value has that is not a
        constant.
        """
        index = self._rank(value)
        if index < len(self) and self.constant(index) == value:
            return int(self.labels[index])
        if index > 0:
            return int(self.labels[index - 1]) + 1
        return int(self.labels[0]) - 1 if len(self) else 0

    def value(self, label: int) -> tuple[bytes, bool]:
        """Return the constant that has a label, and True. If no constant has the label, return the greatest constant
        below the label, and False.

        If the label is below every constant, return the empty string, which sorts before all others, and False.
        """
        index = int(np.searchsorted(self.labels, label, side="right")) - 1
        return (self.constant(index), bool(self.labels[index] == label)) if index >= 0 else (b"", False)

    def with_constants(self, constants: Iterable[bytes]) -> Dictionary | None:
        """Return this dictionary with further constants; all present constants keep their labels. Return None if there
        are too few free labels between two neighbouring constants.

        New constants between two old constants are spread evenly over the gap. New constants after or before all old
        ones have labels close together. Cost: a copy of the arrays.
        """
        fresh = [value for value in sorted(set(constants)) if not self._has(value)]
        if not fresh:
            return self
        places = [self._rank(value) for value in fresh]
        labels: list[int] = []
        for place, group in groupby(places):
            count = len(list(group))
            below = int(self.labels[place - 1]) if place else 0
            above = int(self.labels[place]) if place < len(self) else max(_LABELS, below + _LEAST_GAP)
            step = (above - below) // (count + 1)
            first = below
            if place == len(self):
                step = min(step, _STEP)
            elif place == 0:
                step = min(step, _STEP)
                first = above - step * (count + 1)
            if step < _LEAST_GAP // 2 or above > _LABELS:
                return None
            labels.extend(first + step * (number + 1) for number in range(count))
        pieces: list[bytes] = []
        data, start = self.data.tobytes(), 0
        for place, value in zip(places, fresh, strict=True):
            end = int(self.offsets[place])
            pieces += (data[start:end], value)
            start = end
        pieces.append(data[start:])
        lengths = np.insert(np.diff(self.offsets), places, [len(value) for value in fresh])
        return _pack(
            b"".join(pieces),
            lengths,
            np.insert(self.labels, places, labels),
            np.insert(self.heads, places, _heads(fresh)),
        )

    def only(self, labels: npt.NDArray[np.int64]) -> Dictionary:
        """Return a dictionary of only the constants that have one of ``labels``, which ascend. The constants keep their
        labels. Cost: a copy of the arrays.
        """
        if len(labels) == len(self):
            return self
        places = np.searchsorted(self.labels, labels)
        lengths = np.diff(self.offsets)[places]
        ends = np.cumsum(lengths)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        data = self.data[np.repeat(self.offsets[places], lengths) + within]
        return _pack(data.tobytes(), lengths, self.labels[places], self.heads[places])

    def _has(self, value: bytes) -> bool:
        rank = self._rank(value)
        return rank < len(self) and self.constant(rank) == value

    def _rank(self, value: bytes) -> int:
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.constant(middle) < value:
                low = middle + 1
            else:
                high = middle
        return low


def _heads(values: Iterable[bytes]) -> npt.NDArray[np.uint64]:
    return np.array([int.from_bytes(value[:8].ljust(8, b"\0"), "big") for value in values], dtype=np.uint64)


def _pack(
    data: bytes, lengths: npt.NDArray[np.int64], labels: npt.NDArray[np.int64], heads: npt.NDArray[np.uint64]
) -> Dictionary:
    offsets = np.zeros(len(labels) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    for array in (offsets, labels, heads):
        array.setflags(write=False)
    return Dictionary(offsets, np.frombuffer(data, dtype=np.uint8), labels, heads)
