"""The table of the kinds of measures: the functions that each kind declares, and those that answer questions from its
states.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from asc.errors import CubeError
from asc.operators.cube.aggregates import OF_ONE_COLUMN, OF_TWO_COLUMNS
from asc.operators.cube.kinds.kind import Kind
from asc.operators.cube.states.sketch_library import MISSING, PACKAGE


@dataclass(frozen=True, slots=True)
class Entry:
    """A kind of measure in the table.

    ``module``: the module of this folder, which has the kind as ``KIND``. ``declares``: the functions of its
    declarations. ``form``: these functions in errors. ``answers``: its question functions. ``package``: the package
    that its states need; None if none is optional. ``missing``: the remedy if the package is not installed.
    """

    module: str
    declares: tuple[str, ...]
    form: str
    answers: tuple[str, ...] = ()
    package: str | None = None
    missing: str = ""

    @property
    def kind(self) -> Kind:
        """Return the kind. Its module is imported on the first use; its package may be missing."""
        found: Kind = import_module(f"asc.operators.cube.kinds.{self.module}").KIND
        return found

    def check_package(self, call: str) -> None:
        """Raise CubeError if the package of the states is not installed. A definition can be read without it, so that a
        registered cube stays what it is. ``call``: the measure that needs the package, for the error.
        """
        if self.package is not None and find_spec(self.package) is None:
            raise CubeError("measure", call, self.missing)


ENTRIES: Final = (
    Entry("counts", ("count",), "count"),
    Entry("sums", ("sum", "avg"), "sum, avg"),
    Entry("extremes", ("min", "max"), "min, max"),
    Entry(
        "moments",
        (*OF_ONE_COLUMN, *OF_TWO_COLUMNS, "stats"),
        "var_*, stddev_*, of two columns covar_*, corr, regr_*, of several stats",
        answers=(*OF_ONE_COLUMN, *OF_TWO_COLUMNS, "mean", "bounds", "regression"),
    ),
    Entry(
        "quantiles",
        ("quantiles",),
        "quantiles",
        answers=("quantile", "rank", "cdf", "pmf", "density"),
        package=PACKAGE,
        missing=MISSING,
    ),
    Entry("distinct", ("distinct",), "distinct", package=PACKAGE, missing=MISSING),
    Entry("frequent", ("frequent",), "frequent", answers=("frequent",)),
    Entry("seen", ("seen",), "seen", answers=("frequency", "contains")),
)
"""All kinds of measures."""

_BY_DECLARATION: Final[Mapping[str, Entry]] = MappingProxyType({name: own for own in ENTRIES for name in own.declares})
_BY_QUESTION: Final[Mapping[str, Entry]] = MappingProxyType({name: own for own in ENTRIES for name in own.answers})

DECLARATION_FORM: Final = "write f(x), f(x) FILTER (WHERE p) or f(x) AS name, f being one of " + ", ".join(
    own.form for own in ENTRIES
)
"""The remedy for a text that is no declaration of a measure."""
QUESTION_FUNCTIONS: Final = tuple(_BY_QUESTION)
"""The names of all question functions."""


def declared_by(function: str) -> Entry | None:
    """Return the kind of measure that a function declares. Return None if there is none.

    >>> declared_by("avg").module
    'sums'
    """
    return _BY_DECLARATION.get(function)


def asked_by(function: str) -> Entry | None:
    """Return the kind of measure whose states a question function reads. Return None if there is none."""
    return _BY_QUESTION.get(function)
