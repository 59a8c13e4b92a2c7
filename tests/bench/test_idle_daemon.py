"""The daemon whose API is measured (that it is ready and planned is tested with the benchmarks that use it)."""

from __future__ import annotations

import pytest

from bench.idle_daemon import client_of


def test_a_client_waits_for_long_answers_and_uses_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    class Daemon:
        url = "http://127.0.0.1:1"

    with client_of(Daemon()) as client:  # type: ignore[arg-type]
        assert client.timeout.read == 600
        assert not client.trust_env
