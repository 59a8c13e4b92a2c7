"""The map of ``asc demo aircraft``: countries, tracks, and the positions that predicates accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asc.errors import ShapeError
from asc.layer_file import file_rows
from asc.spatial.reading import Rules
from bench.plot import saved
from cli.demo.crossings import Crossing, places_of
from workloads.aircraft import REGION, Aircraft, Reports
from workloads.natural_earth import countries_path

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_INCHES = (9.0, 8.0)
_SPOTS = {"low-over-che": ("#b2182b", 9.0), "near-zurich": ("#2166ac", 5.0)}
_COUNTRY = "CHE"
_EVENTS = {"enter": ("^", "#1b7837"), "exit": ("v", "#e08214")}
_TRACKS = 90


def draw_map(
    path: Path,
    aircraft: list[Aircraft],
    reports: Reports,
    accepted: Mapping[str, npt.NDArray[np.bool_]],
    crossings: Sequence[Crossing],
) -> bool:
    """Draw the map to ``path`` with the suffixes .png and .svg. Return False if matplotlib is not installed."""

    def draw(figure: Any) -> None:
        axes = _draw(figure, aircraft, reports, accepted)
        for event, (marker, colour) in _EVENTS.items():
            x, y = places_of(crossings, event, _COUNTRY, reports)
            label = f"{event} {_COUNTRY}: {len(x):,} events"
            axes.scatter(x, y, s=26, color=colour, marker=marker, label=label, zorder=4, linewidths=0)
        axes.legend(loc="lower right")

    return saved(path, _INCHES, draw)


def _draw(
    figure: Any, aircraft: list[Aircraft], reports: Reports, accepted: Mapping[str, npt.NDArray[np.bool_]]
) -> Any:
    import numpy as np
    from shapely import box

    axes = figure.subplots()
    west, south, east, north = REGION
    for feature in file_rows(countries_path(), Rules(), "ADM0_A3"):
        if isinstance(feature.row, ShapeError) or feature.row.shape is None:
            continue
        for part in getattr(feature.row.shape, "geoms", [feature.row.shape]):
            x, y = part.exterior.xy
            is_shown = feature.id == _COUNTRY
            axes.fill(x, y, facecolor="#fbe9e0" if is_shown else "#f4f4f2", edgecolor="#777777", linewidth=0.8)
        seen = feature.row.shape.intersection(box(west, south, east, north))
        if not seen.is_empty:
            centre = seen.representative_point()
            axes.annotate(feature.id, (centre.x, centre.y), color="#888888", ha="center")
    for number in range(min(_TRACKS, len(aircraft))):
        own = reports.aircraft == number
        # A gap in the reports is a gap in the track.
        breaks = np.flatnonzero(np.diff(reports.seconds[own]) > 30) + 1
        for x, y in zip(np.split(reports.longitude[own], breaks), np.split(reports.latitude[own], breaks), strict=True):
            axes.plot(x, y, color="#4d4d4d", alpha=0.35, linewidth=0.6)
    for query_id, (colour, size) in _SPOTS.items():
        chosen = accepted[query_id]
        x, y = reports.longitude[chosen], reports.latitude[chosen]
        axes.scatter(x, y, s=size, color=colour, label=f"{query_id}: {len(x):,} reports", zorder=3, linewidths=0)
    axes.set_xlim(west, east)
    axes.set_ylim(south, north)
    axes.set_aspect(1 / np.cos(np.radians((south + north) / 2)))
    axes.set_xlabel("longitude")
    axes.set_ylabel("latitude")
    axes.set_title(f"{len(aircraft)} simulated aircraft, the tracks of {min(_TRACKS, len(aircraft))} of them")
    return axes
