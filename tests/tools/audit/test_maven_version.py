"""Versions stand in Maven's order."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tools.audit.maven_version import MavenVersion

ORDERED = (
    "1.0-alpha1",
    "1.0-alpha-2",
    "1.0-beta",
    "1.0-m2",
    "1.0-rc1",
    "1.0-SNAPSHOT",
    "1.0",
    "1.0-sp",
    "1.0-whatever",
    "1.0-1",
    "1.0.1",
    "1.2",
    "1.10",
    "1.10.0.0.1",
    "2.0-beta9",
    "2",
    "9999.0-empty-to-avoid-conflict-with-guava",
    "20040616",
)
EQUAL = (
    ("1", "1.0.0"),
    ("1.0", "1-ga"),
    ("4.1.118.Final", "4.1.118"),
    ("1.0-CR1", "1.0-rc1"),
    ("1.0a1", "1.0-alpha-1"),
    ("1.0.0-foo.0", "1-foo"),
)


@pytest.mark.parametrize(("lower", "higher"), list(pairwise(ORDERED)))
def test_order(lower: str, higher: str) -> None:
    assert MavenVersion(lower) < MavenVersion(higher)
    assert MavenVersion(higher) > MavenVersion(lower)
    assert MavenVersion(lower) != MavenVersion(higher)


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_different_spellings_of_one_version(one: str, other: str) -> None:
    assert MavenVersion(one) == MavenVersion(other)
    assert not MavenVersion(one) < MavenVersion(other)
    assert not MavenVersion(other) < MavenVersion(one)
