"""Errors that a batch raises into Spark: short texts, because Spark searches them with a regular expression.

Spark searches the text of a Python error for an interruption. Its regular expression recurses once per character. The
text of a JVM error with its causes has thousands of characters, and overflows the stack of the query's thread.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from broker.failure import one_line, text_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LOG = logging.getLogger("asc.job")

CHARS_MAX = 1_000
"""The largest number of characters of an error that is raised into Spark. The lines of the traceback do not count."""

_HEAD_CHARS = CHARS_MAX // 2
_INTERRUPTED = re.compile(
    r"java\.(?:lang\.InterruptedException|io\.InterruptedIOException|nio\.channels\.ClosedByInterruptException)"
)
"""The Java exceptions that interrupt a batch when its streaming query is stopped. Spark does not count these exceptions
as failures.
"""

Batch = Callable[["DataFrame", int], None]


class BatchFailure(Exception):
    """A failed batch, with the part of its error that Spark receives."""


class ShortFailing:
    """Wrapper of a batch function. Errors reach Spark as :class:`BatchFailure` with at most CHARS_MAX characters.

    If an error is longer, the log has the whole text; equal errors in a row are logged once.
    """

    def __init__(self, stream: str, run: Batch) -> None:
        self._stream = stream
        self._run = run
        self._logged: str | None = None

    def __call__(self, records: DataFrame, batch_id: int) -> None:
        """Run the batch function. Raise BatchFailure if the function raises an error."""
        try:
            self._run(records, batch_id)
            self._logged = None
            return
        except Exception as error:
            text = crossing(error)
            whole, line = text_of(error), one_line(error)
            if len(whole) > len(text) and line != self._logged and not _INTERRUPTED.search(whole):
                self._logged = line
                LOG.error("stream '%s': batch %d failed: %s", self._stream, batch_id, line, exc_info=True)
        # Raised outside of the except clause: Python would add the text of the context.
        raise BatchFailure(text)


def crossing(error: BaseException) -> str:
    """Return the text of an error for Spark: the kind of the error and the beginning of its text. If the remaining text
    names a Java exception of an interruption, append this name.

    >>> crossing(ValueError("x" * 5_000))[:20], len(crossing(ValueError("x" * 5_000)))
    ('ValueError: xxxxxxxx', 500)
    """
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    whole = f"{name}: {text_of(error)}"
    found = _INTERRUPTED.search(whole, _HEAD_CHARS)
    return whole[:_HEAD_CHARS] + (f"\n... {found[0]}" if found else "")
