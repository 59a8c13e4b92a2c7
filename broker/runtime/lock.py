"""Generator of ``jars.lock``, for developers: PySpark's Ivy resolves the artifacts in the configured repository.

The running broker does not need this module. Ivy's Java knows neither the proxies of the environment nor the system's
certificates. So Ivy sends its requests to a server in this process, which forwards them to the repository.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.etree import ElementTree

import httpx

from broker.errors import RuntimeMissingError
from broker.runtime.cache import write_whole
from broker.runtime.java import find_java
from broker.runtime.locked_jars import KAFKA_NODE, LOCK_FILE, SPARK_CONNECTOR, Jar, JarSet, format_lock
from broker.runtime.progress import Progress
from broker.runtime.repository import Repository, ivy_jar

KAFKA_VERSION = "4.3.1"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A Maven artifact (``name`` is group:artifact) to lock with all its dependencies.

    ``provided``: Maven groups whose jars are not locked, because PySpark ships them. ``beside``: further artifacts
    (name, version) to lock with it.
    """

    set_name: str
    name: str
    version: str
    provided: tuple[str, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()


def wanted_sets() -> tuple[Wanted, ...]:
    """Return the sets of jars to lock: Kafka connector and Avro reader of the installed PySpark, and the node of Kafka.

    Jars that PySpark ships are not among them.
    """
    import pyspark

    shipped = ("org.apache.hadoop", "org.scala-lang", "org.scala-lang.modules", "org.slf4j", "org.lz4", "org.tukaani")
    provided = (*shipped, "org.xerial.snappy", "com.google.code.findbugs")
    avro = ("org.apache.spark:spark-avro_2.13", pyspark.__version__)
    connector = "org.apache.spark:spark-sql-kafka-0-10_2.13"
    # Without this artifact, Kafka logs nothing at all.
    logging = ("org.apache.logging.log4j:log4j-slf4j-impl", "2.25.4")
    return (
        Wanted(SPARK_CONNECTOR, connector, pyspark.__version__, provided, beside=(avro,)),
        Wanted(KAFKA_NODE, "org.apache.kafka:kafka_2.13", KAFKA_VERSION, beside=(logging,)),
    )


def make_lock(target: Path = LOCK_FILE, progress: Progress = lambda line: None) -> tuple[JarSet, ...]:
    """Resolve the wanted artifacts, fetch and hash all their jars, and write the lock.

    Raise RuntimeMissingError if Java or Ivy is missing, or if a set cannot be resolved.
    """
    sets = tuple(resolve(wanted, progress) for wanted in wanted_sets())
    write_whole(target, format_lock(sets))
    return sets


def resolve(wanted: Wanted, progress: Progress = lambda line: None) -> JarSet:
    """Return the jars of a wanted artifact and of its dependencies, in the versions to which the repository resolves
    them today. Raise RuntimeMissingError if Ivy fails.
    """
    progress(f"Resolving {wanted.name}:{wanted.version} ...")
    with tempfile.TemporaryDirectory(prefix="asc-lock-") as scratch, _served_repository() as root:
        folder = Path(scratch)
        command = _ivy_command(wanted, root, folder)
        run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        report = folder / "cache" / "asc-jars-default.xml"
        if run.returncode != 0 or not report.is_file():
            raise _failed(wanted, run.stdout + run.stderr)
        jars = sorted(_jars(report, root), key=lambda jar: jar.file_name)
    if wanted.name not in {jar.name for jar in jars}:
        raise _failed(wanted, run.stdout)
    return JarSet(wanted.set_name, wanted.name, wanted.version, tuple(jars))


def _jars(report: Path, root: str) -> Iterator[Jar]:
    """Yield the jars that Ivy's report names, with the hash of the file that Ivy fetched.

    Each jar comes from exactly the repository path that the report names, and was checked against the SHA-1 file beside
    it.
    """
    for module in ElementTree.parse(report).getroot().iter("module"):
        for revision in module.iter("revision"):
            for artifact in revision.iter("artifact"):
                origin, content = artifact.find("origin-location"), Path(artifact.attrib["location"]).read_bytes()
                assert origin is not None
                yield Jar(
                    name=f"{module.attrib['organisation']}:{module.attrib['name']}",
                    version=revision.attrib["name"],
                    sha256=hashlib.sha256(content).hexdigest(),
                    size_bytes=len(content),
                    path=origin.attrib["location"].removeprefix(root),
                )


def _ivy_command(wanted: Wanted, root: str, folder: Path) -> list[str]:
    """Return the command that runs Ivy with a single resolver for the configured repository.

    The default resolvers fail for an artifact that is incomplete in a local repository.
    """
    settings = folder / "settings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="repository"/>'
        f'<resolvers><ibiblio name="repository" m2compatible="true" root="{root}"/></resolvers></ivysettings>\n'
    )
    excluded = "".join(f'<exclude org="{group}"/>' for group in wanted.provided)
    dependencies = ""
    for name, version in ((wanted.name, wanted.version), *wanted.beside):
        group, artifact = name.split(":")
        dependencies += f'<dependency org="{group}" name="{artifact}" rev="{version}" conf="default">{excluded}'
        dependencies += "</dependency>"
    module = folder / "ivy.xml"
    module.write_text(
        '<ivy-module version="2.0"><info organisation="asc" module="jars"/>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>\n"
    )
    options = ["-settings", str(settings), "-cache", str(folder / "cache"), "-ivy", str(module)]
    return [str(find_java().executable), "-jar", str(ivy_jar()), *options]


@contextmanager
def _served_repository() -> Iterator[str]:
    """Serve the configured Maven repository at a URL of this machine, for Ivy. Yield that URL; it ends with a slash."""
    with Repository() as repository:

        class Relay(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                try:
                    answer = repository.client.get(repository.address(self.path.lstrip("/")))
                except httpx.HTTPError as error:
                    self.send_error(502, str(error))
                    return
                self.send_response(answer.status_code)
                self.send_header("Content-Length", str(len(answer.content)))
                if "Last-Modified" in answer.headers:
                    self.send_header("Last-Modified", answer.headers["Last-Modified"])
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer.content)

            def do_HEAD(self) -> None:
                self.do_GET()

            def log_request(self, *arguments: object) -> None:
                """Log nothing, because Ivy logs its requests."""

            def log_error(self, *arguments: object) -> None:
                """Log nothing, because Ivy logs the answers."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Relay) as server:
            thread = threading.Thread(target=server.serve_forever, name="asc-repository-relay", daemon=True)
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_port}/"
            finally:
                server.shutdown()
                thread.join()


def _failed(wanted: Wanted, said: str) -> RuntimeMissingError:
    causes = [line.strip() for line in said.splitlines() if "not found" in line or "rror" in line or "502" in line]
    reason = f" ({causes[-1][:300]})" if causes else ""
    remedy = f"cannot be resolved{reason}; check ASC_MAVEN_URL, HTTPS_PROXY and SSL_CERT_FILE"
    return RuntimeMissingError("the jars of", f"{wanted.name}:{wanted.version}", remedy)
