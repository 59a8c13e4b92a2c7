"""The audit: a line of JSON for each change that somebody asked for, in the log and in a file."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path

from broker.errors import ConfigError

LOG = logging.getLogger("asc.audit")

_FILE_MODE = 0o600

_LOGGED = 1_000
"""Changes at once that have a line each in the log, where they have one in the file: a million take it ten seconds."""


class Audit:
    """Writes lines to the logger ``asc.audit`` and, where a file is given, to the end of that.

    Invariant: a line is one object, whatever its texts hold, for all but printable ASCII is escaped. The file is opened
    for each change, so that it may be renamed away. Where it cannot be written, the change holds and the log says so,
    once until it can be written again. Threads may share it.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._is_failing = False
        self._is_torn = False

    def check(self) -> None:
        """Raise ConfigError where the file cannot be opened; it is made where it is missing."""
        if self._path is not None:
            try:
                os.close(self._opened(self._path))
            except OSError as error:
                remedy = f"cannot be written: {error.strerror}"
                raise ConfigError("api.audit_file", str(self._path), remedy) from error

    def write(self, who: str, entries: Iterable[Mapping[str, object]]) -> None:
        """Write a line for each entry, with the time and who it was. Never raises for an error of the file."""
        at = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        lines = [json.dumps({"at": at, "who": who, **entry}) for entry in entries]
        is_written = False
        if self._path is not None and lines:
            with self._lock:
                is_written = self._append(self._path, "".join(f"{line}\n" for line in lines).encode())
        if is_written and len(lines) > _LOGGED:
            lines = [json.dumps({"at": at, "who": who, "changes": len(lines), "audit_file": str(self._path)})]
        if LOG.isEnabledFor(logging.INFO):
            for line in lines:
                LOG.info("%s", line)

    def _append(self, path: Path, content: bytes) -> bool:
        """Return whether all of it is in the file."""
        written = 0
        try:
            file = self._opened(path)
            try:
                if self._is_torn:
                    # What a full disk left of a line is not to be the beginning of this one.
                    content = b"\n" + content
                while written < len(content):
                    written += os.write(file, content[written:])
            finally:
                os.close(file)
        except OSError as error:
            if not self._is_failing:
                LOG.error("%s cannot be written (%s): changes are in the log alone", path, error.strerror)
            self._is_failing = True
            self._is_torn = self._is_torn or 0 < written < len(content)
            return False
        if self._is_failing:
            LOG.warning("%s is written again: what happened meanwhile is in the log alone", path)
        self._is_failing = self._is_torn = False
        return True

    @staticmethod
    def _opened(path: Path) -> int:
        # A pipe that nobody reads is an error, and no wait.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
        return os.open(path, flags, _FILE_MODE)
