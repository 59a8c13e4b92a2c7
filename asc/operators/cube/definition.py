"""Definitions of cubes: validated parameters. The API and the registry represent them as the same JSON object."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asc.errors import CubeError
from asc.operators.cube.computed.computed_dimension import ComputedDimension
from asc.operators.cube.computed.table import computed_dimension
from asc.operators.cube.cuboid import CUBOIDS_MAX, Dimensions
from asc.operators.cube.measure import Measure
from asc.operators.cube.view import grain_text
from asc.spark_types import folded

OP = "cube"
"""The name of the operator kind of cubes."""

DEFAULT_TIME = "_timestamp"
DIMENSIONS_MAX = 16
"""The largest number of expressions of all dimensions of a cube together."""
MEASURES_MAX = 32
"""The largest number of measures of a cube."""
_EXPRESSION_CHARS_MAX = 10_000
"""The largest number of characters of the expression of a dimension or of the time."""

HOUR_S, DAY_HOURS = 3_600, 24
_GRAIN_REMEDY = "give seconds that divide an hour, or whole hours that divide 24, as 60, 900, 3600 or 86400"
RESERVED = ("group", "query", "window", "revision", "whole", "inside", "touched", "pane")
"""Field names of answers and of windows. A measure cannot have one of these names."""

_FIELDS = ("name", "dimensions", "measures", "time", "grain_s")


@dataclass(frozen=True, slots=True)
class CubeDefinition:
    """The parameters of a cube.

    ``time``: the expression for the event time of a record, a TIMESTAMP. ``grain_s``: the length of a pane in seconds.
    Both are None for a cube over files without a time; then all cells are in one pane. ``computed``: the computed
    dimensions, whose levels are also hierarchies of ``dimensions``.

    Invariant: the parameters satisfy the rules that :meth:`parse` checks. No expression of a dimension and no name of a
    measure occurs twice.
    """

    dimensions: Dimensions
    measures: tuple[Measure, ...]
    time: str | None = DEFAULT_TIME
    grain_s: int | None = HOUR_S
    computed: tuple[ComputedDimension, ...] = ()

    @classmethod
    def parse(cls, plain: Mapping[str, Any], *, needs_time: bool = True) -> CubeDefinition:
        """Return the definition in a JSON object. Raise CubeError if the object is not a valid definition.

        ``needs_time``: false for a cube over files, which may have no time and no grain.

        >>> plain = {"dimensions": [["origin", "dest"]], "measures": ["count(*) AS flights"], "grain_s": 3600}
        >>> CubeDefinition.parse(plain).measures[0].name
        'flights'
        """
        for name in plain:
            if name not in _FIELDS:
                raise CubeError("field", name, f"is not known: known are {', '.join(_FIELDS)}")
        time = plain.get("time")
        grain_s = plain.get("grain_s")
        if needs_time and time is None:
            time = DEFAULT_TIME
        if grain_s is not None or time is not None:
            grain_s = checked_grain_s(grain_s)
            time = _expression("time", DEFAULT_TIME if time is None else time)
        dimensions, computed = _dimensions(plain.get("dimensions", []))
        return cls(dimensions, _measures(plain.get("measures"), dimensions), time, grain_s, computed)

    def plain(self) -> dict[str, Any]:
        """Return the definition as a JSON object that :meth:`parse` accepts."""
        return {
            "name": OP,
            "dimensions": [list(self._texts(hierarchy)) for hierarchy in self.dimensions.hierarchies],
            "measures": [measure.text for measure in self.measures],
            "time": self.time,
            "grain_s": self.grain_s,
        }

    def computed_with(self, levels: Sequence[str]) -> ComputedDimension | None:
        """Return the computed dimension with these levels. Return None if the levels are expressions over a record."""
        return next((own for own in self.computed if own.levels == tuple(levels)), None)

    @property
    def record_expressions(self) -> tuple[str, ...]:
        """Return the different expressions over a record that the dimensions read."""
        read: dict[str, None] = {}
        for hierarchy in self.dimensions.hierarchies:
            dimension = self.computed_with(hierarchy)
            read |= dict.fromkeys(hierarchy if dimension is None else dimension.inputs)
        return tuple(read)

    def _texts(self, hierarchy: Sequence[str]) -> Sequence[str]:
        """Return a hierarchy as the JSON object of a definition contains it: its levels, or the text of a computed
        dimension.
        """
        dimension = self.computed_with(hierarchy)
        return hierarchy if dimension is None else (dimension.text,)

    def _summary(self, hierarchy: Sequence[str]) -> str:
        dimension = self.computed_with(hierarchy)
        return " > ".join(hierarchy) if dimension is None else dimension.summary

    @property
    def grain_us(self) -> int | None:
        """Return the length of a pane in microseconds. Return None if the cube has no time."""
        return None if self.grain_s is None else self.grain_s * 1_000_000

    def generation(self, stream: str, where: str) -> str:
        """Return a hash of everything on which a piece depends: stream, WHERE, time, dimensions, measures and grain.
        Pieces of different generations are never merged.
        """
        text = json.dumps([stream, where, self.plain()], ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def summary(self) -> str:
        """Return the definition in one line.

        >>> plain = {"dimensions": [["origin", "dest"], ["carrier"]], "measures": ["count(*)"], "grain_s": 60}
        >>> CubeDefinition.parse(plain).summary()
        'count(*) by origin > dest, carrier, every 1min'
        """
        measures = ", ".join(measure.name for measure in self.measures)
        hierarchies = ", ".join(self._summary(hierarchy) for hierarchy in self.dimensions.hierarchies)
        by = f" by {hierarchies}" if hierarchies else ""
        return f"{measures}{by}" if self.grain_s is None else f"{measures}{by}, every {grain_text(self.grain_s)}"


def _dimensions(plain: object) -> tuple[Dimensions, tuple[ComputedDimension, ...]]:
    """Return the dimensions in a JSON list of hierarchies, and those dimensions that are computed."""
    form = 'give a list of hierarchies, each a list of expressions from coarse to fine, as [["origin", "dest"]]'
    if not isinstance(plain, Sequence) or isinstance(plain, str):
        raise CubeError("dimensions", plain, form)
    hierarchies: list[tuple[str, ...]] = []
    computed: list[ComputedDimension] = []
    seen: set[str] = set()
    for hierarchy in plain:
        if not isinstance(hierarchy, Sequence) or isinstance(hierarchy, str) or not hierarchy:
            raise CubeError("dimensions", hierarchy, form)
        levels = tuple(_expression("dimension", level) for level in hierarchy)
        for dimension in filter(None, map(computed_dimension, levels)):
            if len(levels) > 1:
                remedy = "is no level of another dimension: write it, with its own levels, as a dimension of its own"
                raise CubeError("dimension", dimension.text, remedy)
            computed.append(dimension)
            _check_names(computed, ())
            levels = dimension.levels
        for level in levels:
            if folded(level) in seen:
                raise CubeError("dimension", level, "is there twice: name it once")
            seen.add(folded(level))
        hierarchies.append(levels)
    # All levels of a computed dimension count as one expression, because they are computed from the same values.
    number = len(seen) - sum(len(dimension.levels) - 1 for dimension in computed)
    number = max([number, *map(len, hierarchies)])
    if number > DIMENSIONS_MAX:
        raise CubeError("dimensions", number, f"a cube has at most {DIMENSIONS_MAX} expressions: leave some out")
    found = Dimensions(tuple(hierarchies))
    if found.count > CUBOIDS_MAX:
        remedy = f"a cube has at most {CUBOIDS_MAX:,}: leave dimensions out, or make levels of one hierarchy of them"
        raise CubeError("cuboids", found.count, remedy)
    _check_names(computed, seen)
    return found, tuple(computed)


def _check_names(computed: Sequence[ComputedDimension], levels: Collection[str]) -> None:
    """Raise CubeError if a computed dimension has the name of another dimension."""
    names = set(levels)
    for dimension in computed:
        if folded(dimension.name) in names:
            remedy = f"is not the only dimension named {dimension.name}: give it another name with AS"
            raise CubeError("dimension", dimension.text, remedy)
        names.add(folded(dimension.name))


def _measures(plain: object, dimensions: Dimensions) -> tuple[Measure, ...]:
    if not isinstance(plain, Sequence) or isinstance(plain, str) or not plain:
        raise CubeError("measures", plain, 'give a list of measures, as ["count(*) AS records"]')
    if len(plain) > MEASURES_MAX:
        raise CubeError("measures", len(plain), f"a cube has at most {MEASURES_MAX}: leave some out")
    measures = tuple(map(Measure.parse, plain))
    levels = set(map(folded, dimensions.names))
    seen: set[str] = set()
    for measure in measures:
        if folded(measure.name) in levels:
            raise CubeError("measure", measure.name, "has the name of a dimension: give it another one with AS")
        if folded(measure.name) in seen:
            raise CubeError("measure", measure.name, "has the name of another one: give it one with AS")
        if folded(measure.name) in RESERVED:
            remedy = f"is a name that answers use, as {', '.join(RESERVED)}: give another one with AS"
            raise CubeError("measure", measure.name, remedy)
        seen.add(folded(measure.name))
    return measures


def checked_grain_s(value: object) -> int:
    """Return the length of a pane in seconds. Raise CubeError if the length neither divides an hour nor is whole hours
    that divide a day.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None:
        raise CubeError("grain_s", None, f"is missing, the length of a pane (--grain): {_GRAIN_REMEDY}")
    if type(value) is not int or value < 1:
        raise CubeError("grain_s", value, _GRAIN_REMEDY)
    hours, rest = divmod(value, HOUR_S)
    if HOUR_S % value and (rest or DAY_HOURS % max(hours, 1)):
        raise CubeError("grain_s", value, _GRAIN_REMEDY)
    return value


def _expression(what: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _EXPRESSION_CHARS_MAX:
        remedy = f"give an expression over the record, of at most {_EXPRESSION_CHARS_MAX:,} characters"
        raise CubeError(what, value, remedy)
    try:
        value.encode()
    except UnicodeEncodeError:
        shown = value.encode("utf-8", "replace").decode()
        raise CubeError(what, shown, "holds half of a surrogate pair: write whole characters") from None
    return value.strip()
