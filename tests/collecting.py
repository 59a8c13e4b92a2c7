"""Collection at half the cost: each process of a run collects every test, whichever of them it is to run."""

from __future__ import annotations

import gc
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

PROMPT = b">>> "


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Hold off the cyclic collector, and have it pass over the tests from then on.

    It would walk over the thousands of tests again and again, and never free one.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Leave out the search for examples in a file that has none."""
    found = yield
    if file_path.suffix != ".py" or PROMPT in file_path.read_bytes():
        return found
    return [each for each in found if not isinstance(each, DoctestModule)]
