"""What a scope lets through, by id, stream, topic, columns and number."""

from __future__ import annotations

import pytest

from asc.predicate import normalise
from asc.schema import Schema
from broker.access.column_path import column_path
from broker.access.scope import Scope, unlimited
from broker.errors import ForbiddenError

SCHEMA = Schema.from_ddl(
    "n INT, secret INT, place STRUCT<city: STRING, home: STRUCT<street: STRING, number: INT>>, "
    "labels MAP<STRING, STRING>, items ARRAY<STRUCT<price: INT, owner: STRING>>, "
    "_headers MAP<STRING, BINARY>, `a.b` INT"
)
OPS = Scope("ops", id_prefix="ops-", streams=frozenset({"s"}), topic_prefixes=("ops.", "alerts."), max_queries=2)


def test_a_scope_without_limits_lets_all_through() -> None:
    scope = unlimited("admin")
    scope.check_change()
    scope.check_id("")
    scope.check_stream("any")
    scope.check_topic("any")
    scope.check_columns(normalise("secret = 1 AND labels.x = 'a'", SCHEMA))
    scope.check_number(10**9)
    assert scope.owns("any", "")
    assert scope.sees_all
    assert scope.sees_whole_streams


def test_what_is_outside_is_refused_by_what_it_is_called() -> None:
    OPS.check_id("ops-")
    OPS.check_topic("alerts.x")
    OPS.check_number(2)
    for call, said in (
        (lambda: OPS.check_id("op"), "query id 'op': the ids of token 'ops' begin with 'ops-'"),
        (lambda: OPS.check_id("Ops-x"), "query id 'Ops-x'"),
        (lambda: OPS.check_stream("t"), "stream 't': the streams of token 'ops' are 's'"),
        (
            lambda: OPS.check_topic("ops"),
            "destination topic 'ops': the destinations of token 'ops' begin with 'ops.'",
        ),
        (lambda: OPS.check_topic("asc.ops-1"), "destination topic"),
        (lambda: OPS.check_number(3), "number of queries 3: token 'ops' has 2 at most"),
        (lambda: Scope("r", read_only=True).check_change(), "token 'r': may only read"),
    ):
        with pytest.raises(ForbiddenError) as refusal:
            call()
        assert str(refusal.value).startswith(said)


def test_a_query_is_ones_own_by_id_and_stream() -> None:
    assert OPS.owns("ops-1", "s")
    assert not OPS.owns("ops-1", "t")
    assert not OPS.owns("ops-1", "")
    assert not OPS.owns("other", "s")
    assert not OPS.sees_all
    assert not OPS.sees_whole_streams
    assert Scope("x", streams=frozenset({"s"})).sees_whole_streams


ALLOWED = {
    "n": ["n > 1", "N > 1 AND n < 5", "`n` = 1 OR n IS NULL", "exists(array(1, 2), x -> x > n)"],
    "place.city": ["place.city = 'a'", "PLACE.`City` LIKE 'a%'", "lower(Place.CITY) = 'x'", "(place).city = 'a'"],
    "PLACE": ["place.city = 'a'", "place IS NULL", "place.home.number > 1", "(place).home.street = 'x'"],
    "place.home": ["place.home.number = 1", "place.home IS NOT NULL", "place.home.street = 'a'"],
    "labels": ["labels['k'] = 'a'", "labels.k = 'a'", "map_keys(labels)[0] = 'x'", "labels.secret = 'x'"],
    "items": ["items.price[0] = 1", "items[0].owner = 'x'", "exists(items, secret -> secret.price > 1)"],
    "_headers": ["_headers['x'] IS NULL"],
    "`a.b`": ["`a.b` = 1"],
}
FORBIDDEN = {
    "n": [
        "secret = 1",
        "n = 1 AND secret = 1",
        "n = 1 OR (n = 2 AND NOT secret = 1)",
        # What the normal form loses is named all the same.
        "n = 1 OR (secret = 1 AND false)",
        "n = 1 OR (secret IS NULL OR secret IS NOT NULL)",
        "true OR secret = 1",
        "n = 1 AND secret = secret",
        "coalesce(n, secret) = 1",
        "CASE WHEN n = 1 THEN true ELSE secret = 1 END",
        "n IN (1, secret)",
        "n BETWEEN 1 AND secret",
        "exists(array(1, 2), x -> x > secret)",
        "transform(array(n), n -> n + secret)[0] = 1",
        "named_struct('n', secret).n = 1",
        "struct(secret).secret = 1",
        "(n, secret) = (1, 2)",
        "to_json(named_struct('a', secret)) LIKE '%1%'",
        "`SECRET` = 1",
        "_headers['n'] IS NULL",
        "labels.n = 'x'",
        "n = 1 AND place.city = 'x'",
        "hash(n, secret) = 1",
        "secret LIKE '1%'",
        "CAST(secret AS STRING) RLIKE '1'",
        "array_contains(array(secret), 1)",
    ],
    "place.city": [
        "place IS NULL",
        "place.home.number = 1",
        "place = place",
        "place.home IS NULL",
    ],
    "place.home": ["place.city = 'a'", "place IS NULL", "to_json(place) = 'x'"],
    "place.home.number": ["place.home.street = 'x'", "place.home IS NULL"],
    "items.price": ["items.price[0] = 1", "items[0].price = 1"],
    "a": ["`a.b` = 1"],
    "secret": ["place.city = 'a'", "n = 1", "labels['secret'] = 'x'"],
}


@pytest.mark.parametrize(("column", "where"), [(column, where) for column in ALLOWED for where in ALLOWED[column]])
def test_what_names_an_allowed_column_passes(column: str, where: str) -> None:
    Scope("ops", columns=frozenset({column_path(column)})).check_columns(normalise(where, SCHEMA))


@pytest.mark.parametrize(("column", "where"), [(column, where) for column in FORBIDDEN for where in FORBIDDEN[column]])
def test_what_names_another_column_or_what_holds_it_is_refused(column: str, where: str) -> None:
    with pytest.raises(ForbiddenError, match="may name"):
        Scope("ops", columns=frozenset({column_path(column)})).check_columns(normalise(where, SCHEMA))
