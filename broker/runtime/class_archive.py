"""The class archive of a JVM: loaded classes in a file that later JVMs map into memory, without parsing and linking."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from broker.runtime.cache import cache_folder, written
from broker.runtime.java import Java
from broker.unfinished_file import unfinished


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """An archive of the classes that a JVM once used, for JVMs that start with the same Java and jars.

    The archive halves the work of a JVM's start (Java's class data sharing). A JVM uses a matching archive, and
    silently starts without an archive that does not match. The name is derived from the Java and the jars, so each
    combination has its own archive. A missing archive is no error. Size: 140 MB for Spark. Rejected: creation by each
    first start, because the end of that process would take some seconds longer.
    """

    file: Path

    @classmethod
    def of(cls, name: str, java: Java, jars: Iterable[Path]) -> ClassArchive:
        """Return the archive, existing or not, of these jars under this Java."""
        seen = hashlib.sha256()
        for path in (java.home / "release", java.executable, *sorted(jars)):
            with suppress(OSError):
                found = path.stat()
                seen.update(f"{path}\0{found.st_size}\0{found.st_mtime_ns}\n".encode())
        return cls(cache_folder() / "java" / f"{name}-{seen.hexdigest()[:12]}.jsa")

    @property
    def is_there(self) -> bool:
        return self.file.exists()

    @property
    def options(self) -> Sequence[str]:
        """Return the options of a JVM that uses the archive. Return none if the archive does not exist."""
        return (f"-XX:SharedArchiveFile={self.file}", "-Xshare:auto", *_SILENT) if self.is_there else ()

    @contextmanager
    def recorded(self) -> Iterator[Sequence[str]]:
        """Create the archive. Yield the options for a JVM that runs and ends normally within the block; its classes are
        archived.

        If the Java installation lacks the archive of its own classes, no archive is created. Raise RuntimeMissingError
        if the archive cannot be written.
        """
        with written(self.file.parent):
            self.file.parent.mkdir(parents=True, exist_ok=True)
        part = unfinished(self.file)
        try:
            yield (f"-XX:ArchiveClassesAtExit={part}", "-Xshare:auto", *_SILENT)
            if part.exists():
                part.replace(self.file)
        finally:
            part.unlink(missing_ok=True)


_SILENT = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xlog:class+path=off")
