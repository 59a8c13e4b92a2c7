"""Calls of functions as text: what becomes of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from asc.errors import PredicateError
from asc.predicate.expressions.expression import Expression
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema

SCHEMA = Schema.from_ddl(
    "flag BOOLEAN, tiny TINYINT, n INT, big BIGINT, f FLOAT, d DOUBLE, price DECIMAL(5,2), wide DECIMAL(38,0),"
    " s STRING, t STRING, raw BINARY, day DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, tags ARRAY<STRING>, ns ARRAY<INT>,"
    " raws ARRAY<BINARY>, maps ARRAY<MAP<STRING, INT>>, labels MAP<STRING, INT>, place STRUCT<x: INT>"
)
ExpressionOf = Callable[[str], Expression]
TroubleOf = Callable[[str], str]


@pytest.fixture
def expression_of() -> ExpressionOf:
    """The typed expression of a text over columns of every type."""

    def made(text: str) -> Expression:
        node, source = parse(text, Limits(), "UTC")
        return Typer(source, SCHEMA).of(node)

    return made


@pytest.fixture
def trouble_of(expression_of: ExpressionOf) -> TroubleOf:
    """Why a text is refused."""

    def trouble(text: str) -> str:
        with pytest.raises(PredicateError) as caught:
            expression_of(text)
        return str(caught.value)

    return trouble
