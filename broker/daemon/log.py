"""The daemon's log: a line an entry on standard error, as text or as JSON."""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import datetime, timezone
from typing import Literal

from broker.kafka.client import quiet_client_log

_OF_STREAM = "stream '%s'"
"""The beginning of the entries of a stream, before its name is put in."""

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that could end a line, or do something to a terminal; a tab is left."""


def begin_log(form: Literal["text", "json"]) -> None:
    """Have everything that is logged written to standard error, from level INFO on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.captureWarnings(form == "json")
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    # It has a line for each jar that is fetched, and so has the broker.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    quiet_client_log()


class TextLines(logging.Formatter):
    """An entry as text: local time, level, logger and message, of which control characters are escaped. The
    traceback of an error follows in lines of its own.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """Return the line itself."""
        record.message = _CONTROL.sub(_escaped, record.message)
        return super().formatMessage(record)


class JsonLines(logging.Formatter):
    """An entry as one JSON object in one line of ASCII: ``time`` (RFC 3339, UTC), ``level``, ``logger``, ``message``.

    Where there is one it has the ``stream``, and the ``error`` with its traceback.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        at = datetime.fromtimestamp(record.created, timezone.utc)
        told = {
            "time": at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        stream = stream_of(record)
        if stream is not None:
            told["stream"] = stream
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        return json.dumps(told)


def stream_of(record: logging.LogRecord) -> str | None:
    """Return the stream of an entry; None where it is of none, or names it in another form."""
    if not isinstance(record.args, tuple) or not record.args:
        return None
    first = record.args[0]
    named = first if str(record.msg).startswith(_OF_STREAM) else getattr(first, "stream", None)
    return named if isinstance(named, str) else None


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
