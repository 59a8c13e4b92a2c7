"""Measures of cubes, ``f(arguments) [FILTER (WHERE predicate)] [AS name]``, and their conversion to and from text."""

from __future__ import annotations

from dataclasses import dataclass

from asc.operators.cube.call import Constant, call_of, constant_text
from asc.operators.cube.kinds.table import DECLARATION_FORM, declared_by


@dataclass(frozen=True, slots=True)
class Measure:
    """A declared measure of a cube: an aggregate of the records of a cell.

    ``columns``: the expressions over a record, as the user wrote them; empty for ``count(*)``. ``where``: the predicate
    of FILTER; None without FILTER. ``name``: the name after AS; without AS, the text of the measure. ``constants``: the
    parameters of the state in the declaration; empty for the defaults.
    """

    function: str
    columns: tuple[str, ...]
    where: str | None
    name: str
    constants: tuple[Constant, ...] = ()

    @staticmethod
    def parse(text: object) -> Measure:
        """Return the measure that a text describes. Raise CubeError if the text is not a measure.

        >>> Measure.parse("sum(arr_delay) FILTER (WHERE arr_delay > 0) AS delay")
        Measure(function='sum', columns=('arr_delay',), where='arr_delay > 0', name='delay', constants=())
        >>> Measure.parse("count( * )").name
        'count(*)'
        """
        call = call_of(text, DECLARATION_FORM)
        entry = declared_by(call.function)
        if entry is None:
            call.fail(f"has the function {call.function!r}, which is none of a cube: {DECLARATION_FORM}")
        columns, constants = entry.kind.declared(call)
        name = call.name or call_text(call.function, columns, constants, call.where)
        return Measure(call.function, columns, call.where, name, constants)

    @property
    def expressions(self) -> tuple[str, ...]:
        """Return the SQL expressions over a record whose values the measure aggregates, with the FILTER. The result is
        empty if the measure counts records.

        >>> Measure.parse("count(*) FILTER (WHERE delay > 0)").expressions
        ('CASE WHEN (delay > 0) THEN 1 END',)
        >>> Measure.parse("corr(y, x) FILTER (WHERE delay > 0)").expressions[1]
        'CASE WHEN (delay > 0) THEN x END'
        """
        if self.where is None:
            return self.columns
        return tuple(f"CASE WHEN ({self.where}) THEN {column} END" for column in self.columns or ("1",))

    @property
    def call(self) -> str:
        """Return the measure as text, without its name."""
        return call_text(self.function, self.columns, self.constants, self.where)

    @property
    def text(self) -> str:
        """Return the measure as text that :meth:`parse` accepts."""
        return self.call if self.name == self.call else f"{self.call} AS `{self.name.replace('`', '``')}`"


def call_text(function: str, columns: tuple[str, ...], constants: tuple[Constant, ...], where: str | None) -> str:
    """Return the text of a call. Without columns and constants, the call has ``*``.

    >>> call_text("quantiles", ("temp",), (400,), None)
    'quantiles(temp, 400)'
    """
    arguments = ", ".join((*columns, *map(constant_text, constants))) or "*"
    call = f"{function}({arguments})"
    return call if where is None else f"{call} FILTER (WHERE {where})"
