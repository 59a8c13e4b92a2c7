"""The API of what a daemon has while its jobs do not run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient

from broker.access.access import Access
from broker.access.audit import Audit
from broker.config.config import parse_config
from broker.config.sections import ApiConfig
from broker.daemon.daemon import Daemon
from broker.http.app import create_app
from broker.http.server import ApiServer

if TYPE_CHECKING:
    from conftest import Resting


@pytest.fixture
def api(resting: Resting) -> Iterator[TestClient]:
    with TestClient(
        create_app(resting, Access(), ApiConfig(requests_per_s=1e6), Audit()), base_url="http://127.0.0.1"
    ) as client:
        yield client


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[str, int]]]:
    """Serves the API of a daemon that has not started, by settings of [api]: where."""
    monkeypatch.delenv("ASC_TOKEN", raising=False)
    servers: list[ApiServer] = []

    def start(**api: Any) -> tuple[str, int]:
        config = parse_config(
            {
                "api": {"port": 0, "receive_timeout_s": 0.5, **api},
                "spark": {"checkpoint_dir": str(tmp_path)},
                "streams": {"s": {"topic": "s", "format": "json", "schema": "n INT"}},
            }
        )
        servers.append(ApiServer(config, Daemon(config)))
        parts = urlsplit(servers[-1].start())
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port

    yield start
    for server in servers:
        server.stop()
