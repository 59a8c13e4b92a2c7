"""Syntax trees and the text they point into."""

from __future__ import annotations

import pytest

from asc.predicate.limits import Limits
from asc.predicate.syntax.nodes import Node, Source, shortened
from asc.predicate.syntax.parser import parse


def test_depth_is_one_more_than_the_deepest_argument() -> None:
    leaf = Node("column", (), 0, 1, ("a",))
    assert leaf.depth == 1
    assert Node("+", (leaf, Node("neg", (leaf,), 0, 2)), 0, 3).depth == 3


def test_an_error_points_at_its_node() -> None:
    error = Source("a + bad > 1").error_at(Node("column", (), 4, 7), "unknown column", "look again")
    assert str(error) == "unknown column 'bad': look again"
    assert error.caret() == "a + bad > 1\n    ^^^"


@pytest.mark.parametrize(("text", "short"), [("abcdef", "abcdef"), ("abcdefg", "abc..."), ("", "")])
def test_shortened(text: str, short: str) -> None:
    assert shortened(text, 6) == short


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("a", 1),
        ("a + 1 > b", 5),
        ("a BETWEEN 1 AND b", 5),
        ("CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 WHEN 5 THEN 6 END = 1", 12),
        ("nullif(a + b, 1) = 2", 10),
        ("right(a, b) = 'x'", 7),
        ("decode(a, 1, 2, 3, 4, 5, 6, 7) = 1", 13),
        ("regexp_substr(a, 'b') = 'x'", 7),
        ("a IN (1, 2, 3, 4, 5, 6, 7, 8)", 4),
        ("array_distinct(a) = b", 29),
        ("transform_keys(a, (k, v) -> v)[1] = b", 37),
        ("map(a, 1)[b] = 1", 36),
        ("map('a', 1)[b] = 1", 7),
    ],
)
def test_the_weight_is_that_of_what_spark_makes_of_it(text: str, weight: int) -> None:
    node, _ = parse(text, Limits(), "UTC")
    assert node.weight == weight


def test_what_repeats_its_operand_grows_with_a_power_of_the_depth() -> None:
    text = "a"
    for _ in range(12):
        text = f"nullif({text}, 1)"
    node, _ = parse(text, Limits(), "UTC")
    assert node.weight > 2**12
