"""Two tiers of one suite: the gate, within 15 minutes, and with ``--nightly`` all of it at full size.

What the marker ``nightly`` has runs in the second alone (``make nightly``); a test of another size in each asks
``full_size``. The gate's Hypothesis examples are the same in every run, the nightly ones are drawn at random.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

T = TypeVar("T")
PartOf = Callable[[Iterable[T], int], list[T]]

NIGHTLY = "--nightly"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(NIGHTLY, action="store_true", help="full sizes, and Hypothesis examples drawn at random")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose how examples are drawn, before Hypothesis takes its seed and before a test is imported."""
    from hypothesis import settings

    # A deadline is a ceiling of wall-clock time: other processes decide whether a test keeps it.
    settings.register_profile("ci", derandomize=True, deadline=None, max_examples=50)
    # In continuous integration Hypothesis derandomises what says nothing of it.
    settings.register_profile("nightly", derandomize=False, print_blob=True, deadline=None)
    settings.load_profile("nightly" if config.getoption(NIGHTLY) else "ci")
    if config.getoption(NIGHTLY) and config.option.hypothesis_seed is None:
        # The processes that run tests get the options of the one that starts them, and so its seed.
        config.option.hypothesis_seed = str(secrets.randbits(32))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption(NIGHTLY):
        seed = config.option.hypothesis_seed
        terminalreporter.write_line(f"Hypothesis drew at random: {NIGHTLY} --hypothesis-seed={seed} draws the same")


@pytest.fixture(scope="session")
def full_size(request: pytest.FixtureRequest) -> bool:
    """Whether tests run at full size, which is not so in the gate."""
    return bool(request.config.getoption(NIGHTLY))


@pytest.fixture(scope="session")
def part_of(full_size: bool) -> PartOf[object]:
    """Returns all of what it is given at full size, and in the gate one of so many."""
    return lambda items, share: list(items)[:: 1 if full_size else share]
