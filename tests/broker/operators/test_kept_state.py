"""The union of what is kept: its member is the one of the name, and shows what the folder says and no more."""

from __future__ import annotations

from typing import get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from broker.operators.kept_body import KeptBody
from broker.operators.kept_state import KeptState, kept_state
from broker.operators.kinds import fold_kinds, kept_bodies

ADAPTER: TypeAdapter[KeptBody] = TypeAdapter(KeptState)


def test_every_kind_whose_states_are_folded_says_what_is_kept() -> None:
    assert fold_kinds().keys() <= kept_bodies().keys()


@pytest.mark.parametrize("name", kept_bodies())
def test_a_model_has_the_name_of_its_kind_and_refuses_other_fields(name: str) -> None:
    assert get_args(kept_bodies()[name].model_fields["name"].annotation) == (name,)
    with pytest.raises(ValidationError, match="unknown field"):
        ADAPTER.validate_python(kept_state(name, {"nobody_knows": 1}))
