"""The class archive of a JVM: loaded classes in a file that later JVMs map into memory, without parsing and linking."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from broker.runtime.cache import cache_folder, written
from broker.runtime.java import Java


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """An archive of the classes that a JVM used once, for the JVMs that are started with the same Java and jars.

    It takes half of the work off a start (Java's class data sharing). A JVM takes what fits it, and without a word
    starts without an archive that does not. Named by the Java and the jars, so that others have one of their own; one
    that is not there is no fault. Size: 140 MB for Spark. Rejected: to have each first start make it,
    which takes the end of that process some seconds longer.
    """

    file: Path

    @classmethod
    def of(cls, name: str, java: Java, jars: Iterable[Path]) -> ClassArchive:
        """Return the place of the archive of these jars under this Java."""
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
        """Options of a JVM that is to use it; none where it is not there."""
        return (f"-XX:SharedArchiveFile={self.file}", "-Xshare:auto", *_SILENT) if self.is_there else ()

    @contextmanager
    def recorded(self) -> Iterator[Sequence[str]]:
        """Make it: options of a JVM that is run and ends in good order meanwhile, and whose classes it will have.

        A Java that has no archive of its own classes makes none. RuntimeMissingError where it cannot be written.
        """
        with written(self.file.parent):
            self.file.parent.mkdir(parents=True, exist_ok=True)
        part = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        try:
            yield (f"-XX:ArchiveClassesAtExit={part}", "-Xshare:auto", *_SILENT)
            if part.exists():
                part.replace(self.file)
        finally:
            part.unlink(missing_ok=True)


_SILENT = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xlog:class+path=off")
