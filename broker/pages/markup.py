"""HTML and SVG that hold nothing but what was meant: whatever is not markup already is text."""

from __future__ import annotations

from markupsafe import Markup, escape

from broker.visible_text import spelled

_KEPT = "\n\t"
"""Of what is hidden: lines and tabs."""

_EMPTY = ("meta", "rect", "line", "path", "circle", "br", "wbr")


def element(name: str, attributes: dict[str, object] | None = None, *children: object) -> Markup:
    """Return an element; a child that is no :class:`Markup` is text, an attribute that is None is omitted.

    >>> element("p", {"class": "a"}, "1 < 2", element("b", None, "x"))
    Markup('<p class="a">1 &lt; 2<b>x</b></p>')
    """
    given = "".join(f' {key}="{text(str(value))}"' for key, value in (attributes or {}).items() if value is not None)
    if name in _EMPTY:
        return Markup(f"<{name}{given}/>")
    return Markup(f"<{name}{given}>{joined(*children)}</{name}>")


def joined(*children: object) -> Markup:
    """Return pieces one after the other, None omitted.

    >>> joined(element("b", None, "x"), " & ", None)
    Markup('<b>x</b> &amp; ')
    """
    return Markup("".join(text(child) for child in children if child is not None))


def text(value: object) -> Markup:
    r"""Return a value as a page has it, in an element or an attribute: markup as it is, anything else as text.

    Every template of the console has its values from here. Characters that a browser would obey or hide are spelled.

    >>> text("<a\u202eb>"), text(element("br"))
    (Markup('&lt;a\\u202eb&gt;'), Markup('<br/>'))
    """
    return value if isinstance(value, Markup) else escape(spelled(str(value), _KEPT))


def field(value: object) -> Markup:
    """Return the value of a field of a form: each character as it is, for the form sends back what it holds."""
    return escape(str(value))
