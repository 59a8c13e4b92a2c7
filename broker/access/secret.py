"""Bearer tokens: how they are made, and what is kept of them."""

from __future__ import annotations

import hashlib
import secrets

from broker.errors import ConfigError

MARK = "asc_"
"""The prefix of tokens that are made here: scanners of repositories and logs find them by it."""

_RANDOM_BYTES = 32

LEAST_CHARS = 32
"""Of a token that was made elsewhere. 32 characters drawn from sixteen are 128 bits."""

_LEAST_DIFFERENT = 10


def new_secret() -> str:
    """Return a token of 256 random bits."""
    return MARK + secrets.token_urlsafe(_RANDOM_BYTES)


def check_secret(secret: str) -> None:
    """Raise ConfigError for a token that looks as if it could be found by trying; the error does not show it."""
    if len(secret) < LEAST_CHARS or len(set(secret)) < _LEAST_DIFFERENT:
        remedy = f"can be found by trying: {LEAST_CHARS} characters or more, drawn at random"
        raise ConfigError("bearer token", f"{len(secret)} characters", remedy)


def digest(secret: str) -> str:
    """Return the SHA-256 of a token in hexadecimal, the one form in which it is kept.

    A slow hash is for passwords, which people choose from a few billions. Of 128 random bits or more nobody tries a
    share worth naming, however fast a trial is, and a request would pay for the slowness each time.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
