"""The body of a cube in the API."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from broker.operators.cube.body import CubeBody
from broker.operators.cube.definition import StandingCube

LEAST: dict[str, Any] = {"name": "cube", "measures": ["count(*)"], "grain_s": 60}


def test_the_body_has_the_fields_and_defaults_of_the_definition() -> None:
    model = CubeBody.model_validate(LEAST)
    assert model.model_dump(exclude={"summary"}, by_alias=True) == StandingCube.parse(LEAST).plain()
    assert {name for name, field in CubeBody.model_fields.items() if field.is_required()} == set(LEAST)


@pytest.mark.parametrize(
    "change",
    [{"grain_s": 0}, {"grain_s": 90_000}, {"measures": []}, {"dimensions": [[]]}, {"dimensions": "a"}, {"keep": [7]}],
)
def test_what_is_of_another_form_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CubeBody.model_validate({**LEAST, **change})
