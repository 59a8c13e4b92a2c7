"""The union of operators: its member is the one of the name, and each reads what answers say of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from broker.operators.kinds import OPERATORS, definition_of, described, settable
from broker.operators.operator_body import OperatorBody, bodies, operators_of

EXAMPLES = [plain for body in bodies().values() for plain in body.examples]


@pytest.mark.parametrize("name", bodies())
def test_every_operator_has_examples(name: str) -> None:
    examples = bodies()[name].examples
    assert {each["name"] for each in examples} == {name}
    assert TypeAdapter(OperatorBody).json_schema()["$defs"][bodies()[name].__name__]["examples"] == list(examples)


@pytest.mark.parametrize("plain", EXAMPLES, ids=lambda plain: str(plain["name"]))
def test_what_is_answered_of_an_operator_can_be_sent_back(plain: dict[str, Any]) -> None:
    body = TypeAdapter(OperatorBody).validate_python(plain)
    operator = definition_of(settable(body.model_dump(by_alias=True)))
    answer = described(operator)
    if answer is not None:
        again = TypeAdapter(OperatorBody).validate_python(answer)
        # As text, for 10 == 10.0.
        assert again.model_dump_json(by_alias=True) == json.dumps(
            again.model_dump(by_alias=True), separators=(",", ":")
        )
        assert sorted(again.model_dump(by_alias=True).items(), key=str) == sorted(answer.items(), key=str)
        # A whole number is written without a fraction.
        numbers = [field for field, own in plain.items() if isinstance(own, int | float)]
        assert [str(answer[field]) for field in numbers] == [str(plain[field]) for field in numbers]
        assert definition_of(settable(answer)) == operator


@pytest.mark.parametrize("plain", [{"name": "cube"}, {}, {"name": None}, "near", {"name": "near", "dwell_s": 3}])
def test_another_name_and_a_field_of_another_operator_are_refused(plain: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(OperatorBody).validate_python(plain)


def test_lists_stand_for_operators_where_the_kind_has_such() -> None:
    own = {**OPERATORS["dbscan"].body.examples[0], "min_samples": [2, 3]}
    assert [each["min_samples"] for each in operators_of(own)] == [2, 3]
    for other in (OPERATORS["near"].body.examples[0], {"name": "near", "eps": [1, 2]}, {"name": ["dbscan"]}, {}):
        assert operators_of(other) == [other]
