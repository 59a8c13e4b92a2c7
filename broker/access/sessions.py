"""Sessions of the console: browsers that were once shown a token, recognised by a cookie."""

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
"""A browser that is not heard of for so long has to show its token again."""

_SESSIONS_MAX = 1_000


@dataclass(slots=True)
class _Session:
    token_digest: str
    seen_s: float


class Sessions:
    """Sessions of browsers: a random name each, that stands for the token that was shown.

    Invariant: of a session's name and of its token only the hashes are kept. The scope of a session is looked up anew
    each time: the session of a token which was taken back ends with it. At most 1,000; the one that was not heard of
    for longest goes first. A start of the daemon ends them all.
    """

    def __init__(self, access: Access, clock: Callable[[], float] = time.monotonic) -> None:
        self._access = access
        self._clock = clock
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    def begin(self, token: str) -> str | None:
        """Return the name of a new session for one who shows a token; None where it is a wrong one."""
        if self._access.of_digest(digest(token)) is None:
            return None
        name = secrets.token_urlsafe(32)
        with self._lock:
            self._sessions[digest(name)] = _Session(digest(token), self._clock())
            while len(self._sessions) > _SESSIONS_MAX:
                self._sessions.popitem(last=False)
        return name

    def scope(self, name: str) -> Scope | None:
        """Return the scope of the session of a name; None where there is none by now."""
        key = digest(name)
        with self._lock:
            session = self._sessions.get(key)
            if session is None:
                return None
            now_s = self._clock()
            found = None if now_s - session.seen_s > IDLE_S else self._access.of_digest(session.token_digest)
            if found is None:
                del self._sessions[key]
                return None
            session.seen_s = now_s
            self._sessions.move_to_end(key)
            return found

    def end(self, name: str) -> None:
        """Forget a session, if there is one of that name."""
        with self._lock:
            self._sessions.pop(digest(name), None)
