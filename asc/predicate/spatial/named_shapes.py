"""The shapes of layers that the text of a predicate names."""

from __future__ import annotations

import re

from asc.errors import PredicateError
from asc.predicate.limits import MAX_NESTING_DEPTH, Limits
from asc.predicate.spatial.operands import NAMED
from asc.predicate.syntax.nodes import Node, nodes_of
from asc.predicate.syntax.parser import parse
from asc.spatial.layer import ShapeName

_PLAIN = re.compile(r"\bshape\s*\(\s*'([^'\\]*)'\s*,\s*'([^'\\]*)'\s*\)", re.IGNORECASE)
_ANY = Limits(length_chars=1 << 31, nesting_depth=MAX_NESTING_DEPTH)


def named_shapes(text: str) -> frozenset[ShapeName]:
    """Return the shapes that a predicate names. Return an empty set if the text is no predicate.

    The result may contain a shape that occurs only in a comment or a string. A text without the word ``shape`` costs
    nothing. A text in which each call has two literal strings costs some microseconds. Any other text is parsed.

    >>> sorted(named_shapes("ST_Contains(shape('zones', 'old-town'), ST_Point(lon, lat)) AND delay > 3"))
    [('zones', 'old-town')]
    """
    count = text.lower().count(NAMED)
    if not count:
        return frozenset()
    plain = _PLAIN.findall(text)
    if len(plain) == count:
        # A match within a comment or a string is no shape, but an additional name does no harm.
        return frozenset((layer, shape_id) for layer, shape_id in plain)
    try:
        tree, _ = parse(text, _ANY, "UTC")
    except PredicateError:
        return frozenset()
    return frozenset(name for node in nodes_of(tree) if (name := _name(node)) is not None)


def _name(node: Node) -> ShapeName | None:
    if node.op != "call" or node.value != NAMED or any(arg.op != "literal" for arg in node.args):
        return None
    texts = [arg.value.value for arg in node.args]
    if len(texts) != len(("layer", "id")) or not all(isinstance(text, str) for text in texts):
        return None
    return texts[0], texts[1]
