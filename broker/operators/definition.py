"""Definitions of operators: the protocol of the checked parameters of the operator of one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from broker.operators.expression import Expression

if TYPE_CHECKING:
    from typing_extensions import Self


class Definition(Protocol):
    """The parameters of an operator, in the form that records of the registry and the API have.

    Invariant: immutable and hashable, and ``parse(plain(d)) == d``.
    """

    name: ClassVar[str]
    """The name of the operator kind."""

    @classmethod
    def parse(cls, plain: Mapping[str, Any]) -> Self:
        """Return the definition in a JSON object, which may omit defaults.

        Raise QueryError with the field, the value and the remedy if the object is invalid.
        """

    def plain(self) -> dict[str, Any]:
        """Return the definition as a JSON object, with its name."""

    def expressions(self) -> Sequence[Expression]:
        """Return the expressions over a record, in the order in which the kind reads them."""

    def summary(self) -> str:
        """Return the definition in one line, for command line, API and console."""
