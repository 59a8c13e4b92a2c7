"""Bodies refuse fields that they do not know, and ignore those that answers have besides."""

from __future__ import annotations

from typing import ClassVar

import pytest
from pydantic import ValidationError

from broker.body import Body, Text


class Named(Body):
    answered_too: ClassVar[tuple[str, ...]] = ("version",)

    name: Text


def test_an_answer_is_a_body() -> None:
    assert Named.model_validate({"name": "a", "version": 3}) == Named(name="a")


@pytest.mark.parametrize(
    ("plain", "kind"),
    [
        ({"name": "a", "nmae": "b"}, "unknown_field"),
        ({"\ud800": 1}, "unknown_field"),
        ({"name": "\ud800"}, "value_error"),
        ({"name": 3}, "string_type"),
        ({}, "missing"),
    ],
)
def test_another_field_or_type_is_refused(plain: dict[str, object], kind: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Named.model_validate(plain)
    assert caught.value.errors()[0]["type"] == kind
