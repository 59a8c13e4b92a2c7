"""Pinned views of a cube, which are always stored, as the API and the registry represent them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from asc.errors import CubeError
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.question import interval_panes
from asc.operators.cube.view import View, grain_text
from asc.spark_types import folded

PINS_MAX = 64
"""The largest number of pinned views of a cube."""

_REMEDY = 'give a list of cuboids, as [["carrier"], {"by": ["origin"], "grain_s": 86400}]'


def pins_of(plain: object, definition: CubeDefinition) -> tuple[View, ...]:
    """Return the views in a JSON list. Raise CubeError if an entry is invalid.

    An entry is a list of names, which means a cuboid in the cube's own panes, or an object with ``by`` and ``grain_s``.
    The base view is refused, because it is always stored.

    >>> definition = CubeDefinition.parse({"dimensions": [["a", "b"]], "measures": ["count(*)"], "grain_s": 3600})
    >>> pins_of([["a"], {"by": [], "grain_s": 86400}], definition)
    (View(cuboid=(1,), panes=1), View(cuboid=(0,), panes=24))
    """
    if plain is None:
        return ()
    if not isinstance(plain, Sequence) or isinstance(plain, str):
        raise CubeError("materialise", plain, _REMEDY)
    if len(plain) > PINS_MAX:
        raise CubeError("materialise", len(plain), f"a cube has at most {PINS_MAX} pinned views: leave some out")
    base = View.base(definition.dimensions)
    pins: dict[View, None] = {}
    for entry in plain:
        view = _view(entry, definition)
        name = view.name(definition.dimensions, definition.grain_s or 1)
        if view == base:
            raise CubeError("materialise", name, "is the base view, which every cube stores: leave it out")
        if view in pins:
            raise CubeError("materialise", name, "is there twice: name each view once")
        pins[view] = None
    return tuple(pins)


def plain_pins(pins: Sequence[View], definition: CubeDefinition) -> list[object]:
    """Return views as a JSON list that :func:`pins_of` accepts."""
    dimensions = definition.dimensions
    plain: list[object] = []
    for view in pins:
        names = [dimensions.names[place] for place in dimensions.columns(view.cuboid)]
        if view.panes == 1 or definition.grain_s is None:
            plain.append(names)
        else:
            plain.append({"by": names, "grain_s": view.panes * definition.grain_s})
    return plain


def _view(entry: object, definition: CubeDefinition) -> View:
    names, grain_s = entry, None
    if isinstance(entry, Mapping):
        if not entry.keys() <= {"by", "grain_s"}:
            raise CubeError("materialise", entry, _REMEDY)
        names, grain_s = entry.get("by", []), entry.get("grain_s")
    if not isinstance(names, Sequence) or isinstance(names, str):
        raise CubeError("materialise", entry, _REMEDY)
    spelled = [folded(name.strip()) for name in names if isinstance(name, str)]
    twice = next((name for name in names if isinstance(name, str) and spelled.count(folded(name.strip())) > 1), None)
    if twice is not None:
        raise CubeError("materialise", twice, "is named twice in one view: name each dimension once")
    try:
        cuboid = definition.dimensions.cuboid_of(names)
    except CubeError as error:
        raise CubeError("materialise", error.value, error.remedy) from None
    try:
        return View(cuboid, interval_panes(grain_s, definition) or 1)
    except CubeError as error:
        if type(grain_s) is not int or grain_s < 1 or definition.grain_s is None:
            raise CubeError("materialise", error.value, error.remedy) from None
        name = View(cuboid, grain_s).name(definition.dimensions, 1)
        own = grain_text(definition.grain_s)
        fault = f"are no multiple of the cube's {own}" if grain_s % definition.grain_s else "do not divide a day"
        remedy = f"has panes that {fault}: give others, as {own}"
        raise CubeError("materialise", name, remedy) from None
