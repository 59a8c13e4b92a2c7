"""Sets of LIKE patterns on one p-attribute, all matched by reading a text once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import PlanError
from asc.frozen import arrays_of, frozen
from asc.keys.dictionary import Dictionary
from asc.keys.like import ANY

if TYPE_CHECKING:
    from asc.keys.pattern_kernels import PatternArrays

Integers = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]

CHAIN_MAX = 64
"""The greatest number of literals (texts between the ``%`` of patterns) of which each is a suffix of the next. The
search visits all of them at a byte of a text where the longest one ends.
"""

_FEW = 1_024
"""The number of patterns that the small set of a :class:`Patterns` may always have. It may have one more pattern for
each ``_SHARE`` patterns of the large set.
"""

_SHARE = 64


@dataclass(frozen=True, eq=False)
class PatternSet:
    """An Aho-Corasick automaton (1975) over the literals of some LIKE patterns, and the literals of each pattern. The
    literals of a pattern are the texts before, between and after its ``%``.

    ``offsets``, ``data``: the sorted keys of the patterns (:mod:`asc.keys.like`). ``labels`` int32[patterns]: the
    labels of the patterns in the dictionary of the plan. Pattern p has the literals
    ``literals[first_literal[p]:first_literal[p + 1]]``, to be found in this order. ``at_start``: by pattern, 1 if the
    first literal must be at the start of the text, otherwise 0. ``tails``: by pattern, the text that must be at the
    end, after the literals. ``nodes``, ``symbol``, ``root``: the automaton
    (:func:`asc.keys.pattern_kernels.link_trie`). ``starters``: by literal, the patterns that begin with it. ``enders``:
    by literal, the patterns that consist of only this literal at the end of the text.

    Invariant: immutable; literals are distinct and sorted; at most ``CHAIN_MAX`` literals form a chain in which each is
    a suffix of the next. Cost: 17 bytes for each byte of the literals, with common prefixes counted once, and about 60
    bytes for each pattern. A text is read once, whatever the number of patterns, at the cost of
    :func:`asc.keys.pattern_kernels.find_patterns`.

    Two alternatives were rejected. A general engine for sets of regular expressions needs an automaton whose states
    multiply with every ``%`` inside a pattern. A separate search for each pattern reads the text once for each pattern.
    """

    offsets: npt.NDArray[np.int64]
    data: Bytes
    labels: Integers
    first_literal: Integers
    literals: Integers
    at_start: Bytes
    first_tail: npt.NDArray[np.int64]
    tails: Bytes
    lengths: Integers
    first_starter: Integers
    starters: Integers
    first_ender: Integers
    enders: Integers
    nodes: Integers
    symbol: Bytes
    root: Integers

    @staticmethod
    def of(labels: Mapping[bytes, int]) -> PatternSet:
        """Return the pattern set of some patterns. ``labels``: the label of each pattern, by its key."""
        keys = sorted(labels)
        literals: list[list[bytes]] = []
        tails: list[bytes] = []
        is_ender: list[bool] = []
        for key in keys:
            _, *others = segments = key.split(ANY)
            key_literals = [segment for segment in segments if segment]
            ends = bool(others[-1])
            is_ender.append(ends and len(key_literals) == 1)
            tails.append(key_literals.pop() if ends and len(key_literals) > 1 else b"")
            literals.append(key_literals)
        distinct = sorted({literal for own in literals for literal in own})
        number = {literal: place for place, literal in enumerate(distinct)}
        numbers = [[number[literal] for literal in own] for own in literals]
        firsts = np.array([own[0] for own in numbers], dtype=np.int32)
        ender = np.array(is_ender, dtype=np.bool_)
        offsets, data = _packed(keys)
        first_tail, tail_data = _packed(tails)
        starting = _by_literal(firsts, np.flatnonzero(~ender), len(distinct))
        ending = _by_literal(firsts, np.flatnonzero(ender), len(distinct))
        arrays: tuple[npt.NDArray[Any], ...] = (
            offsets,
            data,
            np.array([labels[key] for key in keys], dtype=np.int32),
            np.cumsum([0, *map(len, numbers)]).astype(np.int32),
            np.array([literal for own in numbers for literal in own], dtype=np.int32),
            np.array([not key.startswith(ANY) for key in keys], dtype=np.uint8),
            first_tail,
            tail_data,
            np.array([len(literal) for literal in distinct], dtype=np.int32),
            *starting,
            *ending,
            *_trie(distinct),
        )
        return PatternSet(*(frozen(array) for array in arrays))

    def __len__(self) -> int:
        """Return the number of patterns."""
        return len(self.labels)

    @cached_property
    def arguments(self) -> PatternArrays:
        """The arrays as kernels read them. They are cached, because each batch reads them."""
        from asc.keys.pattern_kernels import EnderArrays, PatternArrays, RuleArrays, StarterArrays, TrieArrays

        return PatternArrays(
            trie=TrieArrays(nodes=self.nodes, symbol=self.symbol, root=self.root, lengths=self.lengths),
            rules=RuleArrays(
                literals=self.literals,
                first_literal=self.first_literal,
                first_tail=self.first_tail,
                tails=self.tails,
                labels=self.labels,
            ),
            starting=StarterArrays(first_starter=self.first_starter, starters=self.starters, at_start=self.at_start),
            ending=EnderArrays(first_ender=self.first_ender, enders=self.enders),
        )

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return arrays_of(self)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())

    def constants(self) -> list[bytes]:
        """Return the keys of the patterns."""
        data, ends = self.data.tobytes(), self.offsets.tolist()
        return [data[low:high] for low, high in pairwise(ends)]

    def find(self, texts: pa.Array) -> tuple[npt.NDArray[np.int64], Integers]:
        """Return the patterns that each text matches, as two arrays: offsets and labels. The caller ensures that no
        text is NULL.

        The labels of the patterns that text i matches are ``labels[offsets[i]:offsets[i + 1]]``, sorted. The offsets
        are int64[texts + 1].
        """
        # Imported late: a caller that only parses predicates does not load the kernels.
        from asc.keys.pattern_kernels import SearchArrays, WaitingArrays, find_patterns

        _, offsets, data = texts.buffers()
        # Some of Arrow's buffers are writable; numba would compile the kernels for both kinds.
        places = frozen(np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1])
        content = frozen(np.frombuffer(data if data is not None else b"", dtype=np.uint8))
        seen, quiet, head_of = np.zeros((3, len(self.lengths)), dtype=np.int64)
        link, place, position = np.zeros((3, len(self)), dtype=np.int32)
        head = np.zeros(len(self.lengths), dtype=np.int32)
        search = SearchArrays(seen, quiet, WaitingArrays(head, head_of, link, place, position))
        ends = np.zeros(len(texts) + 1, dtype=np.int64)
        matched = np.empty(len(texts) + 2 * len(self), dtype=np.int32)
        text, count = 0, 0
        while True:
            text, count = find_patterns(places, content, text, self.arguments, search, ends[1:], matched, count)
            if text == len(texts):
                return ends, matched[:count]
            matched = np.concatenate([matched, np.empty_like(matched)])


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """The LIKE patterns of one p-attribute: a large set, and a small set of patterns that were added later. So an added
    pattern does not change the large set.

    Invariant: ``sets`` has one or two sets, without a common pattern. Cost: a text is read once for each set.
    """

    sets: tuple[PatternSet, ...]

    @staticmethod
    def of(dictionary: Dictionary) -> Patterns:
        """Return the patterns whose keys are the constants of a dictionary, in one set."""
        return Patterns((PatternSet.of(dictionary.labels_by_constant()),))

    def with_constants(self, keys: Iterable[bytes], dictionary: Dictionary) -> Patterns:
        """Return these patterns together with further ones. ``keys``: the keys of the further patterns. The caller
        ensures that ``dictionary`` already has these keys.
        """
        label_of = {key: dictionary.label(key) for key in keys}
        known = {label for one in self.sets for label in np.intersect1d(one.labels, list(label_of.values())).tolist()}
        later = {key: label for key, label in label_of.items() if label not in known}
        if not later:
            return self
        for one in self.sets[1:]:
            later.update(zip(one.constants(), one.labels.tolist(), strict=True))
        if len(later) > _FEW + len(self.sets[0]) // _SHARE:
            return Patterns.of(dictionary)
        return Patterns((self.sets[0], PatternSet.of(later)))

    def relabelled(self, dictionary: Dictionary) -> Patterns:
        """Return the same patterns with the labels that they have in another dictionary."""
        label_of = dictionary.labels_by_constant()
        moved = []
        for one in self.sets:
            labels = np.array([label_of[key] for key in one.constants()], dtype=np.int32)
            moved.append(replace(one, labels=frozen(labels)))
        return Patterns(tuple(moved))

    @property
    def nbytes(self) -> int:
        return sum(one.nbytes for one in self.sets)

    def __len__(self) -> int:
        """Return the number of patterns."""
        return sum(map(len, self.sets))

    def find(self, texts: pa.Array) -> tuple[npt.NDArray[np.int64], Integers]:
        """Find the patterns of all sets in texts, as :meth:`PatternSet.find` does."""
        found = [one.find(texts) for one in self.sets]
        if len(found) == 1 or not len(found[1][1]):
            return found[0]
        counts = [np.diff(ends) for ends, _ in found]
        labels = np.concatenate([own for _, own in found])
        texts_of = np.concatenate([np.repeat(np.arange(len(texts)), own) for own in counts])
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sum(counts))])
        return ends, labels[np.lexsort((labels, texts_of))]


def _packed(values: Sequence[bytes]) -> tuple[npt.NDArray[np.int64], Bytes]:
    offsets = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum([len(value) for value in values], out=offsets[1:])
    return offsets, np.frombuffer(b"".join(values), dtype=np.uint8)


def _by_literal(firsts: Integers, patterns: npt.NDArray[np.intp], literals: int) -> tuple[Integers, Integers]:
    """Return the patterns grouped by their first literal: the offsets of each literal's group, and the patterns."""
    own = firsts[patterns]
    first = np.zeros(literals + 1, dtype=np.int32)
    np.cumsum(np.bincount(own, minlength=literals), out=first[1:])
    return first, patterns[np.argsort(own, kind="stable")].astype(np.int32)


def _trie(literals: Sequence[bytes]) -> tuple[Integers, Bytes, Integers]:
    """Return the arrays of the Aho-Corasick automaton for some literals: its nodes, their symbols, and the children of
    the root. Raise PlanError if more than ``CHAIN_MAX`` literals form a chain in which each is a suffix of the next.
    """
    from asc.keys.pattern_kernels import link_trie, make_trie

    offsets, data = _packed(literals)
    capacity = len(data) + 1
    parent, out = np.zeros((2, capacity), dtype=np.int32)
    symbol = np.zeros(capacity, dtype=np.uint8)
    number = make_trie(offsets, data, parent, symbol, out)
    symbol = symbol[:number].copy()
    nodes, root = np.zeros((number + 1, 4), dtype=np.int32), np.zeros(256, dtype=np.int32)
    longest = link_trie(parent[:number], symbol, out[:number], nodes, root)
    if longest > CHAIN_MAX:
        raise PlanError(
            "LIKE patterns that end in one another",
            longest,
            f"at most {CHAIN_MAX} parts ('%b%', '%ab%', '%aab%', ...) of which each is the end of the next",
        )
    return nodes, symbol, root
