"""The constructs of the worked example, bit for bit (Definition 1 and Examples 1 and 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.keys.constraint import Cut
from asc.plan.construct import Construct
from asc.plan.plan import Plan

if TYPE_CHECKING:
    from conftest import WorkedExample


@pytest.fixture(scope="module")
def plan(worked_example: WorkedExample) -> Plan:
    return worked_example.plan


@pytest.fixture(scope="module")
def constructs(plan: Plan) -> dict[str, Construct]:
    return {construct.attribute.sql: construct for construct in plan.constructs(0)}


def test_the_plan_is_one_block_over_the_four_attributes(plan: Plan) -> None:
    assert [attribute.sql for attribute in plan.p_attributes] == ["A1", "A2", "A3", "A4"]
    assert len(plan.blocks) == 1


@pytest.mark.parametrize(
    ("name", "qub", "constants", "qrbs"),
    [
        ("A1", "1010", (30, 50), ["1111", "1101", "1101", "1101", "0101"]),
        ("A2", "0101", (20, 50), ["1110", "1110", "1010", "1010", "1011"]),
        ("A3", "1010", (40, 60), ["0111", "0101", "0101", "1101", "1101"]),
        ("A4", "0101", (10, 80), ["1110", "1010", "1010", "1011", "1011"]),
    ],
)
def test_constructs(
    constructs: dict[str, Construct], name: str, qub: str, constants: tuple[int, ...], qrbs: list[str]
) -> None:
    construct = constructs[name]
    assert construct.qub[:4].to01() == qub
    assert construct.constants == constants
    assert [construct.ra.qrb(region)[:4].to01() for region in range(5)] == qrbs
    assert len(construct.ra) == 2 * len(constants) + 1


def test_cuts_lie_before_and_after_every_constant(constructs: dict[str, Construct]) -> None:
    expected: tuple[Cut, ...] = ((30, 0), (30, 1), (50, 0), (50, 1))
    assert constructs["A1"].cuts == expected


def test_null_satisfies_none_of_the_predicates_on_it(constructs: dict[str, Construct]) -> None:
    assert constructs["A1"].ra.qrb(constructs["A1"].null)[:4].to01() == "0101"
    assert constructs["A4"].region_of(None) == 5


def test_example_1(constructs: dict[str, Construct]) -> None:
    second, third = constructs["A2"].ra[1], constructs["A2"].ra[2]
    assert second.qrb[:4].to01() == "1110"
    assert third.cab.to01() == "1010"


@pytest.mark.parametrize(
    ("cover", "covers"),
    [("A1 A2", True), ("A3 A4", True), ("A1 A4", True), ("A2 A3", True), ("A1 A3", False), ("A2 A4", False)],
)
def test_example_3_cover_sets_of_two(constructs: dict[str, Construct], cover: str, covers: bool) -> None:
    first, second = (constructs[name].qub for name in cover.split())
    assert (first | second)[:4].all() is covers
