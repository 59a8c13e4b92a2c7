"""A daemon on a standalone cluster whose hosts have a Python without a single package, for tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench.ports import free_port
from bench.standalone import StandaloneCluster
from broker.runtime.packed import write_packed

if TYPE_CHECKING:
    from conftest import Process


def bare_cluster(folder: Path) -> StandaloneCluster:
    """Return a cluster, not started; its hosts have a Python of this one's version on their path."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "bare")], check=True)
    return StandaloneCluster(folder, path=[folder / "bare" / "bin"])


def put_on(process: Process, cluster: StandaloneCluster, *, partitions: int) -> str:
    """Have a daemon that is not started run on a cluster, its topics with so many partitions; return the address of
    Spark's UI.
    """
    write_packed(process.file.parent / "packages.tar")
    ui_port = free_port()
    text = process.file.read_text("utf-8").replace("[kafka]", f"[kafka]\npartitions = {partitions}")
    text = text.replace("[spark]", '[spark]\npython_archive = "packages.tar"')
    options = {
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.ui.enabled": True,
        "spark.ui.port": ui_port,
    }
    given = "\n".join(f'"{name}" = {json.dumps(value)}' for name, value in options.items())
    process.file.write_text(f"{text}\n[spark.options]\n{given}\n", "utf-8")
    process.options = ("--master", cluster.url)
    return f"http://127.0.0.1:{ui_port}"
