"""Changes name the query they are of, and an outcome raises the first refusal."""

from __future__ import annotations

import pytest

from broker.errors import QueryError
from broker.queries.change import Alter, Outcome, Put, Remove
from broker.queries.query import RegisteredQuery

QUERY = RegisteredQuery("late", "flights", "n > 1", "out")


def test_every_change_names_its_query() -> None:
    changes = [Put(QUERY), Alter("late", lambda standing: standing or QUERY), Remove("late")]
    assert [change.query_id for change in changes] == ["late"] * 3


def test_of_several_refusals_the_one_of_the_first_change_is_raised() -> None:
    refused = {place: QueryError("query id", place, "refused") for place in (4, 1, 3)}
    for outcome in (Outcome(refused=refused), Outcome(7, removed={0: QUERY}, refused=refused)):
        with pytest.raises(QueryError, match="query id 1: refused"):
            outcome.raised()


def test_without_a_refusal_the_outcome_is_handed_on() -> None:
    outcome = Outcome(7, removed={0: QUERY})
    assert outcome.raised() is outcome
    nothing = Outcome()
    assert (nothing.raised().version, nothing.effective_offsets) == (None, {})
