"""The exception of an answer without a daemon's error object."""

from __future__ import annotations

import httpx

from broker.client.errors import NotFoundError
from broker.client.refused import object_of, refused


def test_an_answer_without_an_error_object_names_the_request() -> None:
    request = httpx.Request("GET", "http://me:secret@broker/v1/plan")
    for content in (b"", b"<html>", b'{"error": "no"}'):
        found = refused(httpx.Response(404, content=content, request=request))
        assert type(found) is NotFoundError
        assert str(found) == "GET http://broker/v1/plan answers 404: is it the daemon's address? (--server)"
        assert found.status == 404


def test_an_empty_answer_is_an_empty_object() -> None:
    assert object_of(httpx.Response(200, content=b"")) == {}
