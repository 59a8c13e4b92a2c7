"""Why a function of Spark is refused."""

from __future__ import annotations

import pytest

from asc.predicate.catalogue.refusals import refusal


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("sum", "aggregate function"),
        ("row_number", "window function"),
        ("explode", "generator function"),
        ("rand", "non-deterministic function"),
        ("java_method", "forbidden function"),
    ],
)
def test_known_functions(name: str, problem: str) -> None:
    assert refusal(name)[0] == problem


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("lenght", "did you mean 'length'?"),
        ("dat_trunc", "did you mean 'date_trunc'?"),
        ("nonsense", "'asc functions' lists those that are allowed"),
        ("ran", "'asc functions' lists those that are allowed"),
        ("rand randn", "'asc functions' lists those that are allowed"),
        ("", "'asc functions' lists those that are allowed"),
    ],
)
def test_names_never_heard_of(name: str, remedy: str) -> None:
    assert refusal(name) == ("unknown function", remedy)
