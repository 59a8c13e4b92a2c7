"""Several DBSCAN queries by one command: sent as one body, and told together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from cli.operators.dbscan.several import register_several

BODY = {"id": "dense", "where": "true", "operator": {"name": "dbscan", "eps": [1, 2], "min_samples": [3, 4]}}


class ClientOfTest:
    """Takes one body, and answers as a daemon does."""

    def __init__(self, warnings: Mapping[str, list[str]]) -> None:
        self.sent: list[Any] = []
        self._warnings = warnings

    def register(self, body: Any) -> Any:
        self.sent.append(body)
        return {"registered": 4, "version": 7, "warnings": self._warnings}


def test_the_ids_and_the_one_topic_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    client = ClientOfTest({"dense.2": ["odd"]})
    register_several(client, BODY, as_json=False)  # type: ignore[arg-type]
    assert client.sent == [BODY]
    out, err = capsys.readouterr()
    assert out == "registered 4 queries, dense.1 to dense.4 -> asc.dense, version 7\n"
    assert err == "warning: dense.2: odd\n"
    register_several(client, BODY, as_json=True)  # type: ignore[arg-type]
    assert json.loads(capsys.readouterr().out)["registered"] == 4
