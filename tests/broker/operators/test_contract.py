"""The contract of every kind in the table: definition, body and registration say the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import FrozenInstanceError, fields
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from broker.errors import QueryError
from broker.operators.expression import Role
from broker.operators.kinds import OPERATORS, definition_of, described, settable

LEAST: Mapping[str, Mapping[str, Any]] = {name: kind.body.examples[0] for name, kind in OPERATORS.items()}
"""The smallest operator of each kind: its required fields alone."""

WRONG: tuple[Any, ...] = (None, "", " ", True, [], {}, math.nan, math.inf, -1, 1e300, 10**30, "\ud800", [[]], {"a": 1})
"""Values of other types and beyond all bounds; some are right for some fields."""

KIND = pytest.mark.parametrize("name", OPERATORS)


def changes(name: str) -> Iterator[dict[str, Any]]:
    """The smallest operator with one field of its model wrong, missing, or more."""
    for field in (own.alias or field for field, own in OPERATORS[name].body.model_fields.items()):
        if field not in ("name", "summary"):
            yield from ({**LEAST[name], field: wrong} for wrong in WRONG)
    for field in LEAST[name]:
        yield {other: value for other, value in LEAST[name].items() if other != field}
    yield {**LEAST[name], "nobody_knows": 1}


@KIND
def test_a_definition_is_read_back_as_it_was_written(name: str) -> None:
    definition = definition_of(LEAST[name])
    assert definition is not None
    assert definition_of(definition.plain()) == definition
    assert hash(definition_of(definition.plain())) == hash(definition)
    # An answer can be sent back as a body.
    answer = described(definition)
    assert answer is not None
    assert definition_of(settable(answer)) == definition
    assert definition.plain()["name"] == name
    with pytest.raises((FrozenInstanceError, TypeError)):
        setattr(definition, fields(definition)[0].name, "other")  # type: ignore[arg-type]


@KIND
def test_a_summary_is_one_line_and_every_expression_has_a_role(name: str) -> None:
    definition = definition_of(LEAST[name])
    assert definition is not None
    assert 0 < len(definition.summary()) < 500
    assert "\n" not in definition.summary()
    assert all(one.role in get_args(Role) and one.sql for one in definition.expressions())
    # What goes to the feed is of an object, or is a point.
    roles = {one.role for one in definition.expressions()}
    assert "time" in roles
    assert OPERATORS[name].handoff == "fold" or roles & {"key", "number", "position"}


@KIND
def test_the_body_has_the_fields_and_defaults_of_the_definition(name: str) -> None:
    kind, definition = OPERATORS[name], definition_of(LEAST[name])
    assert definition is not None
    model = kind.body.model_validate(LEAST[name])
    assert model.model_dump(exclude={"summary"}, by_alias=True) == definition.plain()
    required = {one for one, field in kind.body.model_fields.items() if field.is_required()}
    # A field that another one may replace is required of the whole: without either the body is refused.
    others = [{own: value for own, value in LEAST[name].items() if own != one} for one in LEAST[name].keys() - required]
    assert required <= LEAST[name].keys()
    assert all(refusal_of(kind.body.model_validate, each) for each in others)
    for one, field in kind.body.model_fields.items():
        assert one == "name" or field.description, one


def refusal_of(parse: Callable[[Any], object], plain: Mapping[str, Any]) -> str | None:
    """Why a model or definition refuses an operator; None where it takes it."""
    try:
        parse(plain)
    except (ValidationError, QueryError) as refusal:
        return str(refusal)
    return None


@KIND
def test_a_body_refuses_what_its_definition_refuses_but_for_the_text_of_expressions(name: str) -> None:
    for plain in changes(name):
        by_body, by_definition = (
            refusal_of(parse, plain) for parse in (OPERATORS[name].body.model_validate, definition_of)
        )
        is_text = any(isinstance(value, str) and value != LEAST[name].get(field) for field, value in plain.items())
        assert (by_body is None) == (by_definition is None) or (is_text and by_body is None), plain


@KIND
def test_a_refusal_is_one_line(name: str) -> None:
    for plain in changes(name):
        refusal = refusal_of(definition_of, plain)
        assert refusal is None or ("\n" not in refusal and len(refusal) < 1_000), plain
