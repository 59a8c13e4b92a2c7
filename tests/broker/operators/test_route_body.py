"""The operator ``route`` is the same as none."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from broker.operators.kinds import definition_of, settable
from broker.operators.route_body import RouteBody


def test_route_is_no_operator_and_has_no_fields() -> None:
    assert definition_of(settable(RouteBody(name="route").model_dump())) is None
    with pytest.raises(ValidationError, match="unknown field"):
        RouteBody.model_validate({"name": "route", "key": "k"})
