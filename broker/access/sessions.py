"""Sessions of the console: a cookie identifies a browser whose user has entered a token."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from broker.access.access import Access
from broker.access.scope import Scope
from broker.access.secret import digest

COOKIE = "asc_session"
IDLE_S = 12 * 3600.0
"""The number of seconds without a request after which a session ends, so that the user has to enter the token again."""

_SESSIONS_MAX = 1_000


@dataclass(slots=True)
class _Session:
    token_digest: str
    seen_s: float


class Sessions:
    """Sessions of browsers. Each session has a random name, which the browser sends in place of the token.

    Invariant: only hashes of the sessions' names and tokens are stored. The scope of a session is looked up at each
    request, so a session ends when its token is withdrawn. There are at most 1,000 sessions. If there are more, the
    session that was idle for longest ends. A start of the daemon ends all sessions.
    """

    def __init__(self, access: Access, clock: Callable[[], float] = time.monotonic) -> None:
        self._access = access
        self._clock = clock
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    def begin(self, token: str) -> str | None:
        """Start a session for a token, and return the session's name. Return None if the token is wrong."""
        if self._access.of_digest(digest(token)) is None:
            return None
        name = secrets.token_urlsafe(32)
        with self._lock:
            self._sessions[digest(name)] = _Session(digest(token), self._clock())
            while len(self._sessions) > _SESSIONS_MAX:
                self._sessions.popitem(last=False)
        return name

    def scope(self, name: str) -> Scope | None:
        """Return the scope of the session with this name. Return None if the session does not exist or has ended."""
        key = digest(name)
        with self._lock:
            session = self._sessions.get(key)
            if session is None:
                return None
            now_s = self._clock()
            scope = None if now_s - session.seen_s > IDLE_S else self._access.of_digest(session.token_digest)
            if scope is None:
                del self._sessions[key]
                return None
            session.seen_s = now_s
            self._sessions.move_to_end(key)
            return scope

    def end(self, name: str) -> None:
        """Forget the session with this name, if it exists."""
        with self._lock:
            self._sessions.pop(digest(name), None)
