"""Bins of a number as a computed dimension of cubes, with levels of 2, 4, 8 and further powers of two of bins."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from asc.errors import CubeError
from asc.operators.cube.computed.bin_edges import (
    BINS_MAX,
    DEVIATIONS_GOAL,
    NRMSE_GOAL,
    BinEdges,
    BinErrors,
    check_count,
    levels_of,
)
from asc.operators.cube.computed.bin_sample import NO_SAMPLE_REMEDY, BinSample
from asc.operators.cube.computed.call import NAME_CHARS_MAX, Call
from asc.predicate.expressions.types import name as type_name

if TYPE_CHECKING:
    from asc.operators.cube.keys import Key

FEWEST = "fewest"
"""The argument, in texts with edges, that replaces a number of bins if the sample decided the number."""
_FORM = f"write bins(x), or bins(x, n) with a power of two from 2 to {BINS_MAX}, as bins(temp, 16)"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_COUNT = re.compile(r"[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class SampleErrors:
    """The properties of the sample from which edges were computed, and the error of the bins over the sample.

    ``values``: the number of finite values. ``least``, ``greatest``, ``deviation``: the least and the greatest value,
    and the standard deviation. ``rmse``: the root of the mean squared error.
    """

    values: int
    least: float
    greatest: float
    deviation: float
    rmse: float

    @staticmethod
    def of(edges: BinEdges, sample: BinSample) -> SampleErrors:
        """Return the properties of a sample, and the error of bins over it."""
        ends = float(sample.different[0]), float(sample.different[-1])
        deviation = math.ldexp(sample.deviation(), sample.power)
        return SampleErrors(len(sample.values), *ends, deviation, edges.errors(sample).rmse)

    @property
    def errors(self) -> BinErrors:
        """Return the error in all units."""
        return BinErrors.of(self.rmse, self.least, self.greatest, self.deviation)

    def plain(self) -> list[float]:
        """Return the fields as a JSON list, in their order."""
        return [self.values, self.least, self.greatest, self.deviation, self.rmse]


@dataclass(frozen=True, slots=True)
class BinDimension:
    """The bins of the values of an expression, as a dimension.

    ``sql``: the expression, a number. ``count``: the number of bins in the call; None for the fewest that are exact
    enough. ``edges``: None before a sample has decided the edges. ``sample``: the properties of this sample; None for
    edges that a user wrote.

    The key of a bin is its lower edge, a DOUBLE, so that keys have the order of the bins. The key of the first bin is
    minus infinity. The key of NULL is NULL, and NaN is in the last bin.
    """

    sql: str
    count: int | None
    name: str
    edges: BinEdges | None = None
    sample: SampleErrors | None = None

    @staticmethod
    def of(call: Call) -> BinDimension:
        """Return the dimension of a call. Raise CubeError if its arguments are refused."""
        sql, *others = call.arguments
        if not sql or len(others) > 3 or not all(others):
            call.fail(f"has {len(call.arguments)} arguments: {_FORM}")
        count = _count(call, others[0]) if others else None
        name = call.name or (sql if _NAME.fullmatch(sql) and len(sql) <= NAME_CHARS_MAX else None)
        if name is None:
            call.fail("has no name: give one with AS, as in bins(a + b, 16) AS total")
        if len(others) < 2:
            return BinDimension(sql, count, name)
        edges = BinEdges.parse(_list(call, others[1]), f"edges of dimension {name!r}:")
        if count is not None and edges.count != count:
            call.fail(f"has {len(edges.edges)} edges, which make {edges.count} bins: give as many as n less one")
        sample = None if len(others) < 3 else _sample(call, others[2])
        return BinDimension(sql, count, name, edges, sample)

    @property
    def text(self) -> str:
        """Return the text of the dimension, with its edges and the errors of the sample."""
        arguments = self._arguments
        if self.edges is not None:
            arguments = [self.sql, FEWEST if self.count is None else str(self.count), json.dumps(self.edges.plain())]
        if self.sample is not None:
            arguments.append(json.dumps(self.sample.plain()))
        return f"bins({', '.join(arguments)}) AS {self.name}"

    @property
    def summary(self) -> str:
        """Return the text of the dimension without its edges, as a user writes it."""
        return f"bins({', '.join(self._arguments)}) AS {self.name}"

    @property
    def _arguments(self) -> list[str]:
        return [self.sql] if self.count is None else [self.sql, str(self.count)]

    @property
    def levels(self) -> tuple[str, ...]:
        """Return the names of the levels, such as ``temp:16``. Before ``bins(x)`` has edges, return all levels that it
        may get.
        """
        count = self.count or BINS_MAX if self.edges is None else self.edges.count
        return tuple(f"{self.name}:{bins}" for bins in levels_of(count))

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the expression whose values are assigned to bins."""
        return (self.sql,)

    @property
    def type(self) -> pa.DataType:
        """Return the type of the keys, which are lower edges: DOUBLE."""
        return pa.float64()

    def check(self, types: Sequence[pa.DataType | None]) -> None:
        """Raise CubeError if the expression is no number."""
        (kind,) = types
        if kind is None or not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            remedy = f"takes a number, and {self.sql} is {type_name(kind)}: CAST it to DOUBLE, or group by it as it is"
            raise CubeError("dimension", self.summary, remedy)

    def with_edges_of(self, values: pa.Array) -> BinDimension:
        """Return the dimension with edges that are computed from a sample of the expression's values. Raise CubeError
        if the values are no numbers, or none of them is finite.
        """
        from asc.operators.cube.computed.bin_keys import present_doubles

        self.check([values.type])
        sample = BinSample.of(present_doubles(values), self.summary)
        edges = BinEdges.fewest(sample) if self.count is None else BinEdges.of(sample, self.count)
        return replace(self, edges=edges, sample=SampleErrors.of(edges, sample))

    def without_edges(self) -> BinDimension:
        """Return the dimension as a user writes it, so that another sample can decide its edges."""
        return replace(self, edges=None, sample=None)

    def described(self) -> dict[str, Any]:
        """Return the edges, and the errors of the bins over the sample, as a JSON object."""
        sample = None
        if self.sample is not None:
            sample = {
                "values": self.sample.values,
                "least": self.sample.least,
                "greatest": self.sample.greatest,
                "errors": self.sample.errors.plain(),
            }
        return {
            "name": self.name,
            "calibrated": self.text,
            "dimension": self.summary,
            "levels": list(self.levels),
            "edges": self.checked_edges.plain(),
            "sample": sample,
        }

    @property
    def needs_moments(self) -> bool:
        """Return True: each cell stores the co-moments of the values, from which the errors of the bins are
        computed.
        """
        return True

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a warning if even BINS_MAX bins do not reach the goals for the errors. Otherwise return nothing."""
        if self.count is not None or self.sample is None or self.sample.errors.reaches_goals:
            return ()
        found = self.sample.errors
        return (
            f"dimension {self.summary!r}: with {BINS_MAX} bins, the most there are, the error is {found.nrmse:.3g} of "
            f"the range and {found.rmse_sd:.3g} standard deviations, over {NRMSE_GOAL} or {DEVIATIONS_GOAL}",
        )

    def keys(self, columns: Sequence[pa.Array]) -> tuple[Key, ...]:
        """Return the key of each level."""
        # Import the kernels here, so that a definition can be read without them.
        from asc.operators.cube.computed.bin_keys import bin_keys

        return bin_keys(self.checked_edges, columns[0])

    @property
    def checked_edges(self) -> BinEdges:
        """Return the edges. Raise CubeError if no sample has decided them yet."""
        if self.edges is None:
            raise CubeError("dimension", self.summary, f"has no edges yet: {NO_SAMPLE_REMEDY}")
        return self.edges


def _count(call: Call, text: str) -> int | None:
    if text.lower() == FEWEST:
        return None
    if not _COUNT.fullmatch(text):
        call.fail(f"has {text!r} for a number of bins: {_FORM}")
    check_count(int(text), f"bins of {call.arguments[0]!r}:")
    return int(text)


def _list(call: Call, text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list):
        call.fail(f"has {text[:50]!r} for its edges: write a list of ascending numbers, as [10, 20, 30]")
    return found


def _sample(call: Call, text: str) -> SampleErrors:
    found = _list(call, text)
    if len(found) != 5 or not all(type(own) in (int, float) and math.isfinite(own) for own in found):
        call.fail("has unreadable errors of a sample: leave these out")
    return SampleErrors(int(found[0]), *map(float, found[1:]))
