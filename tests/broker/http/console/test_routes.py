"""What is under /console: pages for those who are logged in, and no part of the API."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

if TYPE_CHECKING:
    pass

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

PAGES = [
    *("/console/", "/console/live", "/console/queries", "/console/query/new", "/console/queries/x"),
    *("/console/query/edit/x", "/console/query/matches/x", "/console/plan", "/console/plan/s/0"),
    *(
        "/console/trace",
        "/console/trace/records",
        "/console/dead-letters",
        "/console/dead-letters/last",
        "/console",
        "/",
        "/console/none",
    ),
]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_for_those_who_are_logged_in(browse: Callable[[str], TestClient], path: str) -> None:
    client = browse("all")
    client.cookies.clear()
    answer = client.get(path)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/console/login?next=")


def test_no_page_is_a_part_of_the_api(browse: Callable[[str], TestClient]) -> None:
    app = browse("all").app
    assert isinstance(app, FastAPI)
    paths = app.openapi()["paths"]
    assert "/v1/queries" in paths
    assert not [path for path in paths if path in PAGES or path.startswith("/console")]


@pytest.mark.parametrize("name", ["style.css", "icon.svg", "htmx.min.js", "live.js", "trace.css"])
def test_styles_and_scripts_are_open_and_come_from_here(browse: Callable[[str], TestClient], name: str) -> None:
    client = browse("all")
    client.cookies.clear()
    assert client.get(f"/console/static/{name}").status_code == 200
    assert client.get("/console/static/../routes.py").status_code in (303, 404)
    assert client.get("/console/static/%2e%2e/routes.py").status_code == 404


def test_a_page_that_is_not_there_is_said_on_a_page(browse: Callable[[str], TestClient]) -> None:
    answer = browse("all").get("/console/none")
    assert answer.status_code == 404
    assert "To the overview" in answer.text
    assert "Not Found: the first page is " in answer.text
    assert "/docs" not in answer.text


def test_the_script_is_the_one_that_was_released(browse: Callable[[str], TestClient]) -> None:
    released = "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"
    script = browse("all").get("/console/static/htmx.min.js").content
    assert hashlib.sha256(script).hexdigest() == released
