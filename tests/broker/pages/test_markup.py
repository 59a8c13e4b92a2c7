"""What becomes markup and what stays text."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from broker.pages.markup import Markup, element, joined
from broker.visible_text import spelled


class Read(HTMLParser):
    """The tags and the text of markup."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""
        self.feed(str(markup))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(), st.text())
def test_whatever_is_given_is_text(child: str, value: str) -> None:
    read = Read(element("p", {"title": value}, child))
    assert read.tags == [("p", [("title", spelled(value, "\n\t"))])]
    assert read.text == spelled(child, "\n\t")


def test_markup_is_kept_and_a_text_of_the_same_letters_is_not() -> None:
    inner = element("b", None, "x")
    assert element("p", None, inner) == "<p><b>x</b></p>"
    assert element("p", None, str(inner)) == "<p>&lt;b&gt;x&lt;/b&gt;</p>"
    assert isinstance(joined(inner, "<"), Markup)
    # What is added to markup is text.
    assert joined(inner + "<") == "<b>x</b>&lt;"


def test_an_empty_element_and_an_attribute_that_is_left_out() -> None:
    assert element("rect", {"x": 1, "class": None}) == '<rect x="1"/>'
    assert element("td", {"class": "number"}) == '<td class="number"></td>'
