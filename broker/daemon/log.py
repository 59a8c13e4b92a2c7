"""The daemon's log on standard error: one line for each entry, as text or as JSON."""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import datetime, timezone
from typing import Literal

from broker.kafka.client import quiet_client_log

_OF_STREAM = "stream '%s'"
"""The beginning of the message of a log entry about a stream, before the stream's name replaces ``%s``."""

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
"""The characters that could end a line or control a terminal, except the tab."""


def begin_log(form: Literal["text", "json"]) -> None:
    """Configure the log: all entries from level INFO on are written to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.captureWarnings(form == "json")
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    # httpx logs each downloaded jar, and so does the broker.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    quiet_client_log()


class TextLines(logging.Formatter):
    """The formatter of entries as text: local time, level, logger and message, with control characters escaped.

    The traceback of an error follows in further lines.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """Return the line of an entry."""
        record.message = _CONTROL.sub(_escaped, record.message)
        return super().formatMessage(record)


class JsonLines(logging.Formatter):
    """The formatter of entries as one-line JSON in ASCII: ``time`` (RFC 3339, UTC), ``level``, ``logger``, ``message``.

    If an entry belongs to a stream, it has ``stream``. If it has an exception, ``error`` is the traceback.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of an entry."""
        at = datetime.fromtimestamp(record.created, timezone.utc)
        entry = {
            "time": at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        stream = stream_of(record)
        if stream is not None:
            entry["stream"] = stream
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        return json.dumps(entry)


def stream_of(record: logging.LogRecord) -> str | None:
    """Return the name of the stream that a log entry concerns. Return None if the entry concerns no stream, or if its
    message names the stream in a form that this function does not know.
    """
    if not isinstance(record.args, tuple) or not record.args:
        return None
    first = record.args[0]
    named = first if str(record.msg).startswith(_OF_STREAM) else getattr(first, "stream", None)
    return named if isinstance(named, str) else None


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
