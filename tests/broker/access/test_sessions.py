"""Who looks at the console, by the token that was shown once."""

from __future__ import annotations

import pytest

from broker.access.access import Access
from broker.access.scope import Scope
from broker.access.secret import digest
from broker.access.sessions import _SESSIONS_MAX, IDLE_S, Sessions


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sessions(clock: Clock) -> Sessions:
    return Sessions(Access("main token", {digest("ops"): Scope("ops", read_only=True)}), clock)


def session_of(sessions: Sessions, token: str) -> str:
    name = sessions.begin(token)
    assert name is not None
    return name


def test_a_session_may_what_its_token_may(sessions: Sessions) -> None:
    ops, main = session_of(sessions, "ops"), session_of(sessions, "main token")
    scope = sessions.scope(ops)
    assert scope == Scope("ops", read_only=True)
    assert (found := sessions.scope(main)) is not None
    assert found.sees_all
    assert ops != main
    assert sessions.begin("wrong") is None
    for unknown in ("", "ops", "main token", ops[:-1]):
        assert sessions.scope(unknown) is None


def test_it_ends_when_it_is_ended_and_when_nothing_is_heard_of_it(sessions: Sessions, clock: Clock) -> None:
    first, second = session_of(sessions, "ops"), session_of(sessions, "ops")
    clock.now_s = IDLE_S
    assert sessions.scope(first) is not None
    clock.now_s = IDLE_S + 1
    assert sessions.scope(second) is None
    assert sessions.scope(first) is not None
    sessions.end(first)
    assert sessions.scope(first) is None
    sessions.end(first)


def test_it_ends_with_its_token_and_has_the_scope_that_this_has_now() -> None:
    access = Access("main token", {digest("ops"): Scope("ops")})
    sessions = Sessions(access)
    name = session_of(sessions, "ops")
    access.replace({digest("ops"): Scope("ops", read_only=True)})
    assert sessions.scope(name) == Scope("ops", read_only=True)
    access.replace({})
    assert sessions.scope(name) is None
    access.replace({digest("ops"): Scope("ops")})
    assert sessions.scope(name) is None


def test_the_one_that_was_not_heard_of_for_longest_makes_room(sessions: Sessions) -> None:
    first, second = session_of(sessions, "ops"), session_of(sessions, "ops")
    for _ in range(_SESSIONS_MAX - 2):
        session_of(sessions, "ops")
    assert sessions.scope(first) is not None
    session_of(sessions, "ops")
    assert sessions.scope(first) is not None
    assert sessions.scope(second) is None


def test_nothing_that_is_held_is_a_name_or_a_token(sessions: Sessions) -> None:
    name = session_of(sessions, "main token")
    held = repr(vars(sessions)["_sessions"])
    assert name not in held
    assert "main token" not in held
