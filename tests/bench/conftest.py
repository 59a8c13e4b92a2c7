"""Small streams for the tests of the experiments, and what holds for the results of every one.

Whether a claim of the paper holds is never asserted: only that it is judged from the results.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.adaptive import MACRO, REFINED
from bench.comparison import BEST, CONTENDERS, WORST
from bench.recorded_stream import RecordedStream
from workloads.predicate_sets import PredicateShape, evenly, predicate_set
from workloads.synthetic import non_uniform_tuples, synthetic_columns


@pytest.fixture
def small_stream() -> Callable[..., RecordedStream]:
    """A stream of skewed, correlated tuples under conjunctive predicates."""

    def make(
        attributes: int, *, queries: int = 10, tuples: int = 300, predicates: tuple[int, int] = (2, 3), seed: int = 1
    ) -> RecordedStream:
        most = min(attributes, predicates[1])
        shape = PredicateShape(queries, (min(most, predicates[0]), most), 0.3)
        names, _ = synthetic_columns(attributes, 20)
        workload = predicate_set(shape, names, evenly(attributes, 20), seed=seed)
        return RecordedStream.of(workload, non_uniform_tuples(tuples, attributes=attributes, domain=20, seed=seed))

    return make


@pytest.fixture(scope="session")
def written() -> Callable[[Path, str], dict[str, Any]]:
    """The result that an experiment left in a folder, once its plots have been seen to be there."""

    def read(folder: Path, name: str) -> dict[str, Any]:
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (folder / f"{name}.svg").read_text("utf-8")
        result: dict[str, Any] = json.loads((folder / f"{name}.json").read_text("utf-8"))
        assert result["benchmark"] == name
        assert result["scale"] == 0.01
        assert result["machine"]["cores"] >= 1
        assert result["claims"]
        for claim in result["claims"]:
            assert claim["ours"]
            assert claim["holds"] in (True, False)
            assert claim["certain"] in (True, False)
            assert not (claim["holds"] and claim["evidence"])
        return result

    return read


@pytest.fixture(scope="session")
def check_costs() -> Callable[[dict[str, Any]], None]:
    """What holds of a comparison for any tuples and predicates."""

    def check(case: dict[str, Any]) -> None:
        costs, explained = case["costs"], case["explained"]
        assert set(costs) == set(CONTENDERS)
        constructs = case["realised"]["p_attributes"]
        matched = 1 - explained["dropped"]
        for cost in costs.values():
            assert matched * constructs <= cost <= constructs
        # The two were found on a sample of these very tuples, and nothing is below what each tuple needs.
        sample = explained["sample_costs"]
        assert explained["exact"]
        assert explained["least"] <= sample[BEST] <= sample[MACRO]
        assert sample[REFINED] <= sample[MACRO]
        assert costs[BEST] <= costs[WORST]

    return check


@pytest.fixture
def one_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every experiment with one seed."""
    monkeypatch.setattr("bench.experiment.SEEDS", (1,))


@pytest.fixture
def two_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every experiment with two seeds: the fewest that have an interval."""
    monkeypatch.setattr("bench.experiment.SEEDS", (1, 2))
