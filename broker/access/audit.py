"""The audit log: one line of JSON, in the log and in a file, for each change that a caller requested."""

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
"""The largest number of changes of one request for which the daemon's log has one line per change. If there are more,
and the audit's file has their lines, the log has one summary line. A million lines in the log take ten seconds.
"""


class Audit:
    """Writer of audit lines to the logger ``asc.audit`` and, if a file is configured, to the end of the file.

    Invariant: a line is one JSON object whatever text it contains, because all characters except printable ASCII are
    escaped. The file is opened for each change, so it may be renamed at any time. If the file cannot be written, the
    change still holds. The log reports the failure once, until the file can be written again. Threads may share the
    object.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._is_failing = False
        self._is_torn = False

    def check(self) -> None:
        """Raise ConfigError if the file cannot be opened. Create the file if it is missing."""
        if self._path is not None:
            try:
                os.close(self._opened(self._path))
            except OSError as error:
                remedy = f"cannot be written: {error.strerror}"
                raise ConfigError("api.audit_file", str(self._path), remedy) from error

    def write(self, who: str, entries: Iterable[Mapping[str, object]]) -> None:
        """Write a line for each entry, with the time and the name of the caller. An error of the file raises no
        exception.
        """
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
        """Append the content to the file, and return whether all of it was written."""
        written = 0
        try:
            file = self._opened(path)
            try:
                if self._is_torn:
                    # The disk was full, and cut the last line. This line must not continue it.
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
