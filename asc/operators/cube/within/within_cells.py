"""The cells of a cube that are within a scope, and the numbers of their records as two further measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.answer_memory import Reserve, held, unbounded
from asc.operators.cube.answered import Answered
from asc.operators.cube.cells import Cells
from asc.operators.cube.computed.geohash_text import numbers_of_texts
from asc.operators.cube.layout import Layout
from asc.operators.cube.measure import Measure
from asc.operators.cube.part import Part
from asc.operators.cube.slot import Slot
from asc.operators.cube.states.count import RecordCount
from asc.operators.cube.states.memory import numbers, stored
from asc.operators.cube.within.scope import INSIDE, TOUCHED, Classes
from asc.operators.cube.within.within import WITHIN_MEASURES, Within

_CELL_BYTES = 32
"""The number of bytes of working memory for each cell that is classified."""


def with_within_measures(layout: Layout) -> Layout:
    """Return a layout with the further measures ``inside`` and ``touched``, which an answer to a question with
    ``within`` has.
    """
    names, count = WITHIN_MEASURES, RecordCount()
    first = len(layout.slots)
    return replace(
        layout,
        definition=replace(
            layout.definition,
            measures=(*layout.definition.measures, *(Measure("count", (), None, name) for name in names)),
        ),
        slots=(*layout.slots, *(Slot((name,), count, ()) for name in names)),
        measures=(
            *layout.measures,
            *(
                Answered(name, count.type, (first + place,), count.answer, is_count=True)
                for place, name in enumerate(names)
            ),
        ),
    )


def within_parts(layout: Layout, parts: Sequence[Part], within: Within, reserve: Reserve = unbounded) -> list[Part]:
    """Return the cells that are inside a scope or touch it, with the states of ``inside`` and ``touched``.

    ``layout``: the layout of the stored cells. In each part, the finest level of the geohash dimension is compared.
    Cost: one comparison for each distinct geohash, then a pass over the cells, and a copy of the remaining cells.
    """
    places = [_finest(part, within) for part in parts]
    dictionaries = [part.cells.keys[place].dictionary for part, (place, _) in zip(parts, places, strict=True)]
    classes = _classes(dictionaries, [bits for _, bits in places], within, reserve)
    slot = layout.record_slot
    assert slot is not None
    return [
        replace(part, cells=_kept(part.cells, place, slot, own, reserve))
        for part, (place, _), own in zip(parts, places, classes, strict=True)
    ]


def _finest(part: Part, within: Within) -> tuple[int, int]:
    """Return the index, in a part, of the key of the geohash dimension's finest level, and the number of bits of this
    level.
    """
    level = max(place - within.first for place in part.columns if 0 <= place - within.first < len(within.bits))
    return part.columns.index(within.first + level), within.bits[level]


def _classes(dictionaries: Sequence[pa.Array], bits: Sequence[int], within: Within, reserve: Reserve) -> list[Classes]:
    """Return the class of each value of each dictionary. ``bits``: the number of bits of the values of each
    dictionary.
    """
    class_by_value: dict[int, Classes] = {}
    for own_bits in sorted(set(bits)):
        several = {id(values): values for values, each in zip(dictionaries, bits, strict=True) if each == own_bits}
        with held(reserve, _CELL_BYTES * sum(map(len, several.values()))):
            cells = {key: numbers_of_texts(values, own_bits) for key, values in several.items()}
            alone = len(cells) == 1
            distinct = next(iter(cells.values())) if alone else np.unique(np.concatenate(list(cells.values())))
            whole = within.scope.classes(distinct, own_bits, lambda: reserve(0))
            for key, own in cells.items():
                class_by_value[key] = whole if alone else whole[np.searchsorted(distinct, own)]
    return [class_by_value[id(values)] for values in dictionaries]


def _kept(cells: Cells, place: int, slot: int, classes: Classes, reserve: Reserve) -> Cells:
    """Return the cells that are not outside the scope, with the states of ``inside`` and ``touched``."""
    with held(reserve, _CELL_BYTES * cells.count):
        of_code = np.concatenate((np.zeros(1, dtype=np.uint8), classes))
        own = of_code[cells.keys[place].codes]
        rows = np.flatnonzero(own)
        reserve(cells.size_bytes * len(rows) // max(1, cells.count))
        kept = cells if len(rows) == cells.count else cells.take(rows)
        counts = numbers(kept.states[slot], np.int64)
        states = [_counts(counts, own[rows] == which) for which in (INSIDE, TOUCHED)]
        return replace(kept, states=(*kept.states, *states))


def _counts(counts: npt.NDArray[np.int64], is_own: npt.NDArray[np.bool_]) -> pa.Array:
    return stored(pa.int64(), frozen(np.where(is_own, counts, 0)))
