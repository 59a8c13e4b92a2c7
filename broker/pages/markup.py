"""HTML and SVG that hold nothing but what was meant: whatever is not markup already is text."""

from __future__ import annotations

from markupsafe import Markup, escape

from broker.visible_text import visible

_KEPT = "\n\t"
"""Of what is hidden: lines and tabs."""

_EMPTY = ("meta", "rect", "line", "path", "circle", "br", "wbr")


def element(name: str, attributes: dict[str, object] | None = None, *children: object) -> Markup:
    """An element; a child that is no :class:`Markup` is text, an attribute that is None is left out.

    >>> element("p", {"class": "a"}, "1 < 2", element("b", None, "x"))
    Markup('<p class="a">1 &lt; 2<b>x</b></p>')
    """
    given = "".join(f' {key}="{_escaped(value)}"' for key, value in (attributes or {}).items() if value is not None)
    if name in _EMPTY:
        return Markup(f"<{name}{given}/>")
    return Markup(f"<{name}{given}>{joined(*children)}</{name}>")


def joined(*children: object) -> Markup:
    """Pieces one after the other, None left out.

    >>> joined(element("b", None, "x"), " & ", None)
    Markup('<b>x</b> &amp; ')
    """
    shown = (child if isinstance(child, Markup) else _escaped(child) for child in children if child is not None)
    return Markup("".join(shown))


def _escaped(value: object) -> str:
    return escape(visible(str(value), _KEPT))
