"""Syntax trees and the text they point into."""

from __future__ import annotations

import pytest

from asc.predicate.syntax import Node, Source, shortened


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
