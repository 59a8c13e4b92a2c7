"""The error for a file or folder that cannot be written."""

from __future__ import annotations

import os
from pathlib import Path

from cli.failure import CommandError


def unwritable(what: str, path: Path, error: OSError) -> CommandError:
    """Return the error for a file or folder that cannot be written. ``what``: its name in the message.

    >>> str(unwritable("file of records", Path("out"), OSError(28, "Arrow's words")))
    "file of records 'out': cannot be written: No space left on device"
    """
    # Arrow's errors contain the words of the system only in the middle of Arrow's text.
    reason = os.strerror(error.errno) if error.errno else str(error)
    return CommandError(what, str(path), f"cannot be written: {reason}")
