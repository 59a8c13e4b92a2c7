"""Work in a process whose libraries have one thread each."""

from __future__ import annotations

import os

import pytest

from bench.one_thread import THREADS, in_one_thread


def test_a_process_of_its_own_has_one_thread_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("PARLAY_NUM_THREADS", raising=False)
    pid, threads = in_one_thread(eval, "(__import__('os').getpid(), dict(__import__('os').environ))")
    assert pid != os.getpid()
    assert {threads[name] for name in THREADS} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "PARLAY_NUM_THREADS" not in os.environ


def test_its_errors_are_raised_here() -> None:
    with pytest.raises(ZeroDivisionError):
        in_one_thread(divmod, 1, 0)
