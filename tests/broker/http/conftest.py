"""The API of what a daemon has while its jobs do not run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from fastapi.testclient import TestClient

from broker.http.app import create_app

if TYPE_CHECKING:
    from conftest import Resting


@pytest.fixture
def api(resting: Resting) -> Iterator[TestClient]:
    with TestClient(create_app(resting, None, 1 << 24), base_url="http://127.0.0.1") as client:
        yield client
