"""Blocks of a page: only they are written, and a broken marker is refused."""

from __future__ import annotations

import pytest

from tools.figures.errors import FiguresError
from tools.figures.page import filled

PAGE = """# Title

<!-- figures: a -->

| old |

<!-- end -->

Between.

<!-- figures: b -->
<!-- end -->
"""


def test_blocks_are_written_and_the_rest_stays() -> None:
    page = filled("x.md", PAGE, lambda name: f"| {name} |")
    assert page.names == ("a", "b")
    assert page.stale == ("a", "b")
    assert page.text == PAGE.replace("| old |", "| a |").replace("b -->\n", "b -->\n\n| b |\n\n")


def test_a_page_that_is_filled_has_nothing_stale() -> None:
    once = filled("x.md", PAGE, lambda name: f"| {name} |").text
    again = filled("x.md", once, lambda name: f"| {name} |")
    assert again.stale == ()
    assert again.text == once
    assert filled("x.md", once, lambda name: "| a |").stale == ("b",)


def test_a_table_may_have_characters_of_patterns() -> None:
    assert r"| \1 \g<0> |" in filled("x.md", PAGE, lambda _: r"| \1 \g<0> |").text


@pytest.mark.parametrize(
    "text",
    [
        "<!-- figures: a -->\n",
        "<!-- end -->\n",
        "<!-- figures: a -->\n<!-- figures: b -->\n<!-- end -->\n",
        "<!-- figures: a -->\n<!-- end -->\n<!-- end -->\n",
    ],
)
def test_markers_are_in_pairs(text: str) -> None:
    with pytest.raises(FiguresError, match=r"page 'x\.md'"):
        filled("x.md", text, lambda _: "")
