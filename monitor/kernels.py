# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""Compiled loops that measure constructs on a sample. Callers guarantee the shapes and dtypes of the arrays.

In all functions ``regions`` uint16[constructs, tuples] is a sample, and ``matrix`` uint64[rows, words] is that of a
block. ``rows`` int64[constructs] is the row of each construct's first region. A construct without known values has row
0 and regions 0: this is the initial GRB, which excludes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled, ones

Array = npt.NDArray[Any]


@compiled
def walk_sample(
    regions: Array, matrix: Array, rows: Array, sequence: Array, arrows: Array, geb: Array, grb: Array, costs: Array
) -> tuple[int, int]:
    """Evaluate every tuple along a hybrid-sequence (section 5.1), as ``asc.evaluation.block_kernels.walk`` does, but
    without emitting pairs.

    ``sequence`` int32[c]; ``arrows`` int32[rows of the matrix], empty if there are no micro-arrows. Scratch: ``geb``
    int64[c], ``grb`` uint64[words]. ``costs`` uint16[tuples] receives the number of constructs evaluated for each
    tuple. Returns the number of tuples whose GRB became all zeros, and the number of micro-arrows followed.
    """
    words = matrix.shape[1]
    constructs = sequence.size
    dropped = 0
    micro_arrows = 0
    # A construct is evaluated where its entry of the GEB is the number of the tuple: none has to be cleared.
    geb[:] = -1
    for number in range(costs.size):
        any_left = np.uint64(0)
        for word in range(words):
            grb[word] = matrix[0, word]
            any_left |= grb[word]
        cost = 0
        successor = 0
        target = -1
        while any_left != 0:
            if target >= 0 and geb[target] != number:
                micro_arrows += 1
            else:
                while successor < constructs and geb[sequence[successor]] == number:
                    successor += 1
                if successor == constructs:
                    break
                target = sequence[successor]
            geb[target] = number
            cost += 1
            place = rows[target] + regions[target, number]
            any_left = np.uint64(0)
            for word in range(words):
                left = grb[word] & matrix[place, word]
                grb[word] = left
                any_left |= left
            target = arrows[place] if arrows.size > 0 else -1
        costs[number] = cost
        if any_left == 0:
            dropped += 1
    return dropped, micro_arrows


@compiled
def drop_by_each(
    regions: Array, matrix: Array, rows: Array, prefix: Array, candidates: Array, grb: Array, dropped: Array
) -> int:
    """Return the number of tuples that ``prefix`` drops. Count in ``dropped`` the tuples that the prefix and each
    candidate drop together.

    ``dropped`` int64[n] is zeros when called, and has one entry for each of ``candidates``.
    """
    words = matrix.shape[1]
    by_prefix = 0
    for number in range(regions.shape[1]):
        any_left = np.uint64(0)
        for word in range(words):
            grb[word] = matrix[0, word]
            any_left |= grb[word]
        for i in range(prefix.size):
            if any_left == 0:
                break
            place = rows[prefix[i]] + regions[prefix[i], number]
            any_left = np.uint64(0)
            for word in range(words):
                left = grb[word] & matrix[place, word]
                grb[word] = left
                any_left |= left
        if any_left == 0:
            by_prefix += 1
            for i in range(candidates.size):
                dropped[i] += 1
            continue
        for i in range(candidates.size):
            place = rows[candidates[i]] + regions[candidates[i], number]
            word = 0
            while word < words and grb[word] & matrix[place, word] == 0:
                word += 1
            if word == words:
                dropped[i] += 1
    return by_prefix


@compiled
def visit(
    regions: Array,
    matrix: Array,
    rows: Array,
    qubs: Array,
    live: Array,
    targets: Array,
    grb: Array,
    missing: Array,
    geb: Array,
    places: Array,
) -> int:
    """Evaluate the next construct of every live tuple. Put the tuples whose GRB is not zero first in ``live``, and
    return their number.

    ``live`` int64[n]: the live tuples. By tuple: ``targets`` int32 is the next construct. ``grb`` and ``missing``
    uint64[words] are the conjuncts left and the conjuncts that no evaluated construct covers. ``geb`` bool[c] are the
    evaluated constructs. ``places`` int64 receives the matrix row visited.
    """
    kept = 0
    for i in range(live.size):
        number = live[i]
        target = targets[number]
        place = rows[target] + regions[target, number]
        any_left = np.uint64(0)
        for word in range(matrix.shape[1]):
            left = grb[number, word] & matrix[place, word]
            grb[number, word] = left
            any_left |= left
            missing[number, word] &= ~qubs[target, word]
        geb[number, target] = True
        places[number] = place
        if any_left != 0:
            live[kept] = number
            kept += 1
    return kept


