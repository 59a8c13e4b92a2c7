"""The API endpoints that only cubes have: questions, backfills, bins, stored views and dumps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import Field, StrictBool, StrictInt, model_validator

from asc.operators.cube.definition import OP
from asc.operators.cube.question import DEFAULT_LIMIT, LIMIT_MAX
from broker.answers.cube import CubeAnswer, CubeBackfillProgress, CubeBins, CubeLattice, CubeOptimised, CubeRebinned
from broker.body import Body, Number, Text
from broker.http.file_answer import FileAnswer
from broker.http.operators.cube_lookups import lookup_routes, lookups_of
from broker.http.operators.cube_optimiser import apply_proposal, proposed
from broker.http.operators.cube_readable import ReadableCube, readable_cube
from broker.http.operators.cube_rebin import apply_rebinned, rebinned
from broker.http.scoped_service import ScopedService
from broker.operators.cube.folder import CubeFolder

DUMP_TYPE = "application/vnd.sqlite3"
STATES_TYPE = "application/vnd.apache.arrow.stream"
_STATES: dict[int | str, dict[str, Any]] = {
    200: {"content": {STATES_TYPE: {"schema": {"type": "string", "format": "binary"}}}}
}
_FILE: dict[str, Any] = {DUMP_TYPE: {"schema": {"type": "string", "format": "binary"}}}


class StoredViewName(Body):
    """The name of a stored view of a cube: the dimensions of its cuboid, and the length of its panes in seconds."""

    by: list[Text] = Field(default=[], description="The dimensions of the cuboid.")
    grain_s: Number | None = Field(default=None, ge=1, allow_inf_nan=False, description="Seconds of its panes.")

    @model_validator(mode="before")
    @classmethod
    def _is_object(cls, plain: Any) -> Any:
        if not isinstance(plain, dict):
            raise ValueError('give a stored view as an object, as {"by": ["carrier"], "grain_s": 86400}')
        return plain


class CubeOptimiseBody(Body):
    """The parameters of a run of a cube's optimiser, which chooses the views to store."""

    dry_run: StrictBool = Field(default=False, description="Whether the plan is only returned, and not applied.")


class CubeRebinBody(Body):
    """A request for new edges of a cube's bins. All cells of the cube are deleted, because they belong to the former
    bins.
    """

    dimensions: list[Text] = Field(default=[], description="The names of the bins; by default all of the cube.")
    calibrated: list[Text] = Field(
        default=[],
        description="Bins with the edges to use, as 'bins(temp, 4, [10, 20, 30]) AS temp'; without them the last "
        "records of the stream decide.",
    )
    dry_run: StrictBool = Field(default=False, description="Whether the effect is only returned.")


class CubeQuestion(Body):
    """A question to a cube: which groups and measures to return, over which interval of event time."""

    by: list[Text] | list[list[Text]] = Field(
        default=[],
        description="A cuboid, as ['carrier'], or a list of them: grouping sets. [] is one row of all. A name may be "
        "an attribute of a look-up, as planes.manufacturer.",
    )
    where: Text | None = Field(default=None, description="A predicate over dimensions and attributes of look-ups.")
    within: list[float | Text] | dict[str, Any] | None = Field(
        default=None,
        description="Only cells of geohashes inside a scope, or that touch it: a box as [west, south, east, north], a "
        "list of geohashes, or a GeoJSON Polygon or MultiPolygon; with several geohash dimensions, "
        "{'dimension': name, 'scope': ...}.",
    )
    begin: Annotated[Text | None, Field(alias="from", description="The beginning, on the grain.")] = None
    end: Annotated[Text | None, Field(alias="to", description="The exclusive end, on the grain.")] = None
    last_s: StrictInt | None = Field(
        default=None,
        description="Seconds up to the last closed pane, or with live up to the newest open one; no from and to then.",
    )
    grain_s: Number | None = Field(
        default=None,
        ge=1,
        allow_inf_nan=False,
        description="Seconds: rows for each interval of so many, a multiple of the cube's grain, or the grain of a "
        "band of older panes.",
    )
    grain: Literal["1d", "1M"] | None = Field(
        default=None,
        description="Rows for each day or month of the time zone, in place of grain_s; each has its window too.",
    )
    hours: Text | None = Field(
        default=None,
        description="Local hours whose panes are read, the end exclusive, as '14-16', '22-2' or '8-10,14-16'.",
    )
    live: StrictBool = Field(default=False, description="Whether panes that are still open are counted too.")
    late: StrictBool = Field(default=False, description="Whether late records that stay apart are counted too.")
    measures: list[Text] | None = Field(
        default=None,
        description="Names of declared measures, or functions of their states, as ['corr(x, y)', 'corr(x, z) AS r']; "
        "all declared ones without it.",
    )
    order: list[Text] | None = Field(
        default=None, description="Measures, dimensions, or with a grain pane, as ['delay DESC', 'carrier']."
    )
    limit: StrictInt = Field(default=DEFAULT_LIMIT, ge=1, le=LIMIT_MAX, description="The most rows.")
    states: StrictBool = Field(
        default=False,
        description="Whether the answer is an Arrow IPC stream of the states of one cuboid, in place of rows.",
    )
    cursor: Text | None = Field(default=None, description="That of an answer, for the rows after it.")
    answer_from: StoredViewName | None = Field(
        default=None, description="The pinned or chosen view to read, in place of the nearest ones."
    )


