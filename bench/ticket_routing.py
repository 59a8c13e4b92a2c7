# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""The rival Ticket Routing, with which the paper compares its sequences: the lottery of eddies (Avnur and Hellerstein
2000).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import allocating
from asc.plan.block import Block
from monitor.sample import Sample

Array = npt.NDArray[Any]
Visits = npt.NDArray[np.uint16]


def ticket_routing(block: Block, sample: Sample, *, seed: int = 1) -> Visits:
    """Route the tuples of a sample in order, and return uint16[tuples]: the number of modules that each tuple visits. A
    module is a construct.

    A module gains a ticket for a tuple that it receives, and loses a ticket for a tuple that it returns. So the tickets
    of a module count the tuples that the module dropped. The next module is drawn among the modules that the tuple has
    not visited, with a chance proportional to the tickets, but at least that of one ticket. All modules begin without
    tickets.
    """
    visits = np.empty(len(sample), dtype=np.uint16)
    tickets = np.zeros(len(block.slots), dtype=np.int64)
    _route(sample.regions, block.matrix, sample.rows(block), tickets, np.uint64(seed), visits)
    return visits


@allocating
def _route(regions: Array, matrix: Array, rows: Array, tickets: Array, seed: np.uint64, visits: Array) -> None:
    words = matrix.shape[1]
    modules = tickets.size
    grb = np.empty(words, dtype=np.uint64)
    unvisited = np.empty(modules, dtype=np.int64)
    state = seed
    for number in range(visits.size):
        any_left = np.uint64(0)
        for word in range(words):
            grb[word] = matrix[0, word]
            any_left |= grb[word]
        total = np.int64(0)
        for i in range(modules):
            unvisited[i] = i
            total += max(1, tickets[i])
        left = modules
        while any_left != 0 and left > 0:
            # Draw the next pseudo-random number by SplitMix64, whose state began with the seed.
            state += np.uint64(0x9E37_79B9_7F4A_7C15)
            mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
            drawn = np.int64((mixed ^ (mixed >> np.uint64(31))) % np.uint64(total))
            place = 0
            while drawn >= max(1, tickets[unvisited[place]]):
                drawn -= max(1, tickets[unvisited[place]])
                place += 1
            module = unvisited[place]
            total -= max(1, tickets[module])
            left -= 1
            unvisited[place] = unvisited[left]
            tickets[module] += 1
            any_left = np.uint64(0)
            row = rows[module] + regions[module, number]
            for word in range(words):
                grb[word] &= matrix[row, word]
                any_left |= grb[word]
            if any_left != 0:
                tickets[module] -= 1
        visits[number] = modules - left
