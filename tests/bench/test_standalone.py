"""A standalone cluster: workers of its own, gone with it."""

from __future__ import annotations

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


@pytest.mark.nightly
@pytest.mark.spark
def test_its_workers_register_can_be_killed_and_end_with_it(tmp_path: Path) -> None:
    with StandaloneCluster(tmp_path, workers=1, memory_mib=256) as cluster:
        assert cluster.url.startswith("spark://127.0.0.1:")
        assert cluster.workers == (0,)
        assert processes(tmp_path) == 2
        cluster.kill_worker(0)
        assert cluster.workers == ()
        assert processes(tmp_path) == 1  # when the master misses it is Spark's own: at once, or a minute or more later
    assert processes(tmp_path) == 0
