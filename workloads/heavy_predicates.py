"""Predicates whose validation takes as long as the limits permit: deep nesting, long chains, repeated parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

HEAVY_DDL = (
    "n INT, m INT, big BIGINT, x DOUBLE, price DECIMAL(38,10), s STRING, city STRING, t TIMESTAMP, u TIMESTAMP_NTZ,"
    " day DATE, flag BOOLEAN, tags ARRAY<STRING>, xs ARRAY<INT>, labels MAP<STRING, INT>"
)
"""The Spark DDL of the attributes that the predicates name."""

LENGTH_CHARS = 20_000
NESTING_DEPTH = 50

_AROUND = {
    "cast of instants": ("t", "CAST(CAST({0} AS TIMESTAMP_NTZ) AS TIMESTAMP)", "{0} > TIMESTAMP '2020-01-01 00:00:00'"),
    "mixed instants": ("t", "CASE WHEN {0} > u THEN t ELSE {0} END", "{0} > day"),
    "question of NULL": ("n > 3", "(({0}) IS NULL OR n > 1 AND x < 2)", "{0}"),
    "question of truth": ("n > 3", "(({0}) IS NOT TRUE AND (m > 1 OR n < 2) OR flag)", "{0}"),
    "comparison of conditions": ("n > 3", "(({0}) <=> (n > 1 AND x < 2 OR m = {1}))", "{0}"),
    "negation": ("n > {1} AND s = 'a'", "NOT ({0} AND (m <> {1} OR x > {1}))", "{0}"),
    "CASE of a value": ("n", "CASE {0} WHEN 1 THEN m WHEN m THEN 3 WHEN {1} THEN n END", "{0} > 2"),
    "CASE of conditions": ("n / m", "CASE WHEN {0} > x THEN {0} WHEN n / m > 2 THEN x END", "{0} > 2"),
    "BETWEEN": ("n", "if({0} BETWEEN m AND {1}, n, m)", "{0} > 2"),
    "nullif": ("n", "nullif({0}, m + {1})", "{0} > 2"),
    "right": ("s", "right({0}, 5)", "{0} = 'a'"),
    "coalesce": ("n / m", "coalesce({0}, m / n, x / {1})", "{0} > 2"),
    "decimals": ("price", "({0} * price / (n + 0.5))", "{0} > 2"),
    "text": ("s", "regexp_replace(upper(trim({0})), '[A-C]x', 'y')", "{0} LIKE '%a_b%'"),
    "dates": ("day", "date_add(last_day({0}), m)", "{0} > t"),
    "intervals": ("t", "({0} + INTERVAL '1' DAY)", "{0} > u"),
    "lambda": ("xs", "filter({0}, e -> e > {1} AND e % 7 = 3)", "exists({0}, e -> e = n)"),
    "concatenation": ("s", "concat({0}, city, '{1}')", "{0} > 'a'"),
    "LIKE ANY": ("s", "if({0} LIKE ANY ('a%b', 'c%{1}', 'e'), s, city)", "{0} = 'a'"),
    "mixed BETWEEN": ("day", "if({0} BETWEEN t AND t, day, NULL)", "{0} = day"),
    "decode": ("s", "decode({0}, 'a', city, 'b', '{1}', 'c')", "{0} = 'a'"),
    "division": ("n", "({0} / (m - {1}))", "{0} > 2"),
}
"""The three parts of nested predicates, by kind: an innermost operand, an expression that is repeatedly put around the
operand, and a condition on the result. In each part, {0} is replaced by the text inside the part, and {1} by a number.
"""

_TERMS = {
    "two columns": "n + {1} > m",
    "three columns": "(n = {1} AND m = {1} AND x < {1})",
    "either of three": "(n = {1} OR m = {1} OR x < {1})",
    "BETWEEN of columns": "x BETWEEN n AND m + {1}",
    "LIKE": "s LIKE '%a_{1}%'",
    "LIKE with many places": "city LIKE '%a%b_{1}%c'",
    "LIKE ANY": "s LIKE ANY ('%a{1}%', 'b_{1}', '%c')",
    "RLIKE": "s RLIKE '[0-9]{{2,3}}x{1}'",
    "anchored RLIKE": "s RLIKE '^[a-z]{{1,9}}{1}$'",
    "strings with numbers": "s > {1}",
    "casts": "CAST(s AS DOUBLE) / {1} > x",
    "instants": "t + INTERVAL '{1}' SECOND > u",
    "text of a pattern": "to_timestamp(s, 'yyyy-MM-dd') > u",
    "map": "labels['k{1}'] > n",
    "lambda": "exists(xs, e -> e = {1})",
    "prefix": "s LIKE 'a{1}%'",
    "difference": "n <> {1}",
    "list": "n NOT IN ({1}, m, {1} + 1)",
    "json": "get_json_object(s, '$.a{1}') = 'b'",
    "CASE": "CASE n WHEN m THEN x WHEN {1} THEN 3.5 END > 1",
}
"""Terms by kind. A chain contains many copies of one term, each with another number {1}, joined by AND or OR."""


def heavy_predicates(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Yield ``count`` predicates, each as its kind and its text. A text has at most LENGTH_CHARS characters, and most
    predicates are near one of the limits.
    """
    random = Random(seed)
    makers: list[Callable[[Random], tuple[str, str]]] = [_nested, _chained, _nested_chain, _listed]
    for number in range(count):
        yield makers[number % len(makers)](random)


