"""Files that the configuration names, and the configuration itself, as text."""

from __future__ import annotations

import stat
from pathlib import Path

from broker.errors import ConfigError

_BYTES_MAX = 16 << 20
"""The largest file that is read: a schema or a list of tokens has a few MiB at most."""


def read_text(subject: str, path: Path) -> str:
    """Return the text of a file that the configuration names; ConfigError where it cannot be read.

    It is a plain file, or a link to one: a pipe may never end, and a device has no end.
    """
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            raise ValueError("Is a directory")
        if not stat.S_ISREG(path.stat().st_mode):
            raise ValueError("it is no plain file")
        with path.open("rb") as file:
            content = file.read(_BYTES_MAX + 1)
        if len(content) > _BYTES_MAX:
            raise ValueError(f"it has more than {_BYTES_MAX >> 20} MiB")
        return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, ValueError) as error:
        # A ValueError: the text is not UTF-8, or the name has a NUL in it.
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror
        raise ConfigError(subject, str(path), f"cannot be read: {reason}") from error
