"""The Prometheus metrics of cubes: their records, windows, cells and bytes, and the questions to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import cast

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from asc.operators.cube.definition import OP
from broker.http.metric_form import MetricForm, filled
from broker.operators.cube.cube_state import BACKFILLED, COUNTERS, CubeState
from broker.operators.cube.folder import CubeFolder
from broker.operators.cube.question_figures import Histogram, QuestionFigures
from broker.operators.cube.stored_view import ROLES
from broker.stream.stream import Stream

_BY_CUBE = ("stream", "query")

_RECORDS = MetricForm(
    "asc_cube_records_total",
    "counter",
    f"Records that a cube accepted since its start, by outcome: {', '.join(COUNTERS)}; counted includes late",
    (*_BY_CUBE, "outcome"),
)
_BACKFILLED = MetricForm(
    "asc_cube_backfill_records_total", "counter", "Records that a cube counted by a backfill since its start", _BY_CUBE
)
_WINDOWS = MetricForm(
    "asc_cube_windows_total", "counter", "Windows that a cube wrote for the first time, without revisions", _BY_CUBE
)
_CELLS = MetricForm("asc_cube_cells", "gauge", "Cells in all pieces of a cube", _BY_CUBE)
_BYTES = MetricForm(
    "asc_cube_bytes",
    "gauge",
    "Bytes of all pieces of a cube, and of the data that its windows need for late records",
    _BY_CUBE,
)
_MATERIALISED = MetricForm(
    "asc_cube_materialised",
    "gauge",
    f"Views that a cube stores beside its base cuboid, by role: {', '.join(ROLES)}",
    (*_BY_CUBE, "role"),
)
_SHARDS = MetricForm("asc_cube_shards", "gauge", "Shards into which the large panes of a cube are divided", _BY_CUBE)
_SECONDS = MetricForm(
    "asc_cube_query_seconds",
    "histogram",
    "Seconds of a question to the cubes of a stream, from API, command line and console",
    ("stream",),
)
_ANSWER_CELLS = MetricForm(
    "asc_cube_answer_cells", "histogram", "Cells from which the answer to a question was computed", ("stream",)
)

FORMS = (_RECORDS, _BACKFILLED, _WINDOWS, _CELLS, _BYTES, _MATERIALISED, _SHARDS, _SECONDS, _ANSWER_CELLS)


class CubeMetrics(Collector):
    """The Prometheus collector of the metrics of cubes. The values are those of the last commit, which the daemon has
    in memory; a scrape opens no file.
    """

    def __init__(self, streams: Mapping[str, Stream]) -> None:
        self._streams = streams

    def collect(self) -> Iterator[Metric]:
        """Yield all of ``FORMS``, including metrics without samples."""
        keepers = {
            name: keeper
            for name, stream in self._streams.items()
            if OP in stream.folders and (keeper := cast(CubeFolder, stream.folders[OP]).opened) is not None
        }
        cubes = [(name, state) for name, keeper in keepers.items() for state in keeper.snapshot.cubes.values()]
        records = (
            ((name, state.id.query, outcome), float(state.counters.get(outcome, 0)))
            for name, state in cubes
            for outcome in COUNTERS
        )
        yield filled(_RECORDS, records)
        yield _by_cube(_BACKFILLED, cubes, lambda state: state.counters.get(BACKFILLED, 0))
        writing = [(name, state) for name, state in cubes if state.windows is not None]
        yield _by_cube(_WINDOWS, writing, lambda state: 0 if state.windows is None else state.windows.count)
        yield _by_cube(_CELLS, cubes, lambda state: state.cells)
        yield _by_cube(_BYTES, cubes, lambda state: state.size_bytes)
        roles = (
            ((name, state.id.query, role), float(sum(own.role == role for own in (*state.views, *state.bands))))
            for name, state in cubes
            for role in ROLES
        )
        yield filled(_MATERIALISED, roles)
        yield _by_cube(_SHARDS, cubes, lambda state: len(state.shards))
        figures = {name: keeper.questions.figures for name, keeper in keepers.items()}
        yield _histogram(_SECONDS, figures, lambda own: own.seconds)
        yield _histogram(_ANSWER_CELLS, figures, lambda own: own.cells)


def collector(streams: Mapping[str, Stream]) -> Collector:
    """Return the collector of the metrics of cubes. ``streams``: the streams by name."""
    return CubeMetrics(streams)


def _by_cube(form: MetricForm, cubes: list[tuple[str, CubeState]], value: Callable[[CubeState], int]) -> Metric:
    return filled(form, (((name, state.id.query), float(value(state))) for name, state in cubes))


def _histogram(
    form: MetricForm, figures: Mapping[str, QuestionFigures], own: Callable[[QuestionFigures], Histogram]
) -> Metric:
    family = form.histogram()
    for name, each in figures.items():
        histogram = own(each)
        reached, total = histogram.cumulative()
        bounds = [*map(str, histogram.bounds), "+Inf"]
        family.add_metric([name], list(zip(bounds, reached, strict=True)), total)
    return family
