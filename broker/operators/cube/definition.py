"""Definitions of standing cubes: the validated parameters of the operator ``cube``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from asc.errors import CubeError
from asc.operators.cube.budget import DEFAULT_BUDGET, budget_of, plain_budget
from asc.operators.cube.definition import OP, CubeDefinition
from asc.operators.cube.keep import Band, bands_of, plain_bands
from asc.operators.cube.optimiser import Budget
from asc.operators.cube.output import NO_OUTPUT, OUTPUT_FIELDS, Output
from asc.operators.cube.pins import pins_of, plain_pins
from asc.operators.cube.view import View
from broker.errors import QueryError
from broker.operators.expression import Expression
from broker.operators.operator_fields import check_known, shown

_FIELDS = ("name", "dimensions", "measures", "time", "grain_s")
_NOT_NULL: Mapping[str, str] = MappingProxyType(
    {
        "time": "an expression over the record",
        "output": 'a list of cuboids, as [["carrier"]]',
        "emit": "all or changes",
        "late": "merge or apart",
        "materialise": 'a list of cuboids, as [["carrier"]]',
        "keep": 'a list of bands, as ["1h:30d", "1d:2y"]',
        "from": "now or earliest",
        "cuboids": "the most views to store, 0 for none",
        "cells": "the most cells of stored views, 0 for none",
    }
)
"""The fields that may be omitted but must not be null, each with a description of its value for errors."""

Late = Literal["merge", "apart"]
LATES: tuple[Late, ...] = ("merge", "apart")
Begin = Literal["now", "earliest"]
BEGINS: tuple[Begin, ...] = ("now", "earliest")
STANDING_FIELDS = (*OUTPUT_FIELDS, "late", "from", "materialise", "keep", "cuboids", "cells")
"""The fields that standing cubes have and cubes over files do not have."""


@dataclass(frozen=True, slots=True)
class StandingCube:
    """The parameters of a standing cube. ``output``: the windows that it writes; None if it writes no windows.

    ``late``: whether records of closed panes are added to these panes (``merge``) or are stored separately (``apart``).
    ``begin``, the field ``from``: whether the cube counts the records from its registration on, or all that the topic
    still has. ``pins``: the views that are always materialised. ``bands``: the views that are kept of older panes, by
    age; if it is empty, all panes are kept unchanged. ``budget``: the most views, and the most cells of them, that the
    optimiser may store.
    """

    name: ClassVar[str] = OP

    cube: CubeDefinition
    output: Output | None = None
    late: Late = "merge"
    begin: Begin = "now"
    pins: tuple[View, ...] = ()
    bands: tuple[Band, ...] = ()
    budget: Budget = DEFAULT_BUDGET

    @classmethod
    def parse(cls, plain: Mapping[str, Any]) -> StandingCube:
        """Return the definition in a JSON object. Raise QueryError if the object is invalid.

        >>> StandingCube.parse({"name": "cube", "measures": ["count(*) AS flights"], "grain_s": 60}).summary()
        'flights, every 1min'
        """
        check_known(plain, (*_FIELDS, *STANDING_FIELDS))
        for name, remedy in _NOT_NULL.items():
            if name in plain and plain[name] is None:
                raise QueryError(f"operator.{name}", None, f"give {remedy}, or leave it out")
        try:
            cube = CubeDefinition.parse({name: value for name, value in plain.items() if name not in STANDING_FIELDS})
            output, late, pins = Output.parse(plain, cube), late_of(plain), pins_of(plain.get("materialise"), cube)
            bands, budget = bands_with(plain.get("keep"), cube, output, late), budget_of(plain)
            return cls(cube, output, late, begin_of(plain), pins, bands, budget)
        except CubeError as error:
            raise refusal_of(error) from None

    def plain(self) -> dict[str, Any]:
        """Return the definition as a JSON object, with its name."""
        output = NO_OUTPUT if self.output is None else self.output.plain(self.cube)
        storage = {"materialise": plain_pins(self.pins, self.cube), "keep": plain_bands(self.bands, self.cube)}
        budget = plain_budget(self.budget)
        return {**self.cube.plain(), **output, "late": self.late, "from": self.begin, **storage, **budget}

    def expressions(self) -> tuple[Expression, ...]:
        """Return the time, then the expressions of dimensions and measures, without repetition."""
        time = self.cube.time
        assert time is not None
        dimensions = dict.fromkeys(self.cube.record_expressions, "dimension")
        measures = {sql: "measure" for own in self.cube.measures for sql in own.expressions}
        values = {**measures, **dimensions}
        values.pop(time, None)
        return (Expression("time", time, "time"), *(Expression(name, sql, "value") for sql, name in values.items()))

    def summary(self) -> str:
        """Return the definition in one line."""
        windows = "" if self.output is None else f", {self.output.summary()}"
        late = ", late records apart" if self.late == "apart" else ""
        begin = ", from the earliest record" if self.begin == "earliest" else ""
        pins = f", {len(self.pins)} pinned view{'s' * (len(self.pins) > 1)}" if self.pins else ""
        keep = f", keeps {', '.join(plain_bands(self.bands, self.cube))}" if self.bands else ""
        return f"{self.cube.summary()}{windows}{late}{begin}{pins}{keep}"


def bands_with(plain: object, definition: CubeDefinition, output: Output | None, late: Late) -> tuple[Band, ...]:
    """Return the bands of a cube (``keep``). Raise CubeError if they are refused.

    Late records that are stored separately (``late`` is ``apart``) do not move to coarser panes, so that such a cube
    has at most one band.
    """
    bands = bands_of(plain, definition, output)
    if len(bands) > 1 and late == "apart":
        texts = ", ".join(plain_bands(bands, definition))
        raise CubeError("keep", texts, "has several bands, and late records stay apart: give one band, or late merge")
    return bands


def late_of(plain: Mapping[str, Any]) -> Late:
    """Return the value of ``late`` in a cube's JSON object, by default ``merge``. Raise CubeError if the value is
    unknown.

    >>> late_of({}), late_of({"late": "apart"})
    ('merge', 'apart')
    """
    given = plain.get("late", "merge")
    for own in LATES:
        if given == own:
            return own
    raise CubeError("late", given, "is not known: give merge or apart")


def begin_of(plain: Mapping[str, Any]) -> Begin:
    """Return the value of ``from`` in a cube's JSON object, by default ``now``. Raise CubeError if the value is
    unknown.

    >>> begin_of({}), begin_of({"from": "earliest"})
    ('now', 'earliest')
    """
    given = plain.get("from", "now")
    for own in BEGINS:
        if given == own:
            return own
    raise CubeError("from", given, "is not known: give now or earliest")


def refusal_of(error: CubeError) -> QueryError:
    """Return the CubeError of a refused definition as a QueryError about a field of the operator."""
    value = None if error.value is None else shown(error.value)
    return QueryError(f"operator.{error.subject}", value, error.remedy)