@compiled
def narrow(
    live: Array, groups: Array, places: Array, missing: Array, geb: Array, candidates: Array, covered: Array
) -> None:
    """Remove from each group's ``candidates`` (bool[g, c]) the constructs that a tuple of the group has evaluated.

    ``covered`` (bool[g]) becomes False if a tuple of the group has not evaluated a cover set yet. ``groups`` int64[rows
    of the matrix]: the group of the tuples that visited a row, -1 if there is none.
    """
    for i in range(live.size):
        number = live[i]
        group = groups[places[number]]
        if group < 0:
            continue
        for construct in range(candidates.shape[1]):
            if geb[number, construct]:
                candidates[group, construct] = False
        for word in range(missing.shape[1]):
            if missing[number, word] != 0:
                covered[group] = False
                break


@compiled
def _survives(grb: Array, number: int, matrix: Array, place: int) -> int:
    """Return 1 if the GRB of a tuple still has a 1 after AND with a matrix row, otherwise 0."""
    for word in range(matrix.shape[1]):
        if grb[number, word] & matrix[place, word] != 0:
            return 1
    return 0


@compiled
def _left(grb: Array, number: int, matrix: Array, place: int) -> Any:
    """Return the number of ones of a tuple's GRB after AND with a matrix row."""
    left = np.uint64(0)
    for word in range(matrix.shape[1]):
        left += ones(grb[number, word] & matrix[place, word])  # type: ignore[call-arg]
    return np.int64(left)


@compiled
def measure(
    regions: Array,
    matrix: Array,
    rows: Array,
    sequence: Array,
    live: Array,
    groups: Array,
    places: Array,
    grb: Array,
    geb: Array,
    candidates: Array,
    covered: Array,
    left: Array,
    macro_left: Array,
    targeted: Array,
) -> None:
    """Add up, by group, the count left after each candidate and after each tuple's macro successor.

    ``left`` int64[g, c] and ``macro_left`` int64[g] count tuples if the group is covered, otherwise conjuncts.
    ``targeted`` int64[g] counts the tuples of the group, or the conjuncts left before. All three are zeros when called.
    """
    for i in range(live.size):
        number = live[i]
        group = groups[places[number]]
        if group < 0:
            continue
        is_covered = covered[group]
        targeted[group] += 1 if is_covered else _left(grb, number, matrix, 0)
        successor = 0
        while successor < sequence.size and geb[number, sequence[successor]]:
            successor += 1
        if successor == sequence.size:
            continue
        for construct in range(candidates.shape[1]):
            is_successor = construct == sequence[successor]
            if not candidates[group, construct] and not is_successor:
                continue
            place = rows[construct] + regions[construct, number]
            own = _survives(grb, number, matrix, place) if is_covered else _left(grb, number, matrix, place)
            if candidates[group, construct]:
                left[group, construct] += own
            if is_successor:
                macro_left[group] += own


@compiled
def follow(live: Array, places: Array, arrows: Array, geb: Array, sequence: Array, targets: Array) -> int:
    """Set the next construct of every live tuple, and return the number of tuples that have one.

    The next construct is the target of the region's micro-arrow, unless that is already evaluated. Then it is the first
    unevaluated construct of the macro-sequence. ``arrows`` int32[rows of the matrix]. The tuples that have a next
    construct are put first in ``live``.
    """
    kept = 0
    for i in range(live.size):
        number = live[i]
        target = arrows[places[number]]
        if target < 0 or geb[number, target]:
            successor = 0
            while successor < sequence.size and geb[number, sequence[successor]]:
                successor += 1
            if successor == sequence.size:
                continue
            target = sequence[successor]
        targets[number] = target
        live[kept] = number
        kept += 1
    return kept
