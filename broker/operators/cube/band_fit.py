"""The check whether the bands of a changed definition fit the bands that a cube has stored. Two bands fit if one of
them can be computed from the other, so that panes can move from the finer to the coarser band.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from asc.errors import CubeError
from asc.operators.cube.json_values import bound_text
from asc.operators.cube.keep import Band, bands_of, plain_bands
from asc.operators.cube.view import View
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.stored_view import StoredView


def unfit(state: CubeState, bands: Sequence[Band]) -> tuple[Band, StoredView] | None:
    """Return the first wanted band that does not fit a stored band, and the finest stored band that it does not fit.

    Neither of the two can be computed from the other, so that no pane of the cube can age. Return None if all bands
    fit. Stored bands without panes are ignored, because the cube removes them.
    """
    for band in bands:
        for stored in state.bands:
            if stored.panes.count and not _has_order(band.view, stored.view):
                return band, stored
    return None


def check_fit(state: CubeState, bands: Sequence[Band]) -> None:
    """Raise CubeError if the wanted bands ``bands`` do not fit the stored bands. The remedy of the error names bands
    that fit, if there are any.
    """
    found = unfit(state, bands)
    if found is None:
        return
    band, stored = found
    fitting = _fitting(state, bands)
    remedy = "remove the query and register it again, which deletes its cells"
    if fitting is not None:
        remedy = f"give {json.dumps(fitting, ensure_ascii=False)}, or {remedy}"
    raise CubeError("keep", band.text(state.definition), f"does not fit {_stored_text(state, stored)}: {remedy}")


def ageing_problem(state: CubeState, bands: Sequence[Band]) -> str | None:
    """Return the reason why no pane of a cube ages although its definition has bands. Return None if there is none."""
    found = unfit(state, bands)
    if found is None:
        return None
    band, stored = found
    return f"the band {band.text(state.definition)} does not fit {_stored_text(state, stored)}"


def _has_order(one: View, other: View) -> bool:
    return one.is_finer(other) or other.is_finer(one)


def _stored_text(state: CubeState, stored: StoredView) -> str:
    name = stored.view.name(state.definition.dimensions, state.grain_us // 1_000_000)
    until = "" if stored.end is None else f" before {bound_text(stored.end * state.grain_us)}"
    return f"the older panes, which are stored as {name}{until}"


def _fitting(state: CubeState, bands: Sequence[Band]) -> list[str] | None:
    """Return the wanted bands as texts, with a stored band in place of each wanted band that does not fit. Return None
    if these bands are no valid ``keep`` of the definition.
    """
    age_s_by_view: dict[View, int] = {}
    for band in bands:
        found = unfit(state, [band])
        age_s_by_view[band.view if found is None else found[1].view] = band.age_s
    texts = plain_bands([Band(view, age_s) for view, age_s in age_s_by_view.items()], state.definition)
    try:
        bands_of(texts, state.definition)
    except CubeError:
        return None
    return texts
