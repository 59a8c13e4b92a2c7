"""Files that the configuration names, and the configuration itself, as text."""

from __future__ import annotations

from pathlib import Path

from broker.errors import ConfigError


def read_text(subject: str, path: Path) -> str:
    """The text of a file that the configuration names; ConfigError where it cannot be read."""
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError) as error:
        # A ValueError: the text is not UTF-8, or the name has a NUL in it.
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror
        raise ConfigError(subject, str(path), f"cannot be read: {reason}") from error
