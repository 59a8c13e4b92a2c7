"""Files of secrets that more than the daemon's user can read."""

from __future__ import annotations

import stat
from pathlib import Path

from broker.config.config import Config

_KAFKAS = ("ssl.keyfile", "ssl.keystore.location")


def exposed_files(config: Config) -> list[Path]:
    """Those of the files with a token or a private key that every user of the machine may read."""
    options = config.kafka.options
    named = [config.api.token_file, config.api.tls_key_file, *(Path(options[key]) for key in _KAFKAS if key in options)]
    return [path for path in named if path is not None and _is_exposed(path)]


def _is_exposed(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & stat.S_IROTH)
    except OSError:
        return False
