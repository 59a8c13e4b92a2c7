"""The API endpoints of layers: reading, writing and removing rows. A row is a GeoJSON Feature, whose geometry is the
shape.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from time import monotonic
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from asc.errors import AscError, ShapeError
from asc.json_fault import json_fault
from asc.spatial.feature import Feature, feature_document
from broker.answers.layer import LayerDetails, LayerFeature, Layers, ShapePage, ShapesWritten
from broker.cancellation import Cancellation
from broker.errors import BulkRefusedError, NotThereError, QueryError
from broker.http.bulk import lines_of
from broker.http.models import plain_error, plain_offsets
from broker.http.scoped_service import ScopedService
from broker.layers.stored_layer import StoredLayer, check_shape_id, judged

_PAGE_MAX = 1_000
_REFUSED_MAX = 100

_JUDGED_TOGETHER_BYTES = 1 << 20
"""The size in bytes of a group of rows that is validated at once. Between two groups, the time limit is checked."""

_JUDGED_WITHIN_S = 120.0
"""The seconds that the validation of all rows of one request may take. A polygon that is constructed to be hard to
validate can take a second or two.
"""


def layer_routes(permitted_of: Callable[[Request], ScopedService]) -> APIRouter:
    """Return the routes under ``/v1/layers``."""
    router = APIRouter(prefix="/v1/layers", tags=["layers"])
    of_caller = Depends(permitted_of)

    @router.get("", response_model=Layers)
    def layers(permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return the configured layers. Each has the number of its rows, and the number of ids whose last Feature is
        refused.
        """
        return {"layers": [_described(permitted, name) for name in sorted(permitted.layers)]}

    @router.get("/{name}", response_model=LayerDetails)
    def layer(name: str, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return one layer, with the first 100 refused Features, and with the offsets of the layer's topic up to which
        the running plans contain the rows.
        """
        stored = permitted.layer(name)
        refused = [{"id": key, "reason": reason} for key, reason in islice(stored.refused.items_from(), _REFUSED_MAX)]
        bounds = None if stored.bounds is None else list(stored.bounds)
        more = {"bounds": bounds, "refusals": refused, "offsets": plain_offsets(stored.mark.offsets)}
        return {**_described(permitted, name), **more}

    @router.get("/{name}/shapes", response_model=ShapePage)
    def shapes(
        name: str,
        prefix: str = "",
        limit: Annotated[int, Query(ge=1, le=_PAGE_MAX)] = 100,
        cursor: str | None = None,
        permitted: ScopedService = of_caller,
    ) -> dict[str, Any]:
        """Return a page of the rows of a layer, ordered by id. Each has the kind, the number of vertices and the bounds
        of its shape.
        """
        stored = permitted.layer(name)
        first = max(prefix, "" if cursor is None else cursor + "\0")
        rows = list(islice(stored.rows.items_from(first), limit + 1))
        rows = [(key, row) for key, row in rows if key.startswith(prefix)]
        more = len(rows) > limit
        listed = [{"id": key, **_shape(row)} for key, row in rows[:limit]]
        return {"shapes": listed, "cursor": listed[-1]["id"] if more else None}

    @router.get("/{name}/shapes/{shape_id:path}", response_model=LayerFeature)
    def shape(name: str, shape_id: str, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return one row, as a GeoJSON Feature."""
        row = permitted.layer(name).rows.get(shape_id)
        if row is None:
            raise NotThereError("shape", f"{name}/{shape_id}"[:300], "its layer has none of that id")
        return {"id": shape_id, **feature_document(row)}

    @router.put("/{name}/shapes/{shape_id:path}", response_model=ShapesWritten)
    def put(name: str, shape_id: str, feature: dict[str, Any], permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Add or replace one row, a GeoJSON Feature. The answer comes when the running plans contain the row."""
        lines = _Lines(permitted.layer(name))
        lines.take({**feature, "id": shape_id}, 1)
        return lines.written(permitted, name)

    @router.delete("/{name}/shapes/{shape_id:path}", response_model=ShapesWritten)
    def remove(name: str, shape_id: str, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Remove one row. The answer comes when no later record is compared with the row's shape."""
        stored = permitted.layer(name)
        if shape_id not in stored.rows and shape_id not in stored.refused:
            raise NotThereError("shape", f"{name}/{shape_id}"[:300], "its layer has none of that id")
        return _written(permitted, name, {}, [shape_id], Counter())

    @router.post("/{name}/shapes", response_model=ShapesWritten)
    async def post(
        request: Request,
        name: str,
        *,
        keep_going: bool = False,
        dry_run: bool = False,
        permitted: ScopedService = of_caller,
    ) -> dict[str, Any]:
        """Add or replace many rows, given as NDJSON lines of GeoJSON Features with an ``id``. Lines ``{"remove":
        "ID"}`` remove rows.

        All lines are applied or none. With ``keep_going``, the valid lines are applied, and the answer lists the
        refused lines. With ``dry_run``, the lines are only validated.
        """
        from starlette.concurrency import run_in_threadpool

        content = await request.body()
        return await run_in_threadpool(_load, permitted, name, content, keep_going=keep_going, is_rehearsal=dry_run)

    return router


def _load(
    permitted: ScopedService, name: str, content: bytes, *, keep_going: bool, is_rehearsal: bool
) -> dict[str, Any]:
    lines = _Lines(permitted.layer(name))
    for number, line in enumerate(lines_of(content), 1):
        if not line.strip():
            continue
        try:
            document = json.loads(line)
        except (ValueError, RecursionError) as error:
            shown = line[:60].decode("utf-8", "replace")
            lines.refuse(number, None, QueryError("line", shown, f"is not JSON: {json_fault(error)}"))
            continue
        lines.take(document, number)
    return lines.written(permitted, name, keep_going=keep_going, is_rehearsal=is_rehearsal)


class _Lines:
    """The rows and removals of a request. All rows are validated by the rules of the layer's topic before anything is
    written.
    """

    def __init__(self, layer: StoredLayer) -> None:
        self._layer = layer
        self._texts: dict[str, tuple[int, str]] = {}
        self._removes: dict[str, None] = {}
        self._errors: list[dict[str, Any]] = []

    def take(self, document: object, number: int) -> None:
        """Add a row, or the removal of a row. Refuse the line if its id is invalid or occurs twice. ``document``: the
        parsed JSON of the line. ``number``: the line's number, from 1.
        """
        shape_id: str | None = None
        try:
            plain = document if isinstance(document, dict) else {}
            is_removal = plain.keys() == {"remove"}
            given = plain.get("remove" if is_removal else "id")
            if not isinstance(given, (str, int)) or isinstance(given, bool):
                raise ShapeError("id of a Feature", str(given)[:80], 'give each row an "id", a text')
            shape_id = check_shape_id(str(given))
            if shape_id in self._texts or shape_id in self._removes:
                raise ShapeError("duplicate id", shape_id, "is there twice: keep one of them")
            if is_removal:
                self._removes[shape_id] = None
            else:
                # Keep the Feature as it was sent, but without the id, because the key of the Kafka record contains the
                # id.
                feature = {key: value for key, value in plain.items() if key != "id"}
                self._texts[shape_id] = number, json.dumps(feature, separators=(",", ":"))
        except ShapeError as error:
            self.refuse(number, shape_id, error)

    def refuse(self, number: int, shape_id: str | None, error: AscError) -> None:
        """Add a line to the refused lines, with its error. ``shape_id``: None if the line has no valid id."""
        self._errors.append({"line": number, "id": shape_id, "error": plain_error(error)})

    def written(
        self, permitted: ScopedService, name: str, *, keep_going: bool = False, is_rehearsal: bool = False
    ) -> dict[str, Any]:
        """Write the rows and removals that were added, and return the answer. Raise BulkRefusedError if a line was
        refused, or with ``keep_going`` if every line was refused.

        ``is_rehearsal``: if true, nothing is written, and the answer counts the rows that a write would change.
        """
        rows, warnings, became = self._judged(permitted.cancellation)
        puts = {shape_id: self._texts[shape_id][1].encode() for shape_id in rows}
        if self._errors and (not keep_going or not (puts or self._removes)):
            first = self._errors[0]
            remedy = f"nothing was written; line {first['line']}: {first['error']['message']}"
            number = len(puts) + len(self._removes) + len(self._errors)
            raise BulkRefusedError("refused lines", f"{len(self._errors)} of {number}", remedy, self._errors)
        if not (puts or self._removes):
            raise QueryError("shapes", "no lines", "send one GeoJSON Feature a line")
        permitted.check_growth(name, rows)
        answer = _written(permitted, name, puts, list(self._removes), became, is_rehearsal=is_rehearsal)
        return {**answer, "warnings": warnings, "errors": self._errors}

    def _judged(self, cancellation: Cancellation) -> tuple[dict[str, Feature], dict[str, list[str]], Counter[str]]:
        """Validate the rows, and refuse invalid ones. Return the valid rows by id, their warnings by id, and the
        numbers of rows that a write would add, change and leave unchanged.
        """
        rows: dict[str, Feature] = {}
        became: Counter[str] = Counter()
        warnings: dict[str, list[str]] = {}
        features: list[Feature | ShapeError] = []
        until = monotonic() + _JUDGED_WITHIN_S
        for texts in _together([text for _, text in self._texts.values()]):
            cancellation.check()
            if monotonic() > until:
                progress = f"{len(features):,} of {len(self._texts):,} judged in {_JUDGED_WITHIN_S:g} s"
                raise QueryError(
                    "shapes", progress, "nothing was written: send fewer at a time, or simplify the largest"
                )
            features += judged(texts, self._layer.rules)
        for (shape_id, (number, _)), feature in zip(self._texts.items(), features, strict=True):
            if isinstance(feature, ShapeError):
                self.refuse(number, shape_id, feature)
                continue
            if feature.warnings:
                warnings[shape_id] = list(feature.warnings)
            rows[shape_id] = feature
            current = self._layer.rows.get(shape_id)
            became["added" if current is None else "unchanged" if _is_same(current, feature) else "changed"] += 1
        return rows, warnings, became


def _is_same(one: Feature, other: Feature) -> bool:
    return one.shape == other.shape and dict(one.properties) == dict(other.properties)


def _together(texts: list[str]) -> Iterator[list[str]]:
    """Yield the texts in groups, in order. A group ends as soon as its texts have _JUDGED_TOGETHER_BYTES in total."""
    first, size = 0, 0
    for place, text in enumerate(texts):
        size += len(text)
        if size >= _JUDGED_TOGETHER_BYTES:
            yield texts[first : place + 1]
            first, size = place + 1, 0
    if first < len(texts):
        yield texts[first:]


def _written(
    permitted: ScopedService,
    name: str,
    puts: dict[str, bytes],
    removes: list[str],
    became: Counter[str],
    *,
    is_rehearsal: bool = False,
) -> dict[str, Any]:
    version, offsets = permitted.rehearsed_layer(name) if is_rehearsal else permitted.write_layer(name, puts, removes)
    return {
        "put": len(puts),
        **{name: became[name] for name in ("added", "changed", "unchanged")},
        "removed": len(removes),
        "version": version,
        "effective_offsets": {stream: plain_offsets(found) for stream, found in offsets.items()},
    }


def _described(permitted: ScopedService, name: str) -> dict[str, Any]:
    stored, config = permitted.layer(name), permitted.layers[name]
    return {
        "name": name,
        "topic": config.topic,
        "crs": config.crs,
        "allow_edges_over_180_deg": config.allow_edges_over_180_deg,
        "rows": len(stored.rows),
        "refused": len(stored.refused),
        "unkeyed": stored.unkeyed,
    }


def _shape(row: Feature) -> dict[str, Any]:
    import shapely

    if row.shape is None:
        return {"kind": None, "vertices": 0, "bounds": None}
    bounds = None if row.shape.is_empty else list(row.shape.bounds)
    return {"kind": row.shape.geom_type, "vertices": int(shapely.get_num_coordinates(row.shape)), "bounds": bounds}
