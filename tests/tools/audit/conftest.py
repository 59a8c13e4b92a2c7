"""What is installed, read once for the tests that look at all of it."""

from __future__ import annotations

import pytest

from broker.runtime.jars import is_complete
from broker.runtime.locked_jars import locked_sets
from tools.audit.component import Component
from tools.audit.inventory import inventory
from tools.audit.policy import read_policy


@pytest.fixture(scope="session")
def components() -> list[Component]:
    """Every package and jar, with what the project's policy declares."""
    if not all(is_complete(jar_set) for jar_set in locked_sets()):
        pytest.skip("the locked jars are not in the cache: make setup")
    policy = read_policy()
    return [policy.declare(component) for component in inventory(policy.groups)]
