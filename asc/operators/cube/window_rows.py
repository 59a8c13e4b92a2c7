"""Rows of windows: the keys, values and identities of the Kafka records that a cube writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from asc.operators.cube.cells import Cells
from asc.operators.cube.json_values import bound_text, instant_text, plain_values
from asc.operators.cube.layout import Layout
from asc.operators.cube.output import Output
from asc.operators.cube.portions import portions

RowKind = Literal["window", "revision", "tombstone"]


@dataclass(frozen=True, slots=True)
class WindowRow:
    """A Kafka record that a cube writes. ``value``: None for a tombstone. ``identity``: the header by which consumers
    recognise a repeated record, equal in each repetition.
    """

    kind: RowKind
    key: bytes
    value: bytes | None
    identity: str


@dataclass(frozen=True, slots=True, eq=False)
class WindowWriting:
    """The formatting of the rows of one cube. A row depends only on its window, its cells, its revision, and whether
    records of the window are missing.
    """

    query: str
    generation: str
    layout: Layout
    output: Output

    def columns(self, place: int) -> tuple[int, ...]:
        """Return the indices of the dimensions of the output cuboid with the index ``place``."""
        return self.layout.definition.dimensions.columns(self.output.cuboids[place])

    def rows(
        self, cells: Cells, number: int, place: int, *, revision: int, is_whole: bool, is_late: bool = False
    ) -> Iterator[WindowRow]:
        """Yield a row for each group of an output cuboid in the window ``number``. Groups are converted in portions, so
        that the values of only one portion are in memory.
        """
        layout = self.layout
        # A window may begin before the year 1, the first time that a cube counts.
        first, end = map(bound_text, self._bounds_us(number))
        head = f'{{"query":{_text(self.query)},"window":["{first}","{end}"]'
        tail = f',"revision":{revision},"whole":{"true" if is_whole else "false"}}}'
        names = [f",{_text(own.name)}:" for own in layout.measures]
        identity = self._identity(number, place, revision)
        kind: RowKind = "revision" if is_late else "window"
        for part in portions(cells):
            columns = [plain_values(own.of(part.states), is_integer=own.is_integer) for own in layout.measures]
            for key, values in zip(self._keys(part, place), zip(*columns, strict=True), strict=True):
                measures = "".join(name + _text(value) for name, value in zip(names, values, strict=True))
                yield WindowRow(kind, key, f"{head}{measures}{tail}".encode(), identity)

    def tombstones(self, cells: Cells, number: int, place: int, *, revision: int) -> Iterator[WindowRow]:
        """Yield a tombstone for each group in ``cells``, none of which is in the window ``number``."""
        identity = self._identity(number, place, revision)
        for part in portions(cells):
            for key in self._keys(part, place):
                yield WindowRow("tombstone", key, None, identity)

    def _keys(self, cells: Cells, place: int) -> Iterator[bytes]:
        names = [self.layout.dimensions[column].sql for column in self.columns(place)]
        head = f'{{"cuboid":{_text(names)},"group":{{'
        spelled = [f"{_text(name)}:" for name in names]
        columns = [plain_values(key.array()) for key in cells.keys]
        for values in zip(*columns, strict=True) if columns else [()] * cells.count:
            group = ",".join(name + _text(value) for name, value in zip(spelled, values, strict=True))
            yield f"{head}{group}}}}}".encode()

    def _identity(self, number: int, place: int, revision: int) -> str:
        names = ",".join(self.layout.dimensions[column].sql for column in self.columns(place)) or "()"
        end = instant_text(self._bounds_us(number)[1])
        return f"{self.query}/{self.generation}@{end}/{names}#{revision}"

    def _bounds_us(self, number: int) -> tuple[int, int]:
        grain_us = self.output.grain_s * 1_000_000
        first, end = self.output.sliding.panes(number)
        return first * grain_us, end * grain_us


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
