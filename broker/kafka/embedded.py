"""The embedded Kafka: a real broker with one node (KRaft) and a separate data folder. The broker ends when the process
that started it ends.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from broker.errors import KafkaError
from broker.runtime.cache import write_whole
from broker.runtime.jars import fetch_jars
from broker.runtime.java import Java, find_java
from broker.runtime.locked_jars import kafka_node
from broker.runtime.progress import Progress

_HOST = "127.0.0.1"
_PORT_ATTEMPTS = 5
_OWN_NODE_GONE_S = 5.0
_LOG_BYTES_KEPT = 10_000_000
_BIND_FAILURE = "Address already in use"

_LOG4J2 = """\
shutdownHook = disable
rootLogger.level = warn
rootLogger.appenderRef.stdout.ref = stdout
appender.stdout.type = Console
appender.stdout.name = stdout
appender.stdout.layout.type = PatternLayout
appender.stdout.layout.pattern = %d{yyyy-MM-dd HH:mm:ss,SSS} %p %c{1}: %m%n
logger.server.name = kafka.server.KafkaRaftServer
logger.server.level = info
"""

_SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    # After a kill, the node can only register again when its last session has expired.
    "broker.session.timeout.ms": "5000",
    "broker.heartbeat.interval.ms": "1000",
    # A missing topic is a mistake to report, so no topic is created implicitly.
    "auto.create.topics.enable": "false",
}


class EmbeddedKafka:
    """One Kafka node, for the time of a ``with`` block or between :meth:`start` and :meth:`stop`.

    The data folder holds everything: ``log/`` (Kafka's data), ``server.properties``, ``kafka.log``, ``lock``. It has
    one owner at a time. A node that is started on it again has the same topics, node id and cluster id. The process
    ends when its owner ends, even if the owner is killed: a supervisor (``broker.kafka.supervisor``) detects the end of
    a pipe from the owner. Ports are chosen among free ones, the previous ones if they are free. If ``port`` is set,
    only that is used.

    The start takes about 3 s. Cost: some 300 MB of memory (heap at most ``heap_mb``).
    """

    def __init__(
        self,
        data_dir: str | Path,
        *,
        port: int | None = None,
        heap_mb: int = 512,
        start_timeout_s: float = 60.0,
        settings: Mapping[str, str] | None = None,
        progress: Progress = lambda line: None,
    ) -> None:
        self.data_dir = Path(data_dir).absolute()
        self.log_file = self.data_dir / "kafka.log"
        self._fixed_port = port
        self._heap_mb = heap_mb
        self._start_timeout_s = start_timeout_s
        self._settings = dict(settings or {})
        self._progress = progress
        self._supervisor: subprocess.Popen[bytes] | None = None
        self._port: int | None = None

    @property
    def bootstrap_servers(self) -> str:
        """``host:port`` for clients. Raise KafkaError before the start."""
        if self._port is None:
            raise KafkaError("embedded Kafka in", str(self.data_dir), "is not started; call start() first")
        return f"{_HOST}:{self._port}"

    @property
    def running(self) -> bool:
        """True if the process is alive."""
        return self._supervisor is not None and self._supervisor.poll() is None

    def __enter__(self) -> EmbeddedKafka:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the node, or restart it after :meth:`stop` or its death, and wait until it answers a metadata request.

        Raise KafkaError if the folder has another owner or cannot be written, if the fixed port is in use, or if the
        node does not start. Raise RuntimeMissingError if Java or the jars are missing.
        """
        if self.running:
            return
        self._reap()
        java = find_java()
        class_path = os.pathsep.join(map(str, fetch_jars(kafka_node(), self._progress)))
        lock = self._locked()
        try:
            self._rotate_log()
            command = [str(java.executable), f"-Xmx{self._heap_mb}m", "-XX:+UseSerialGC", "-cp", class_path]
            command.append(f"-Dlog4j2.configurationFile={write_whole(self.data_dir / 'log4j2.properties', _LOG4J2)}")
            self._format(command, java)
            self._run(command, lock)
        finally:
            # From here on, the supervisor and the node hold the lock.
            os.close(lock)

    def stop(self) -> None:
        """Shut the node down (kill it after 20 s), and wait until it has ended. Do nothing if it does not run."""
        self._reap()
        self._port = None

    def _reap(self) -> None:
        if self._supervisor is not None:
            assert self._supervisor.stdin is not None
            self._supervisor.stdin.close()
            self._supervisor.wait()
            self._supervisor = None

    def _locked(self) -> int:
        """Lock the file ``lock``, and return its descriptor.

        The node inherits the descriptor, so this waits until the node of a dead owner has ended.
        """
        try:
            self.data_dir.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.data_dir / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            remedy = f"cannot be written ({error.strerror}); name a folder that can"
            raise KafkaError("data folder", str(self.data_dir), remedy) from error
        start_s = time.monotonic()
        deadline = start_s + self._start_timeout_s
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                owner = os.pread(descriptor, 32, 0).decode().strip()
                # A killed node of this process may hold the lock for a moment, until its supervisor ends.
                is_own = owner == str(os.getpid()) and time.monotonic() < start_s + _OWN_NODE_GONE_S
                if (_alive(owner) and not is_own) or time.monotonic() > deadline:
                    os.close(descriptor)
                    remedy = f"belongs to the running process {owner}; stop that one or name another folder"
                    raise KafkaError("data folder", str(self.data_dir), remedy) from None
                time.sleep(0.1)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        return descriptor

    def _rotate_log(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            if self.log_file.stat().st_size > _LOG_BYTES_KEPT:
                self.log_file.replace(self.log_file.with_suffix(".log.1"))

    def _format(self, command: list[str], java: Java) -> None:
        """Give the node its identity, once. The work happens in a temporary folder that is then renamed, so it is never
        left half done.
        """
        if (self.data_dir / "log").exists():
            return
        unfinished = self.data_dir / "log.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        properties = self._write_properties("format.properties", unfinished, _free_port(), _free_port())
        tool = [*command, "kafka.tools.StorageTool", "format", "-t", new_cluster_id(), "-c", str(properties)]
        run = subprocess.run(tool, capture_output=True, text=True, check=False)
        properties.unlink()
        if run.returncode != 0:
            shutil.rmtree(unfinished, ignore_errors=True)
            remedy = f"cannot be formatted by Kafka on {java}{_reason(run.stdout + run.stderr)}"
            raise KafkaError("data folder", str(self.data_dir), remedy)
        unfinished.replace(self.data_dir / "log")

    def _run(self, command: list[str], lock: int) -> None:
        """Start the node on ports that are free now. If another process takes them first, try other ports."""
        ports = self._last_ports()
        for _ in range(_PORT_ATTEMPTS):
            broker_port = self._fixed_port or _free(ports[0])
            if self._fixed_port is not None and not _is_free(self._fixed_port):
                raise self._port_taken()
            controller_port = _free(ports[1])
            properties = self._write_properties(
                "server.properties", self.data_dir / "log", broker_port, controller_port
            )
            log_start = self.log_file.stat().st_size if self.log_file.exists() else 0
            self._spawn([*command, "kafka.Kafka", str(properties)], lock)
            try:
                answered = self._wait_until_ready(broker_port)
            except BaseException:
                self._reap()
                raise
            if answered:
                self._port = broker_port
                return
            code = self._supervisor.returncode if self._supervisor else None
            self._reap()
            said = self._log_tail(log_start)
            if _BIND_FAILURE not in said:
                raise self._not_started(f"ended with exit code {code}", said)
            ports = (0, 0)
        raise self._port_taken()

    def _spawn(self, command: list[str], lock: int) -> None:
        supervisor = str(Path(__file__).with_name("supervisor.py"))
        with self.log_file.open("ab") as log:
            self._supervisor = subprocess.Popen(
                [sys.executable, "-S", "-E", supervisor, *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=(lock,),
                env={**os.environ, "ASC_LOCK_FD": str(lock)},
                # A Ctrl-C at the terminal is for the owner, which stops the node when it needs it no more.
                start_new_session=True,
                cwd=self.data_dir,
            )

    def _wait_until_ready(self, port: int) -> bool:
        """Return True when the node answers a metadata request, or False when its process has ended."""
        deadline = time.monotonic() + self._start_timeout_s
        while self.running:
            if _answers(port):
                return True
            if time.monotonic() > deadline:
                raise self._not_started(f"did not answer within {self._start_timeout_s:g} s", self._log_tail(0))
            time.sleep(0.1)
        return False

    def _write_properties(self, name: str, log_dir: Path, broker_port: int, controller_port: int) -> Path:
        properties = {
            **_SETTINGS,
            "controller.quorum.voters": f"1@{_HOST}:{controller_port}",
            "listeners": f"PLAINTEXT://{_HOST}:{broker_port},CONTROLLER://{_HOST}:{controller_port}",
            "advertised.listeners": f"PLAINTEXT://{_HOST}:{broker_port}",
            "log.dirs": str(log_dir),
            **self._settings,
        }
        return write_whole(self.data_dir / name, "".join(f"{key}={value}\n" for key, value in properties.items()))

    def _last_ports(self) -> tuple[int, int]:
        """Return the ports of the previous start, which clients may remember. Return 0 for both if there was none."""
        with contextlib.suppress(OSError, ValueError):
            lines = (self.data_dir / "server.properties").read_text().splitlines()
            listeners = dict(line.split("=", 1) for line in lines)["listeners"].split(",")
            return int(listeners[0].rsplit(":", 1)[1]), int(listeners[1].rsplit(":", 1)[1])
        return 0, 0

    def _log_tail(self, start: int) -> str:
        with self.log_file.open("rb") as log:
            log.seek(max(start, self.log_file.stat().st_size - 20_000))
            return log.read().decode(errors="replace")

    def _not_started(self, what: str, said: str) -> KafkaError:
        # Name the file first, because the end of a long message is cut.
        remedy = f"see the end of {self.log_file}: {what}{_reason(said)}"
        return KafkaError("embedded Kafka in", str(self.data_dir), remedy)

    def _port_taken(self) -> KafkaError:
        remedy = "is taken by another process; stop that one, or name another port or none"
        return KafkaError("port", self._fixed_port or "any free one", remedy)


def new_cluster_id() -> str:
    """Return a random cluster id in Kafka's form: a UUID in the base64 of URLs, 22 characters.

    It never begins with ``-``, which Kafka's own commands would take for an option.
    """
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def _reason(said: str) -> str:
    """Return, in brackets, the innermost exception in the output of a JVM, or the first error line. Return an empty
    text if there is none.
    """
    causes = re.findall(r"[\w.$]+(?:Exception|Error): .+", said)
    lines = re.findall(r"^.*(?:ERROR|FATAL|rror: ).+", said, re.MULTILINE)
    cause = (causes[-1:] or lines[:1] or [""])[0].strip()
    return f" ({cause[:300]})" if cause else ""


def _answers(port: int) -> bool:
    """Return whether a broker answers a metadata request at the port."""
    with socket.socket() as probe:
        if probe.connect_ex((_HOST, port)) != 0:
            return False
    from kafka import KafkaAdminClient
    from kafka.errors import KafkaError as ClientError

    # A starting broker refuses and drops connections. This is expected, so it is not logged.
    client_log = logging.getLogger("kafka")
    level = client_log.level
    client_log.setLevel(logging.CRITICAL)
    try:
        client = KafkaAdminClient(bootstrap_servers=f"{_HOST}:{port}", request_timeout_ms=5000)
        try:
            return bool(client.describe_cluster()["brokers"])
        finally:
            client.close()
    except (ClientError, OSError):
        return False
    finally:
        client_log.setLevel(level)


def _free(preferred: int) -> int:
    return preferred if preferred and _is_free(preferred) else _free_port()


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # Bind as Kafka does, so that a lingering connection of the last run does not matter.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


def _alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True
