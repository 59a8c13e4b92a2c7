"""Selections of points: a code for each distinct set of selections that accepts a point."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

NONE = -1
"""The code of a point that no watched selection accepts."""

_NAMES_REMEMBERED = 100_000
"""The most names, over all tuples of selections whose codes are remembered. If a further tuple exceeds this number, all
tuples are forgotten.
"""

_Codes = npt.NDArray[np.int32]


class Selections:
    """The selections of a track that its queries use (watched selections). Each set of watched selections that accepts
    some point has a code.

    Memory: a bit for each watched selection in each set. Sets that no longer occur are removed by :meth:`kept`.
    """

    def __init__(self, watched: Iterable[str], sets: Iterable[int] = ()) -> None:
        self.watched = tuple(sorted(set(watched)))
        self._places = {name: place for place, name in enumerate(self.watched)}
        self._sets = list(sets)
        self._codes = {own: code for code, own in enumerate(self._sets)}
        self._known: dict[tuple[str, ...], int] = {}
        self._known_names = 0
        self._bits: npt.NDArray[np.uint8] | None = None

    @property
    def sets(self) -> Sequence[int]:
        """Return the set of each code, as an integer with the bit ``1 << n`` for the watched selection n."""
        return self._sets

    def code(self, selections: tuple[str, ...]) -> int:
        """Return the code of the set of watched selections among the given selections. Return NONE if none of them is
        watched.
        """
        known = self._known.get(selections)
        if known is not None:
            return known
        places, bits = self._places, 0
        for name in selections:
            place = places.get(name)
            if place is not None:
                bits |= 1 << place
        code = self._code_of(bits)
        self._remember(selections, code)
        return code

    def _remember(self, selections: tuple[str, ...], code: int) -> None:
        # Each message of the feed has new text objects for its names, so their number bounds the memory.
        names = len(selections)
        if names > _NAMES_REMEMBERED:
            return
        if self._known_names + names > _NAMES_REMEMBERED:
            self._known.clear()
            self._known_names = 0
        self._known[selections] = code
        self._known_names += names

    def _code_of(self, own: int) -> int:
        if own == 0:
            return NONE
        code = self._codes.setdefault(own, len(self._sets))
        if code == len(self._sets):
            self._sets.append(own)
            self._bits = None
        return code

    def accepted(self, selections: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Return for each code whether its set contains at least one of the given selections, bool[codes]."""
        bits = self._matrix()
        found = np.zeros(len(self._sets), dtype=np.bool_)
        for name in selections:
            place = self._places.get(name)
            if place is not None:
                found |= (bits[:, place >> 3] >> (place & 7) & 1).astype(np.bool_)
        return found

    def _matrix(self) -> npt.NDArray[np.uint8]:
        """Return the bits of all sets of selections, uint8[sets, bytes]."""
        if self._bits is None:
            width = (len(self.watched) + 7) // 8
            content = b"".join(own.to_bytes(width, "little") for own in self._sets)
            self._bits = np.frombuffer(content, dtype=np.uint8).reshape(len(self._sets), width)
        return self._bits

    def watching(self, watched: Iterable[str], codes: _Codes) -> tuple[Selections, _Codes]:
        """Return the selections after the watched names are replaced by ``watched``. Also return the new code of each
        point; NONE if no watched selection accepts the point.
        """
        found = Selections(watched)
        places = {place: found._places.get(name) for name, place in self._places.items()}
        moved = np.array([found._code_of(_moved(own, places)) for own in self._sets], dtype=np.int32)
        return found, moved[codes] if len(codes) else codes

    def kept(self, codes: _Codes) -> tuple[Selections, _Codes]:
        """Return the selections with only the sets whose codes occur in ``codes``, the codes of the points. The sets
        are in the order of their first points. Also return the new code of each point.
        """
        values, firsts = np.unique(codes, return_index=True)
        order = values[np.argsort(firsts)]
        moved = np.full(len(self._sets) + 1, NONE, dtype=np.int32)
        moved[order] = np.arange(len(order), dtype=np.int32)
        return Selections(self.watched, [self._sets[code] for code in order.tolist()]), moved[codes]

    def plain(self) -> dict[str, Any]:
        """Return the selections as a JSON object."""
        return {"watched": list(self.watched), "sets": [f"{own:x}" for own in self._sets]}

    @staticmethod
    def of_plain(plain: dict[str, Any]) -> Selections:
        """Return the selections from the JSON object that :meth:`plain` returned."""
        return Selections(plain["watched"], [int(own, 16) for own in plain["sets"]])


def _moved(bits: int, places: dict[int, int | None]) -> int:
    moved_bits = 0
    while bits:
        lowest = bits & -bits
        place = places[lowest.bit_length() - 1]
        if place is not None:
            moved_bits |= 1 << place
        bits ^= lowest
    return moved_bits
