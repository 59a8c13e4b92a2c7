"""Each refusal of pydantic that a remedy is written for: pydantic has an error of that type, with that context."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr, TypeAdapter, ValidationError

from broker.value_remedy import value_remedy


@pytest.mark.parametrize(
    ("wanted", "value", "said"),
    [
        (Annotated[int, Field(gt=0)], 0, "give a number above 0"),
        (Annotated[int, Field(ge=1)], 0, "give a number from 1 on"),
        (Annotated[float, Field(ge=0)], -0.1, "give a number from 0 on"),
        (Annotated[int, Field(lt=2)], 2, "give a number below 2"),
        (Annotated[int, Field(le=65535)], 70000, "give a number of at most 65535"),
        (Annotated[float, Field(allow_inf_nan=False)], math.inf, "give a finite number"),
        (StrictInt, "http", "give an integer"),
        (StrictInt, 1.5, "give an integer"),
        (StrictInt, "5000", "give an integer, without quotes"),
        (StrictFloat, "5s", "give a number"),
        (StrictFloat, "0.5", "give a number, without quotes"),
        (StrictBool, "no", "give true or false"),
        (StrictStr, 7, "give a text"),
        (list[int], 7, "give a list"),
        (Literal["json", "csv"], "xml", "give 'json' or 'csv'"),
        (dict[str, int], 7, None),
    ],
    ids=str,
)
def test_a_remedy_says_what_to_give(wanted: Any, value: object, said: str | None) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(wanted).validate_python(value)
    assert value_remedy(caught.value.errors()[0]) == said
