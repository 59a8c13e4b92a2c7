"""Names of shapes in answers: the text of a shape, which lists all coordinates, is replaced by the name that the user
wrote in the predicate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asc.keys.byte_strings import quoted
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.spatial.layer import Layer
from asc.spatial.shape import INTERSECTS, PLANAR, WGS84, Asked, is_of_shape, shape_text
from broker.queries.join import Join


def shape_names(
    predicate: Predicate, shapes: Mapping[str, Layer], join: Join | None, shape_id: str | None
) -> dict[str, str]:
    """Return the names of the shapes of layers that a predicate uses. Each key is the text of a shape as constraints
    show it, with coordinates; each value is the name, such as ``shape('zones', 'here')``.

    For the predicate of a join for one shape, ``join`` and ``shape_id`` are the join and the shape; the name of this
    shape is ``LAYER.geometry``. Cost: the vertices of the shapes that the predicate names.
    """
    named = {(layer, own): f"shape({quoted(layer)}, {quoted(own)})" for layer, own in predicate.shapes}
    if join is not None and shape_id is not None:
        named[join.layer, shape_id] = f"{join.layer}.geometry"
    keys = [one.like.key for one in predicate.p_attributes if one.like is not None and one.like.subject.parts]
    names: dict[str, str] = {}
    for (name, own), text in named.items():
        layer = shapes.get(name)
        geometry = None if layer is None else layer.shape(own)
        if layer is not None and geometry is not None:
            asked = Asked(geometry, INTERSECTS, crs=PLANAR if layer.is_planar else WGS84)
            names.update((shape_text(key), text) for key in keys if is_of_shape(key, asked.key))
    return names


def with_shape_names(answer: Any, names: Mapping[str, str]) -> Any:
    """Return an answer with the texts of shapes replaced by their names, in all strings at any depth. ``names``: the
    names, by the texts.

    >>> with_shape_names({"terms": ["ST_Covers(ST_GeomFromText('POINT (1 1)'), x)"]}, {
    ...     "ST_GeomFromText('POINT (1 1)')": "shape('zones', 'here')"})
    {'terms': ["ST_Covers(shape('zones', 'here'), x)"]}
    """
    if not names:
        return answer
    if isinstance(answer, str):
        for text, name in names.items():
            answer = answer.replace(text, name)
        return answer
    if isinstance(answer, Mapping):
        return {field: with_shape_names(value, names) for field, value in answer.items()}
    if isinstance(answer, (list, tuple)):
        return [with_shape_names(value, names) for value in answer]
    return answer