def routes(permitted_of: Callable[[Request], ScopedService]) -> APIRouter:
    """Return the routes that only cubes have. A cube is also a query, so the endpoints under ``/v1/queries`` apply to
    cubes too.
    """
    router = APIRouter(prefix="/v1", tags=["cubes"])
    of_caller = Depends(permitted_of)

    @router.post("/queries/{query_id}/cube/query", response_model=CubeAnswer, responses=_STATES)
    def ask(query_id: str, body: CubeQuestion, permitted: ScopedService = of_caller) -> Response:
        """Return groups of a cube with their measures, computed from the cells of the last committed batch.

        With ``states``, the answer is an Arrow IPC stream. It has the groups with the mergeable states of their
        measures, in place of the values.
        """
        return _asked(permitted, query_id, body)

    @router.post("/queries/{query_id}/cube/backfill", response_model=CubeBackfillProgress)
    def backfill(query_id: str, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Start a backfill: the cube counts the records before its first batch and in its gaps, if the topic still has
        them.

        The answer comes at once, with the progress. The daemon continues the backfill after a restart. A second request
        during a backfill changes nothing.
        """
        permitted.check_may_change()
        found = readable_cube(permitted, query_id)
        found.folder.request_backfill(found.id)
        permitted.note("backfill", {"id": found.query.id})
        return _progress(permitted, found)

    @router.get("/queries/{query_id}/cube/backfill", response_model=CubeBackfillProgress)
    def progress(query_id: str, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return the progress of the backfill of a cube."""
        return _progress(permitted, readable_cube(permitted, query_id))

    @router.get("/queries/{query_id}/cube/lattice", response_model=CubeLattice)
    def lattice(query_id: str, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return the stored views of a cube, and views that it could store: those with the most questions, and those
        with the fewest cells.
        """
        found = readable_cube(permitted, query_id)
        keeper = found.folder.keeper
        return keeper.questions.with_turn(
            found.id, lambda _, reserve: keeper.choice.lattice(found.id, lambda: reserve(0)), permitted.cancellation
        )

    @router.post("/queries/{query_id}/cube/optimise", response_model=CubeOptimised)
    def optimise(query_id: str, body: CubeOptimiseBody, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Choose again which views of a cube to store, by the recent questions. The daemon also does this each hour."""
        if not body.dry_run:
            permitted.check_may_change()
        cube = readable_cube(permitted, query_id)
        proposal = proposed(permitted, cube)
        if not body.dry_run:
            apply_proposal(permitted, cube, proposal)
        return {"id": cube.query.id, "applied": not body.dry_run, **proposal.plain(), "lines": proposal.lines()}

    @router.get("/queries/{query_id}/cube/bins", response_model=CubeBins)
    def bins(query_id: str, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return the bins of a cube: their edges, and the error when a value is replaced by the mean of its bin. There
        is one error over the sample from which the edges were computed, and one over all counted records.
        """
        found = readable_cube(permitted, query_id)
        described = found.folder.keeper.questions.with_turn(
            found.id, lambda snapshot, reserve: snapshot.bins(found.id, reserve), permitted.cancellation
        )
        return {"id": found.query.id, "bins": described}

    @router.post("/queries/{query_id}/cube/rebin", response_model=CubeRebinned)
    def rebin(query_id: str, body: CubeRebinBody, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Replace the edges of a cube's bins. All cells of the cube are deleted, because they belong to the former
        bins, and the cube begins empty.
        """
        permitted.check_may_change()
        cube = readable_cube(permitted, query_id)
        found = rebinned(permitted, cube, body.dimensions, body.calibrated)
        if not body.dry_run and found.bins:
            apply_rebinned(permitted, cube, found)
        applied = not body.dry_run and bool(found.bins)
        return {"id": cube.query.id, "applied": applied, **found.plain(), "lines": found.lines()}

    @router.get("/streams/{name}/cubes/dump", response_class=Response, responses={200: {"content": _FILE}})
    def dump(name: str, permitted: ScopedService = of_caller) -> Response:
        """Return a copy of the SQLite file with all cubes of a stream, as of the last commit. A daemon can start from
        the copy.

        The token must permit to see all queries of the stream and to name all columns. The daemon makes and sends one
        copy at a time.
        """
        stream = permitted.stream_of(name)
        permitted.check_sees_whole_streams("dump of cubes", "use a token without id_prefix")
        permitted.check_sees_records("cubes", "use a token without columns")
        folder = cast(CubeFolder, stream.folders[OP])
        permitted.note("dump", {"stream": stream.name})
        cancellation = permitted.cancellation
        return FileAnswer(lambda: folder.dump(cancellation), cancellation, "cubes.sqlite", DUMP_TYPE)

    router.routes.extend(lookup_routes(permitted_of).routes)
    return router


def _asked(permitted: ScopedService, query_id: str, body: CubeQuestion) -> Response:
    """Return the answer to a question: rows as JSON, or states as an Arrow IPC stream."""
    cube = readable_cube(permitted, query_id)
    asked = body.model_dump(by_alias=True, exclude_unset=True)
    if asked.pop("states", False):
        content = cube.folder.keeper.questions.states(cube.id, asked, permitted.cancellation)
        return Response(content, media_type=STATES_TYPE)
    # The JSON text is sent without pydantic models, because models of up to 100,000 rows would take too long.
    lookups = lookups_of(permitted).now
    text = cube.folder.keeper.questions.query_text(cube.id, asked, permitted.cancellation, lookups)
    return Response(text, media_type="application/json")


def _progress(permitted: ScopedService, found: ReadableCube) -> dict[str, Any]:
    backfill = permitted.stream_of(found.query.stream).backfill
    progress = found.folder.backfill_progress(found.id, found.definition, backfill.source())
    if progress["phase"] == "running" and backfill.problem is not None:
        return {**progress, "problem": backfill.problem}
    return progress
