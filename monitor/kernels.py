# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""The compiled inner loops of measuring. Shapes and dtypes are the callers' duty.

Everywhere: ``regions`` uint16[constructs, tuples] is a sample, ``matrix`` uint64[rows, words] a block's, and ``rows``
int64[constructs] the row of each construct's first region. A construct without known values has row 0 and regions 0:
the GRB to start with, which rules nothing out.
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
    """Evaluate every tuple along a hybrid-sequence (section 5.1): ``asc.evaluation.block_kernels.walk``, emitting
    nothing.

    ``sequence`` int32[c]; ``arrows`` int32[rows of the matrix], empty for none at all. Scratch: ``geb`` int64[c],
    ``grb`` uint64[words]. ``costs`` uint16[tuples] receives the constructs evaluated of each tuple. Returns the tuples
    whose GRB became all zeros, and the micro-arrows followed.
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
    """Count the tuples dropped by ``prefix`` alone (returned), and by it and each of ``candidates`` (int64[n]
    ``dropped``, zeros when called).
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
    """Evaluate the next construct of every live tuple; put those whose GRB is left first in ``live``, return how many.

    ``live`` int64[n]: the live tuples. By tuple: ``targets`` int32, its next construct; ``grb`` and ``missing``
    uint64[words], the conjuncts left and those that no construct evaluated covers; ``geb`` bool[c]; ``places`` int64
    receives the matrix row visited.
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
    """Take from each group's ``candidates`` (bool[g, c]) what a tuple of it evaluated; ``covered`` (bool[g]) becomes
    False where a tuple has no cover set yet.

    ``groups`` int64[rows of the matrix]: the group of the tuples that visited a row, -1 for none.
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
    """Return 1 when a tuple's GRB keeps a 1 after a matrix row, else 0."""
    for word in range(matrix.shape[1]):
        if grb[number, word] & matrix[place, word] != 0:
            return 1
    return 0


@compiled
def _left(grb: Array, number: int, matrix: Array, place: int) -> Any:
    """Return the ones that a tuple's GRB keeps after a matrix row."""
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
    """Add up, by group, what is left after each candidate (``left`` int64[g, c]) and after each tuple's macro successor
    (``macro_left`` int64[g]): tuples where the group is covered, else conjuncts.

    ``targeted`` int64[g]: the tuples of the group, or the conjuncts left of them before. All zeros when called.
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
    """Return the next construct of every live tuple: where the micro-arrow of its region leads, unless that is
    evaluated, else the first unevaluated one of the macro-sequence.

    ``arrows`` int32[rows of the matrix]. Puts the tuples that have one first in ``live``, returns how many.
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
