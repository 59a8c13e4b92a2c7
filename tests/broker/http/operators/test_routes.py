"""Addresses of kinds: those of each module that has the name of a kind."""

from __future__ import annotations

from typing import Any, cast

from fastapi import Request

from broker.http.operators.routes import operator_routes
from broker.http.scoped_service import ScopedService


def permitted_of(request: Request) -> ScopedService:
    raise AssertionError(f"{request.url} is not asked for")


def test_the_addresses_are_below_those_of_queries_and_streams() -> None:
    paths = [route.path for router in operator_routes(permitted_of) for route in cast(Any, router.routes)]
    assert paths
    assert all(path.startswith(("/v1/queries/{query_id}/", "/v1/streams/{name}/")) for path in paths)
