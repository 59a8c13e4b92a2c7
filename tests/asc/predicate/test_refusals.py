"""Why a function of Spark is refused."""

from __future__ import annotations

import pytest

from asc.predicate.refusals import refusal


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("sum", "aggregate"),
        ("row_number", "window"),
        ("explode", "generator"),
        ("rand", "non-deterministic"),
        ("java_method", "forbidden"),
    ],
)
def test_known_functions(name: str, problem: str) -> None:
    found = refusal(name)
    assert found is not None
    assert found[0] == problem


def test_a_name_never_heard_of_and_a_part_of_one() -> None:
    assert refusal("nonsense") is None
    assert refusal("ran") is None
    assert refusal("rand randn") is None
