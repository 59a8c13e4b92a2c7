"""Contract of every exception that users meet: one line of subject, value and remedy."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asc.errors import AscError
from cli.failure import failure_text

ROOT = Path(__file__).parents[1]
DEFINES_AN_ERROR = re.compile(r"^class \w+\(\w*Error\):", re.MULTILINE)

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "ConfigFaultsError": ("subject", "a\nb", "remedy", []),
    "BulkRefusedError": ("subject", "a\nb", "remedy", []),
    "ForbiddenBulkError": ("subject", "a\nb", "remedy", []),
    "FaultyFilesError": ([],),
}
"""Of those that are made of something else, or of more."""


def packages() -> list[Path]:
    """Return the packages of the tree, the tools among them, by what they are: folders of Python beside the tests."""
    return [init.parent for init in ROOT.glob("*/__init__.py") if init.parent.name != "tests"]


def classes() -> list[type[AscError]]:
    """Return every exception of the tree that derives from the root."""
    for package in packages():
        for path in package.rglob("*.py"):
            if DEFINES_AN_ERROR.search(path.read_text("utf-8")):
                importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return sorted(set(descendants(AscError)), key=lambda kind: f"{kind.__module__}.{kind.__name__}")


def descendants(root: type[AscError]) -> Iterator[type[AscError]]:
    yield root
    for inheriting in root.__subclasses__():
        yield from descendants(inheriting)


@pytest.mark.parametrize("kind", classes(), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_it_ends_a_command_in_one_line_with_a_remedy(kind: type[AscError]) -> None:
    error = kind(*ARGUMENTS.get(kind.__name__, ("subject", "a\nb", "remedy")))
    line = failure_text(error)
    assert line == f"error: {error}"
    assert "\n" not in line
    assert (error.subject, error.value, error.remedy) == error.args
    if kind.__name__ != "FaultyFilesError":
        assert line == r"error: subject 'a\nb': remedy"


def test_every_package_has_its_own_below_the_root() -> None:
    found = {kind.__module__.partition(".")[0] for kind in classes()}
    assert {"asc", "broker", "monitor", "cli", "workloads"} <= found
