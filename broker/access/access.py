"""Authentication: from the header of a request to a scope."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from broker.access.scope import Scope, unlimited
from broker.access.secret import digest

_TOKEN_BEARER = unlimited("token")


class Access:
    """Tells callers by their bearer tokens: the one that may do everything, and those of the tokens file.

    Invariant: it holds of the tokens nothing but their hashes; what it holds of those of the file is replaced as a
    whole, so that threads may share it. How long a look-up among hashes takes tells nothing of a token: nobody can
    choose the hash of what he sends.
    """

    def __init__(self, token: str | None = None, named: Mapping[str, Scope] | None = None) -> None:
        self._token_digest = None if token is None else digest(token)
        self._named = None if named is None else dict(named)

    @property
    def asks_for_token(self) -> bool:
        """Whether a request needs a token at all."""
        return self._token_digest is not None or self._named is not None

    def replace(self, named: Mapping[str, Scope]) -> None:
        """Replace the tokens by those of the file as it is now: the next request is authenticated by them."""
        self._named = dict(named)

    def bearer(self, authorization: str) -> Scope | None:
        """Return the scope of the token in the header ``Authorization``; None for a wrong one."""
        kind, _, given = authorization.partition(" ")
        given = given.strip()
        if kind.lower() != "bearer" or not given:
            return None
        return self.of_digest(digest(given))

    def of_digest(self, token_digest: str) -> Scope | None:
        """Return the scope of the token with a hash; None for that of a wrong one."""
        if self._token_digest is not None and secrets.compare_digest(token_digest, self._token_digest):
            return _TOKEN_BEARER
        return None if self._named is None else self._named.get(token_digest)
