"""The worked example's plan and samples: what the paper's Examples 4 to 7 are measured on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from asc.evaluation.regions import region_ids
from asc.plan.plan import Plan
from monitor.sample import Sample


@pytest.fixture(scope="session")
def example(worked_example: Any) -> Plan:
    plan: Plan = worked_example.plan
    return plan


@pytest.fixture(scope="session")
def sample_of(worked_example: Any) -> Callable[[Sequence[str]], Sample]:
    """The sample of some of the example's tuples, by name."""

    def sample(names: Sequence[str]) -> Sample:
        plan = worked_example.plan
        return Sample.of(plan.blocks[0], region_ids(plan, worked_example.columns(names), len(names)))

    return sample
