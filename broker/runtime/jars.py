"""The jars: Spark's Kafka connector and the embedded Kafka, fetched once through the Ivy that PySpark ships."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyspark

from broker.errors import RuntimeMissingError
from broker.runtime.cache import cache_folder, folder_lock
from broker.runtime.java import Java

Progress = Callable[[str], None]
"""Is told, in one line, what is being done; called only when something takes time."""


@dataclass(frozen=True, slots=True)
class JarSet:
    """A Maven artifact with everything it needs.

    ``provided`` names organisations whose jars are there anyway, ``beside`` artifacts that it runs better with.
    """

    name: str
    organisation: str
    module: str
    version: str
    provided: tuple[str, ...] = ()
    beside: tuple[tuple[str, str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.organisation}:{self.module}:{self.version}"


KAFKA_BROKER: Final = JarSet(
    "kafka-node",
    "org.apache.kafka",
    "kafka_2.13",
    "4.3.1",
    # Without it Kafka logs nothing at all.
    beside=(("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),),
)


def spark_connector() -> JarSet:
    """The Kafka connector of the installed PySpark; what PySpark itself ships is not fetched again."""
    shipped = ("org.apache.hadoop", "org.scala-lang", "org.scala-lang.modules", "org.slf4j", "org.lz4")
    provided = (*shipped, "org.xerial.snappy", "com.google.code.findbugs")
    return JarSet("spark-kafka", "org.apache.spark", "spark-sql-kafka-0-10_2.13", pyspark.__version__, provided)


def fetch_jars(jar_set: JarSet, java: Java, progress: Progress = lambda line: None) -> list[Path]:
    """The jars of a set, sorted, from the cache; fetched into it first where they are not there yet.

    A folder in the cache is complete: jars arrive in another folder that takes its place in one step. Concurrent
    callers wait for one download. Raises RuntimeMissingError where it fails.
    """
    jars_folder = cache_folder() / "jars"
    folder = jars_folder / f"{jar_set.name}-{jar_set.version}"
    if not folder.is_dir():
        with folder_lock(jars_folder):
            if not folder.is_dir():
                _download(jar_set, java, folder, progress)
    return sorted(folder.glob("*.jar"))


def _download(jar_set: JarSet, java: Java, folder: Path, progress: Progress) -> None:
    """Fetch into a folder beside, then rename it. Called under the lock: what an interrupted download left is swept."""
    staging = folder.with_name("fetching")
    shutil.rmtree(staging, ignore_errors=True)
    (staging / "jars").mkdir(parents=True)
    progress(f"Fetching the jars of {jar_set} (once; they are kept in {folder}) ...")
    command = _ivy_command(jar_set, java, staging)
    tail: deque[str] = deque(maxlen=400)
    log = folder.with_name(f"{jar_set.name}.log")
    with (
        log.open("w") as log_file,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as ivy,
    ):
        assert ivy.stdout is not None
        try:
            fetched = 0
            for line in ivy.stdout:
                log_file.write(line)
                tail.append(line.strip())
                # Ivy names a jar when it begins to fetch it.
                name = re.search(r"downloading .*/([^/]+\.jar) ", line)
                if name:
                    fetched += 1
                    progress(f"  {fetched:3d} {name[1]}")
        except BaseException:
            ivy.send_signal(signal.SIGTERM)
            raise
    if ivy.returncode != 0 or not any((staging / "jars").glob(f"{jar_set.module}-*.jar")):
        shutil.rmtree(staging, ignore_errors=True)
        raise _failed(jar_set, list(tail), log)
    (staging / "jars").replace(folder)
    shutil.rmtree(staging, ignore_errors=True)
    log.unlink()


def _ivy_command(jar_set: JarSet, java: Java, staging: Path) -> list[str]:
    """Ivy with one resolver of its own: the default ones trip over an artifact half present in a local repository."""
    settings = staging / "settings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="central"/>'
        '<resolvers><ibiblio name="central" m2compatible="true"/></resolvers></ivysettings>\n'
    )
    excluded = "".join(f'<exclude org="{organisation}"/>' for organisation in jar_set.provided)
    wanted = [(jar_set.organisation, jar_set.module, jar_set.version), *jar_set.beside]
    dependencies = "".join(
        f'<dependency org="{organisation}" name="{name}" rev="{version}" conf="default">{excluded}</dependency>'
        for organisation, name, version in wanted
    )
    module = staging / "ivy.xml"
    module.write_text(
        '<ivy-module version="2.0"><info organisation="asc" module="jars"/>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>\n"
    )
    found = sorted((Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"))
    if not found:
        remedy = "it holds no Ivy; reinstall pyspark from its package"
        raise RuntimeMissingError("pyspark", pyspark.__version__, remedy)
    options = ["-settings", str(settings), "-cache", str(staging / "cache"), "-ivy", str(module)]
    retrieve = ["-retrieve", str(staging / "jars" / "[artifact]-[revision].[ext]")]
    return [str(java.executable), "-jar", str(found[-1]), *options, *retrieve]


def _failed(jar_set: JarSet, lines: list[str], log: Path) -> RuntimeMissingError:
    telling = [line for line in lines if re.search(r"not found|UnknownHost|timed out|refused|No space", line)]
    reason = f" ({telling[-1]})" if telling else ""
    remedy = (
        f"cannot be fetched{reason}: run once with a network that reaches Maven Central, or copy a filled cache folder "
        f"here and name it in ASC_CACHE_DIR; the whole log is {log}"
    )
    return RuntimeMissingError("the jars of", str(jar_set), remedy)
