"""A schema registry that fails when it is told to: a small HTTP server of the documented API. One that is real, and
does not, is asked in test_real_registry.py.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class RegistryServer:
    """Answers ``/schemas/ids/{id}`` and ``/subjects/{subject}/versions/{version}`` as Confluent documents it."""

    schemas: dict[int, dict[str, Any]] = field(default_factory=dict)
    subjects: dict[str, list[int]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    authorization: str | None = None
    encoding: str | None = None
    """The content encoding of its answers, which are then bytes in it."""
    pause_s: float = 0.0
    """The time between two bytes of an answer."""
    delay_s: float = 0.0
    """The time before each answer."""
    broken: int | None = None
    """What it answers whatever it is asked; None while it is well."""
    broken_ids: dict[int, int] = field(default_factory=dict)
    """The status for some schemas, while it is healthy."""
    listing: tuple[int, Any] = (200, [])
    """Its answer to the question for its subjects."""
    url: str = ""

    def register(self, schema: Any, subject: str = "s", schema_id: int | None = None, **more: Any) -> int:
        text = schema if isinstance(schema, str) else json.dumps(schema)
        found = max(self.schemas, default=0) + 1 if schema_id is None else schema_id
        self.schemas[found] = {"schema": text, **more}
        self.subjects.setdefault(subject, []).append(found)
        return found

    def answer(self, path: str) -> tuple[int, Any]:
        parts = path.strip("/").split("/")
        if self.broken is not None:
            return self.broken, {"error_code": 50001, "message": "Error in the backend data store"}
        if parts == ["schemas", "types"]:
            return 200, ["JSON", "PROTOBUF", "AVRO"]
        if parts[0].startswith("subjects?"):
            return self.listing
        if parts[:2] == ["schemas", "ids"]:
            status = self.broken_ids.get(int(parts[2]))
            if status is not None:
                # A general 404 has no code of the registry's own.
                return status, {"error_code": status * 100 + 1 if status != 404 else 404, "message": "Error"}
            found = self.schemas.get(int(parts[2]))
            return (200, found) if found else (404, {"error_code": 40403, "message": f"Schema {parts[2]} not found"})
        if parts[0] == "subjects" and parts[2] == "versions":
            ids = self.subjects.get(parts[1])
            if ids is None:
                return 404, {"error_code": 40401, "message": f"Subject '{parts[1]}' not found."}
            version = len(ids) if parts[3] == "latest" else int(parts[3])
            return 200, {
                "subject": parts[1],
                "version": version,
                "id": ids[version - 1],
                **self.schemas[ids[version - 1]],
            }
        return 404, {"error_code": 404, "message": "HTTP 404 Not Found"}


@pytest.fixture
def registry_server() -> Iterator[RegistryServer]:
    """A schema registry that has nothing yet."""
    state = RegistryServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            time.sleep(state.delay_s)
            status, body = state.answer(self.path)
            if state.authorization is not None and self.headers["Authorization"] != state.authorization:
                status, body = 401, {"error_code": 40101, "message": "Unauthorized"}
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
            self.send_header("Content-Length", str(len(content)))
            if state.encoding is not None:
                self.send_header("Content-Encoding", state.encoding)
            self.end_headers()
            for place in range(len(content) if state.pause_s else 0):
                self.wfile.write(content[place : place + 1])
                time.sleep(state.pause_s)
            if not state.pause_s:
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield state
        server.shutdown()
        thread.join()
