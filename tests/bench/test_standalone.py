"""A standalone cluster: workers of its own, gone with it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bench.standalone import StandaloneCluster


def processes(folder: Path) -> int:
    """How many processes write into a folder."""
    found = 0
    for each in Path("/proc").iterdir():
        try:
            out = (each / "fd" / "1").readlink()
        except OSError:
            continue
        found += out.is_relative_to(folder)
    return found


@pytest.mark.spark
def test_its_workers_register_can_be_killed_and_end_with_it(tmp_path: Path) -> None:
    with StandaloneCluster(tmp_path, workers=1, memory_mib=256) as cluster:
        assert cluster.url.startswith("spark://127.0.0.1:")
        assert cluster.workers == (0,)
        assert processes(tmp_path) == 2
        cluster.kill_worker(0)
        assert cluster.workers == ()
        log = tmp_path / "master.log"
        deadline = time.monotonic() + 150  # a master that missed the end misses the worker after a minute
        while "Removing worker" not in log.read_text("utf-8"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
    assert processes(tmp_path) == 0
