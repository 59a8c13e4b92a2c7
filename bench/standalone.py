"""A standalone cluster of Spark on this machine, started from the files of the PySpark package. The master and each
worker are separate processes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import pyspark

from bench.ports import free_port
from broker.runtime.java import find_java

_READY_S = 60.0
_MASTER, _WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"


class StandaloneCluster:
    """A cluster of a master and workers on 127.0.0.1, which runs within a ``with`` block.

    A worker offers ``cores`` and ``memory_mib`` to executors, and has a separate folder for their files. It inherits
    only Java's options from the environment of this process. ``path`` is the search path of its programs. The Python
    installations on this path have only the packages that the caller installed.
    """

    def __init__(
        self, folder: Path, *, workers: int = 2, cores: int = 1, memory_mib: int = 512, path: Sequence[Path] = ()
    ) -> None:
        self.url = f"spark://127.0.0.1:{free_port()}"
        self._folder = folder
        self._count = workers
        self._capacity = ("--cores", str(cores), "--memory", f"{memory_mib}m")
        self._path = os.pathsep.join([*map(str, path), "/usr/bin", "/bin"])
        self._master: subprocess.Popen[bytes] | None = None
        self._workers: dict[int, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> StandaloneCluster:
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            port = self.url.rpartition(":")[2]
            self._master = self._launch("master", _MASTER, "--host", "127.0.0.1", "--port", port)
            for number in range(self._count):
                self.start_worker(number)
            self._await_workers()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    @property
    def workers(self) -> tuple[int, ...]:
        """The numbers of the started workers that were not killed."""
        return tuple(sorted(self._workers))

    def start_worker(self, number: int) -> None:
        """Start a worker with the given number. No running worker may have this number."""
        work = str(self.work_folder(number))
        options = ("--host", "127.0.0.1", *self._capacity, "--work-dir", work, self.url)
        self._workers[number] = self._launch(f"worker-{number}", _WORKER, *options)

    def kill_worker(self, number: int) -> None:
        """Kill a worker and its executors by SIGKILL, as if their host failed."""
        worker = self._workers.pop(number)
        # The executors and their Python workers belong to the same session, so the signal reaches them.
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def work_folder(self, number: int) -> Path:
        """Return the folder in which a worker's executors run. The folder has a subfolder per application, and each
        subfolder has a folder per executor.
        """
        return self._folder / f"work-{number}"

    def local_folder(self, number: int) -> Path:
        """Return the folder in which a worker's executors store blocks."""
        return self._folder / f"local-{number}"

    def _launch(self, name: str, main: str, *options: str) -> subprocess.Popen[bytes]:
        home = Path(pyspark.__file__).parent
        environment = {
            "HOME": str(self._folder),
            "JAVA_HOME": str(find_java().home),
            "PATH": self._path,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_DIRS": str(self._folder / name.replace("worker", "local")),
            "SPARK_LOCAL_IP": "127.0.0.1",
            **{name: os.environ[name] for name in ("JDK_JAVA_OPTIONS",) if name in os.environ},
        }
        line = [str(home / "bin" / "spark-class"), main, "--webui-port", "0", *options]
        with (self._folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(line, env=environment, stdout=log, stderr=log, start_new_session=True)

    def _await_workers(self) -> None:
        log, give_up = self._folder / "master.log", time.monotonic() + _READY_S
        while log.read_text("utf-8").count("Registering worker") < self._count:
            if time.monotonic() > give_up:
                raise RuntimeError(f"the standalone cluster does not start: {log.read_text('utf-8')[-2_000:]}")
            time.sleep(0.1)

    def _stop(self) -> None:
        processes = [*self._workers.values(), *([] if self._master is None else [self._master])]
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._workers.clear()
        self._master = None
