"""The API endpoints of the look-ups of cubes: reading, writing and removing tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Query, Request

from asc.operators.cube.definition import OP
from asc.operators.cube.json_values import instant_text
from asc.operators.cube.looked_up import clash_of
from asc.operators.cube.lookup import Lookup
from asc.predicate.expressions.types import name as type_name
from broker.answers.cube import CubeLookup, CubeLookups, LookupRemoved
from broker.files.media_types import CSV_TYPE, PARQUET_TYPE
from broker.http.operators.cube_lookup_file import lookup_of_file
from broker.http.scoped_service import ScopedService
from broker.operators.cube.definition import StandingCube
from broker.operators.cube.lookup_log import StoredLookup
from broker.operators.cube.lookups import LOOKUP_TOPIC, LookupStore, no_lookup

_FILE: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
_PUT_SCHEMA = {"requestBody": {"required": True, "content": {CSV_TYPE: _FILE, PARQUET_TYPE: _FILE}}}


def lookup_routes(permitted_of: Callable[[Request], ScopedService]) -> APIRouter:
    """Return the routes under ``/v1/cube/lookups``."""
    router = APIRouter(prefix="/v1/cube/lookups", tags=["cubes"])
    of_caller = Depends(permitted_of)

    @router.get("", response_model=CubeLookups)
    def lookups(permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return the look-ups of cubes, ordered by name, without their rows."""
        return {"lookups": [described_lookup(own) for own in lookups_of(permitted).stored.values()]}

    @router.get("/{name}", response_model=CubeLookup)
    def lookup(name: str, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return one look-up, without its rows."""
        store = lookups_of(permitted)
        if name not in store.stored:
            raise no_lookup(name, store.now)
        return described_lookup(store.stored[name])

    @router.put("/{name}", response_model=CubeLookup, openapi_extra=_PUT_SCHEMA)
    async def put(
        request: Request,
        name: str,
        key: Annotated[str, Query(description="The column with the keys, which has the name of the dimension.")],
        permitted: ScopedService = of_caller,
    ) -> dict[str, Any]:
        """Store a table as a look-up, which replaces a former look-up with the same name. The answer comes when
        questions use the new table.

        The body is CSV with a header, or Parquet; the header Content-Type says which. The token must permit to see all
        queries.
        """
        from starlette.concurrency import run_in_threadpool

        from broker.http.guards import content_type

        content, kind = await request.body(), content_type(request)
        return await run_in_threadpool(_put, permitted, name, content, kind, key)

    @router.delete("/{name}", response_model=LookupRemoved)
    def remove(name: str, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Remove a look-up. The answer comes when no question uses it any more. The token must permit to see all
        queries.
        """
        permitted.check_writes_shared("look-up", name)
        lookups_of(permitted).remove(name)
        permitted.note("lookup", {"lookup": name, "outcome": "removed"})
        return {"removed": name}

    return router


def lookups_of(permitted: ScopedService) -> LookupStore:
    """Return the store of the daemon's look-ups. Raise BrokerError if the daemon has not read them yet."""
    return cast(LookupStore, permitted.daemon_part(OP))


def described_lookup(stored: StoredLookup) -> dict[str, Any]:
    """Return a look-up in the form of an answer, without its rows."""
    lookup = stored.lookup
    return {
        "name": lookup.name,
        "topic": LOOKUP_TOPIC + lookup.name,
        "key": lookup.key,
        "attributes": [{"name": name, "type": type_name(own.type)} for name, own in lookup.attributes.items()],
        "rows": lookup.rows,
        "bytes": lookup.size_bytes,
        "version": lookup.version,
        "written": instant_text(stored.written_us),
    }


def _put(permitted: ScopedService, name: str, content: bytes, kind: str, key: str) -> dict[str, Any]:
    permitted.check_writes_shared("look-up", name)
    lookup = lookup_of_file(name, content, kind, key)
    _check_names(permitted, lookup)
    permitted.cancellation.check()
    stored = lookups_of(permitted).put(lookup)
    found = described_lookup(stored)
    own = {field: found[field] for field in ("key", "rows", "bytes", "version")}
    permitted.note("lookup", {"lookup": name, "outcome": "put", **own})
    return found


def _check_names(permitted: ScopedService, lookup: Lookup) -> None:
    """Raise CubeError if an attribute of a look-up has the name of a dimension or measure of a registered cube, because
    questions could not distinguish the two.
    """
    for query in permitted.registered(OP):
        if isinstance(query.operator, StandingCube):
            for attribute in lookup.attributes:
                clash = clash_of(lookup, attribute, query.operator.cube, f"cube '{query.id}'")
                if clash is not None:
                    raise clash
