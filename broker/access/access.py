"""Authentication of requests: the bearer token in a request's header determines the scope of the caller."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from broker.access.scope import Scope, unlimited
from broker.access.secret import digest

_TOKEN_BEARER = unlimited("token")


class Access:
    """Authentication of callers by bearer token: the root token, which permits everything, and the tokens of the tokens
    file.

    Invariant: the object holds only hashes of tokens. ``replace`` exchanges the table of the tokens file as a whole, so
    threads may share the object. The time that a look-up among hashes takes reveals nothing about a token: no caller
    can choose the hash of the token that the caller sends.
    """

    def __init__(self, token: str | None = None, named: Mapping[str, Scope] | None = None) -> None:
        self._token_digest = None if token is None else digest(token)
        self._named = None if named is None else dict(named)

    @property
    def asks_for_token(self) -> bool:
        """True if requests need a token."""
        return self._token_digest is not None or self._named is not None

    def replace(self, named: Mapping[str, Scope]) -> None:
        """Replace the tokens of the tokens file; the next request is authenticated by the new tokens."""
        self._named = dict(named)

    def bearer(self, authorization: str) -> Scope | None:
        """Return the scope of the token in the header ``Authorization``. Return None if the token is wrong."""
        kind, _, given = authorization.partition(" ")
        given = given.strip()
        if kind.lower() != "bearer" or not given:
            return None
        return self.of_digest(digest(given))

    def of_digest(self, token_digest: str) -> Scope | None:
        """Return the scope of the token with this hash. Return None if no token has this hash."""
        if self._token_digest is not None and secrets.compare_digest(token_digest, self._token_digest):
            return _TOKEN_BEARER
        return None if self._named is None else self._named.get(token_digest)
