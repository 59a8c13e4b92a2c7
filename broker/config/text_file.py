"""Text of the configuration file, and of the files that it names."""

from __future__ import annotations

import stat
from pathlib import Path

from broker.errors import ConfigError
from broker.whole_file import TEXT_BYTES_MAX, read_bounded, text_of


def read_text(subject: str, path: Path) -> str:
    """Return the text of a file that the configuration names. Raise ConfigError if it cannot be read.

    Only a plain file, or a link to one, is read: reading a pipe or a device may never end.
    """
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            raise ValueError("Is a directory")
        if not stat.S_ISREG(path.stat().st_mode):
            raise ValueError("it is no plain file")
        with path.open("rb") as file:
            return text_of(read_bounded(file, TEXT_BYTES_MAX))
    except (OSError, ValueError) as error:
        # A ValueError: the text is not UTF-8, or the name has a NUL in it.
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror
        raise ConfigError(subject, str(path), f"cannot be read: {reason}") from error
