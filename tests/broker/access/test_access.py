"""Callers are told by their tokens."""

from __future__ import annotations

import pytest

from broker.access.access import Access
from broker.access.scope import Scope
from broker.access.secret import digest, new_secret

# Drawn here, it would name tests otherwise in each of the processes that share them.
OPS, ONE = "asc_the-token-of-those-who-operate-it", "the-one-token-of-old"
SCOPE = Scope("ops", id_prefix="ops-")


@pytest.fixture
def access() -> Access:
    return Access(ONE, {digest(OPS): SCOPE})


def test_a_token_leads_to_its_scope(access: Access) -> None:
    assert access.bearer(f"Bearer {OPS}") is SCOPE
    assert access.bearer(f"bearer  {OPS} ") is SCOPE
    one = access.bearer(f"Bearer {ONE}")
    assert one is not None
    assert (one.name, one.sees_all, one.read_only) == ("token", True, False)


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", OPS, f"Basic {OPS}", f"Bearer {OPS}x", f"Bearer {digest(OPS)}", "Bearer \xff"]
)
def test_nothing_else_does(access: Access, header: str) -> None:
    assert access.bearer(header) is None


def test_a_token_that_is_gone_from_the_file_leads_nowhere(access: Access) -> None:
    other = new_secret()
    access.replace({digest(other): SCOPE})
    assert access.bearer(f"Bearer {OPS}") is None
    assert access.bearer(f"Bearer {other}") is SCOPE
    assert access.bearer(f"Bearer {ONE}") is not None


def test_a_token_is_asked_for_where_there_is_one() -> None:
    assert not Access().asks_for_token
    assert Access("x").asks_for_token
    assert Access(None, {}).asks_for_token
    assert Access(None, {}).bearer("Bearer x") is None
