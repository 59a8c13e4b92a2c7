"""Addresses of kinds: those of each module that has the name of a kind."""

from __future__ import annotations

from fastapi import FastAPI, Request

from broker.http.operators.routes import operator_routes
from broker.http.scoped_service import ScopedService
from broker.operators.kinds import OPERATORS


def permitted_of(request: Request) -> ScopedService:
    raise AssertionError(f"{request.url} is not asked for")


def test_the_addresses_are_below_those_of_queries_streams_and_kinds() -> None:
    app = FastAPI(openapi_url=None)
    for router in operator_routes(permitted_of):
        app.include_router(router)
    paths = app.openapi()["paths"]
    assert paths
    allowed = ("/v1/queries/{query_id}/", "/v1/streams/{name}/", *(f"/v1/{name}/" for name in OPERATORS))
    assert [path for path in paths if not path.startswith(allowed)] == []
