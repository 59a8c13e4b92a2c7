"""Unions of models by name: a value is of the model of its name, and other values are refused."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from broker.body import Body
from broker.operators.answer_union import AnswerUnion


class First(Body):
    """One kind's."""

    name: Literal["first"]
    cells: int = 0
    more: int = 0


class Second(Body):
    """Another kind's."""

    name: Literal["second"]
    points: int = Field(description="Of all windows.")


MODELS: dict[str, type[Body]] = {"first": First}
UNION: TypeAdapter[Body] = TypeAdapter(Annotated[Body, AnswerUnion(lambda: MODELS, "What is known.")])


def test_a_value_is_of_the_model_of_its_name_and_shows_what_is_set() -> None:
    found = UNION.validate_python({"name": "first", "cells": 7})
    assert isinstance(found, First)
    assert UNION.validate_python(found) is found
    assert UNION.dump_python(found) == {"name": "first", "cells": 7}
    assert UNION.dump_json(found) == b'{"name":"first","cells":7}'


@pytest.mark.parametrize("change", [{"cells": "seven"}, {"points": 1}])
def test_another_form_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        UNION.validate_python({"name": "first", "cells": 7, **change})


def test_the_table_is_read_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(UNION.json_schema()["discriminator"]["mapping"]) == {"first"}
    monkeypatch.setitem(MODELS, "second", Second)
    assert isinstance(UNION.validate_python({"name": "second", "points": 3}), Second)
    schema = UNION.json_schema()
    assert set(schema["discriminator"]["mapping"]) == {"first", "second"}
    assert schema["description"] == "What is known."
    assert schema["$defs"]["Second"]["properties"]["points"]["description"] == "Of all windows."
