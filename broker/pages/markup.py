"""HTML and SVG that are safe against injection: every value that is not markup already is escaped as text."""

from __future__ import annotations

from markupsafe import Markup, escape

from broker.visible_text import spelled

_KEPT = "\n\t"
"""The control characters that are not replaced: line breaks and tabs."""

_EMPTY = ("meta", "rect", "line", "path", "circle", "br", "wbr")


def element(name: str, attributes: dict[str, object] | None = None, *children: object) -> Markup:
    """Return an element. A child that is not :class:`Markup` is escaped as text. An attribute that is None is
    omitted.

    >>> element("p", {"class": "a"}, "1 < 2", element("b", None, "x"))
    Markup('<p class="a">1 &lt; 2<b>x</b></p>')
    """
    given = "".join(f' {key}="{text(str(value))}"' for key, value in (attributes or {}).items() if value is not None)
    if name in _EMPTY:
        return Markup(f"<{name}{given}/>")
    return Markup(f"<{name}{given}>{joined(*children)}</{name}>")


def joined(*children: object) -> Markup:
    """Return the concatenated pieces. Pieces that are None are omitted.

    >>> joined(element("b", None, "x"), " & ", None)
    Markup('<b>x</b> &amp; ')
    """
    return Markup("".join(text(child) for child in children if child is not None))


def text(value: object) -> Markup:
    r"""Return a value as markup, for an element or an attribute. Markup stays unchanged; any other value is escaped.

    Every template of the console gets its values from this function. Characters that a browser would obey or hide are
    spelled out.

    >>> text("<a\u202eb>"), text(element("br"))
    (Markup('&lt;a\\u202eb&gt;'), Markup('<br/>'))
    """
    return value if isinstance(value, Markup) else escape(spelled(str(value), _KEPT))


def field(value: object) -> Markup:
    """Return the value of a form field with every character unchanged, because the form sends the value back."""
    return escape(str(value))
