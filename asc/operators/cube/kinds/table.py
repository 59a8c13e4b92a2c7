"""The table of the kinds of measures, with the functions that declare each kind and the question functions that read
its states.
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

    ``module``: the module in the folder of this file that contains the kind, in its constant ``KIND``. ``declares``:
    the functions of the kind's declarations. ``form``: these functions as errors write them. ``answers``: the question
    functions of the kind. ``package``: the optional package that its states need; None if they need none. ``missing``:
    the remedy if the package is not installed.
    """

    module: str
    declares: tuple[str, ...]
    form: str
    answers: tuple[str, ...] = ()
    package: str | None = None
    missing: str = ""

    @property
    def kind(self) -> Kind:
        """Return the kind. The first call imports its module, which does not need the optional package."""
        found: Kind = import_module(f"asc.operators.cube.kinds.{self.module}").KIND
        return found

    def check_package(self, call: str) -> None:
        """Raise CubeError if the optional package of the states is not installed. A definition can be read without the
        package, so that a registered cube stays registered. ``call``: the measure that needs the package, for the
        error.
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
    """Return the kind of measure that has a function among its declarations. Return None if no kind has it.

    >>> declared_by("avg").module
    'sums'
    """
    return _BY_DECLARATION.get(function)


def asked_by(function: str) -> Entry | None:
    """Return the kind of measure that has a question function. Return None if no kind has it."""
    return _BY_QUESTION.get(function)
