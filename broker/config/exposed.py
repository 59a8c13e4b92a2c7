"""Files with secrets or permissions that every user of the machine can read or write."""

from __future__ import annotations

import stat
from itertools import chain
from pathlib import Path

from broker.config.config import Config
from broker.config.options import SECRET_KEY

_KAFKAS = ("ssl.keyfile", "ssl.keystore.location")


def exposed_files(config: Config, config_file: Path | None = None) -> dict[Path, str]:
    """Return the files that every user of the machine may read or write although they must not, each with the verb
    ``read`` or ``write``.

    ``read`` applies to files with a token, a private key or a password. ``write`` applies to these, the configuration
    and the tokens file.
    """
    options = config.kafka.options
    secret = [
        config.api.root_token_file,
        config.api.tls_key_file,
        config.schema_registry.key_file,
        *(Path(options[key]) for key in _KAFKAS if key in options),
    ]
    of_registry = config.schema_registry.password or config.schema_registry.token
    if of_registry or any(SECRET_KEY.search(key) for key in chain(options, config.spark.options)):
        secret.append(config_file)
    checked = [*((path, stat.S_IROTH, "read") for path in secret)]
    checked += [(path, stat.S_IWOTH, "write") for path in (*secret, config_file, config.api.tokens_file)]
    return {path: verb for path, right, verb in checked if path is not None and _has_right(path, right)}


def _has_right(path: Path, right: int) -> bool:
    try:
        return bool(path.stat().st_mode & right)
    except OSError:
        return False
