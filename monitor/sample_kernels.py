# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Compiled loops that measure constructs on a sample. Callers guarantee the shapes and dtypes of the arrays.

In all functions, ``sample`` is a sample of tuples, reduced to the regions that the tuples visit in one block.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled, ones

Array = npt.NDArray[Any]


class SampleArrays(NamedTuple):
    """A sample of tuples, and the block that evaluates the tuples.

    ``regions`` uint16[constructs, tuples]: the regions of the sample. ``matrix`` uint64[rows, words]: the matrix of the
    block. ``rows`` int64[constructs]: the row of each construct's first region. A construct whose values were not
    sampled has row 0 and regions 0. Row 0 of the matrix is the initial GRB, which excludes nothing.
    """

    regions: Array
    matrix: Array
    rows: Array


class LevelArrays(NamedTuple):
    """The states of tuples that are evaluated level by level.

    ``live`` int64[n]: the tuples whose GRB is not zero. The other arrays have one entry per tuple. ``targets`` int32:
    the next construct. ``grb`` uint64[words]: the GRB. ``missing`` uint64[words]: the conjuncts that no evaluated
    construct covers. ``geb`` bool[c]: True for each evaluated construct. ``places`` int64: the matrix row last visited.
    """

    live: Array
    targets: Array
    grb: Array
    missing: Array
    geb: Array
    places: Array


class GroupArrays(NamedTuple):
    """Groups of live tuples, and the measures of each group. The tuples of a group last visited the same row of the
    matrix.

    ``of_row`` int64[rows of the matrix]: the group of the tuples that visited a row, -1 if the row has no group.
    ``candidates`` bool[g, c]: the constructs that a micro-arrow may lead to. ``covered`` bool[g]: True if every tuple
    of the group has evaluated a cover set. The last three arrays count tuples if the group is covered, otherwise
    conjuncts, summed over the tuples of the group. ``left`` int64[g, c]: the number left after each candidate.
    ``macro_left`` int64[g]: the number left after the macro successors, which are the next constructs along the
    macro-sequence. ``targeted`` int64[g]: the number before.
    """

    of_row: Array
    candidates: Array
    covered: Array
    left: Array
    macro_left: Array
    targeted: Array


@compiled
def walk_sample(
    sample: SampleArrays, sequence: Array, arrows: Array, geb: Array, grb: Array, costs: Array
) -> tuple[int, int]:
    """Evaluate every tuple of a sample along a hybrid-sequence (section 5.1 of the paper), to measure its cost. The
    function ``asc.evaluation.block_kernels.walk`` does the same and also writes the accepted pairs.

    ``sequence`` int32[c]: the macro-sequence. ``arrows`` int32[rows of the matrix]: the micro-arrows; empty if there
    are none. ``geb`` int64[c] and ``grb`` uint64[words]: scratch memory. ``costs`` uint16[tuples] receives the number
    of constructs evaluated for each tuple. Returns the number of tuples whose GRB became all zeros, and the number of
    micro-arrows followed.
    """
    regions, matrix, rows = sample.regions, sample.matrix, sample.rows
    words = matrix.shape[1]
    constructs = sequence.size
    dropped = 0
    micro_arrows = 0
    # A construct counts as evaluated if its entry of the GEB is the number of the tuple, so the GEB is never cleared.
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
def drop_by_each(sample: SampleArrays, prefix: Array, candidates: Array, grb: Array, dropped: Array) -> int:
    """Return the number of tuples that the constructs ``prefix`` drop, which means that the GRB is all zeros after
    them. For each candidate, add to ``dropped`` the number of tuples that the prefix and this candidate together drop.

    ``dropped`` int64[n] has one entry for each of ``candidates``. The caller passes zeros.
    """
    regions, matrix, rows = sample.regions, sample.matrix, sample.rows
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
def visit(sample: SampleArrays, qubs: Array, level: LevelArrays) -> int:
    """Evaluate the next construct of every live tuple, which is a tuple whose GRB is not zero. Move the tuples that are
    still live to the front of ``level.live``, and return the number of these tuples.
    """
    regions, matrix, rows = sample.regions, sample.matrix, sample.rows
    live, targets, places = level.live, level.targets, level.places
    grb, missing, geb = level.grb, level.missing, level.geb
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
def narrow(level: LevelArrays, groups: GroupArrays) -> None:
    """Remove from the ``candidates`` of each group every construct that some tuple of the group has evaluated.

    Set ``covered`` of a group to False if some tuple of the group has not evaluated a cover set yet.
    """
    live, places, missing, geb = level.live, level.places, level.missing, level.geb
    of_row, candidates, covered = groups.of_row, groups.candidates, groups.covered
    for i in range(live.size):
        number = live[i]
        group = of_row[places[number]]
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
    """Return 1 if the AND of a tuple's GRB and row ``place`` of the matrix is not zero, otherwise 0. ``number``: the
    index of the tuple.
    """
    for word in range(matrix.shape[1]):
        if grb[number, word] & matrix[place, word] != 0:
            return 1
    return 0


@compiled
def _left(grb: Array, number: int, matrix: Array, place: int) -> Any:
    """Return the number of ones in the AND of a tuple's GRB and row ``place`` of the matrix. ``number``: the index of
    the tuple.
    """
    left = np.uint64(0)
    for word in range(matrix.shape[1]):
        left += ones(grb[number, word] & matrix[place, word])  # type: ignore[call-arg]
    return np.int64(left)


@compiled
def measure(sample: SampleArrays, sequence: Array, level: LevelArrays, groups: GroupArrays) -> None:
    """Compute the counts ``left``, ``macro_left`` and ``targeted`` of each group, each summed over the tuples of the
    group.

    The caller passes zeros in these three arrays.
    """
    regions, matrix, rows = sample.regions, sample.matrix, sample.rows
    live, places, grb, geb = level.live, level.places, level.grb, level.geb
    of_row, candidates, covered = groups.of_row, groups.candidates, groups.covered
    left, macro_left, targeted = groups.left, groups.macro_left, groups.targeted
    for i in range(live.size):
        number = live[i]
        group = of_row[places[number]]
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
def follow(level: LevelArrays, arrows: Array, sequence: Array) -> int:
    """Set the next construct of every live tuple, and return the number of tuples that have one.

    The next construct is the target of the region's micro-arrow, if there is one and the tuple has not evaluated the
    target. Otherwise, it is the first construct of the macro-sequence that the tuple has not evaluated. ``arrows``
    int32[rows of the matrix]: the micro-arrows. The tuples that have a next construct are moved to the front of
    ``level.live``.
    """
    live, places, geb, targets = level.live, level.places, level.geb, level.targets
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
