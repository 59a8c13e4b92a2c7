"""``jars.lock``: every jar to fetch, with its version, SHA-256 and path in a Maven repository.

The file is JSON with one jar per line, so that a changed jar is one line of a diff. Only the standard library reads and
writes it, which has no TOML writer, and no TOML reader before Python 3.11. ``python -m broker.runtime lock`` generates
the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from broker.errors import RuntimeMissingError

LOCK_FILE = Path(__file__).with_name("jars.lock")
SPARK_CONNECTOR = "spark-kafka"
KAFKA_NODE = "kafka-node"


@dataclass(frozen=True, slots=True)
class Jar:
    """One jar: ``name`` is group:artifact, ``sha256`` in hexadecimal, ``path`` below the repository's root."""

    name: str
    version: str
    sha256: str
    size_bytes: int
    path: str

    @property
    def file_name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class JarSet:
    """An artifact (group:artifact) with all jars that it needs, sorted by file name."""

    name: str
    artifact: str
    version: str
    jars: tuple[Jar, ...]

    def __str__(self) -> str:
        return f"{self.artifact}:{self.version}"

    @property
    def size_bytes(self) -> int:
        return sum(jar.size_bytes for jar in self.jars)

    @property
    def folder_name(self) -> str:
        """A folder name derived from the content, so that jars of different locks never share a folder."""
        content = "".join(f"{jar.sha256}  {jar.file_name}\n" for jar in self.jars)
        return f"{self.name}-{self.version}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def locked_sets() -> tuple[JarSet, ...]:
    """Return every jar set of the lock: the jars for Spark's sessions, and the jars of the embedded Kafka node."""
    return parse_lock(LOCK_FILE.read_text(encoding="utf-8"))


def kafka_node() -> JarSet:
    """Return the jars of the embedded Kafka node."""
    return _locked(KAFKA_NODE)


def spark_connector() -> JarSet:
    """Return the jars of the Kafka connector and the Avro reader of the installed PySpark, without the jars that
    PySpark ships.

    Raises RuntimeMissingError if the installed PySpark is not the version whose connector is locked.
    """
    import pyspark

    connector = _locked(SPARK_CONNECTOR)
    if pyspark.__version__ != connector.version:
        wanted = f"pyspark=={connector.version}"
        remedy = f"the Kafka connector is locked for {connector.version}; install that one: pip install {wanted}"
        raise RuntimeMissingError("pyspark", pyspark.__version__, remedy)
    return connector


def parse_lock(text: str) -> tuple[JarSet, ...]:
    """Return the sets of a lock's text.

    >>> jar = Jar("g:a", "1.0", "ab" * 32, 12, "g/a/1.0/a-1.0.jar")
    >>> sets = (JarSet("small", "g:a", "1.0", (jar,)),)
    >>> parse_lock(format_lock(sets)) == sets
    True
    """
    return tuple(
        JarSet(name, entry["artifact"], entry["version"], tuple(Jar(**jar) for jar in entry["jars"]))
        for name, entry in json.loads(text).items()
    )


def format_lock(sets: Sequence[JarSet]) -> str:
    """Return the text of a lock, with one jar per line."""
    entries = []
    for jar_set in sets:
        jars = ",\n".join(f"   {json.dumps(asdict(jar))}" for jar in jar_set.jars)
        head = f' {json.dumps(jar_set.name)}: {{\n  "artifact": {json.dumps(jar_set.artifact)},'
        entries.append(f'{head}\n  "version": {json.dumps(jar_set.version)},\n  "jars": [\n{jars}\n  ]\n }}')
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _locked(name: str) -> JarSet:
    return next(jar_set for jar_set in locked_sets() if jar_set.name == name)
