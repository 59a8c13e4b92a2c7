"""Files that the configuration names, and the configuration itself, as text."""

from __future__ import annotations

from pathlib import Path

from broker.errors import ConfigError


def read_text(subject: str, path: Path) -> str:
    """The text of a file that the configuration names; ConfigError where it cannot be read."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(subject, str(path), f"cannot be read: {reason}") from error