def _nested(random: Random) -> tuple[str, str]:
    kind = random.choice(list(_AROUND))
    core, around, condition = _AROUND[kind]
    return f"nested: {kind}", condition.format(_within(random, core.format("", 7), around), 3)


def _within(random: Random, core: str, around: str) -> str:
    text = core
    for _ in range(random.randint(2, NESTING_DEPTH - 2)):
        more = around.format(text, random.randint(1, 999))
        if len(more) > LENGTH_CHARS // 2:
            break
        text = more
    return text


def _chained(random: Random) -> tuple[str, str]:
    kind = random.choice(list(_TERMS))
    joint = random.choice((" AND ", " OR "))
    free_chars = random.choice((2_000, 5_000, 10_000, LENGTH_CHARS))
    return f"chained by{joint.lower()}: {kind}".replace("  ", " "), _chain(random, _TERMS[kind], joint, free_chars)


def _chain(random: Random, term: str, joint: str, free_chars: int) -> str:
    terms: list[str] = []
    while free_chars > 0:
        terms.append(term.format("", random.randint(1, 99_999) if len(terms) % 3 else len(terms)))
        free_chars -= len(terms[-1]) + len(joint)
    return joint.join(terms[:-1] or terms)


def _nested_chain(random: Random) -> tuple[str, str]:
    """Return the kind and the text of a predicate: several deeply nested conditions, and a long chain, joined by OR."""
    kinds = [random.choice(list(_AROUND)) for _ in range(random.randint(2, 6))]
    texts = []
    for kind in kinds:
        core, around, condition = _AROUND[kind]
        texts.append(condition.format(_within(random, core.format("", 7), around), 3))
    text = random.choice((" AND ", " OR ")).join(f"({text})" for text in texts if len(text) < LENGTH_CHARS // 8)
    chain = _chain(random, _TERMS[random.choice(list(_TERMS))], " AND ", 2_000)
    return "nested and chained", f"({text or 'n > 1'}) OR ({chain})"


def _listed(random: Random) -> tuple[str, str]:
    """Return the kind and the text of a predicate: IN or NOT IN with one long list. The values of the list are numbers,
    strings or expressions.
    """
    subject, form = random.choice(
        (("n", "{1}"), ("s", "'a{1}'"), ("n + m", "{1}"), ("s || city", "'a{1}'"), ("n", "m + {1}"), ("price", "{1}.5"))
    )
    values = _chain(random, form, ", ", random.choice((3_000, 10_000, LENGTH_CHARS - 100)))
    return f"list of {subject}", f"{subject} {random.choice(('IN', 'NOT IN'))} ({values})"
