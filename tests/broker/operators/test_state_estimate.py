"""The union of estimates: each kind whose states are estimated has a model with its name and a text."""

from __future__ import annotations

from typing import get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from broker.operators.estimate_body import EstimateBody
from broker.operators.kinds import estimate_bodies, fold_kinds
from broker.operators.state_estimate import StateEstimate


@pytest.mark.parametrize("name", fold_kinds())
def test_every_kind_has_a_model_with_its_name_and_a_text(name: str) -> None:
    fields = estimate_bodies()[name].model_fields
    assert get_args(fields["name"].annotation) == (name,)
    assert fields["text"].is_required()


@pytest.mark.parametrize("name", fold_kinds())
def test_another_form_is_refused(name: str) -> None:
    adapter: TypeAdapter[EstimateBody] = TypeAdapter(StateEstimate)
    with pytest.raises(ValidationError):
        adapter.validate_python({"name": name})
    with pytest.raises(ValidationError):
        adapter.validate_python({"name": name, "text": "", "nobody_knows": 1})
