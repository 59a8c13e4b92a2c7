"""Random predicates over the schema of the random tuples, used to compare the fast path with Spark.

The predicates have every form of comparison, and their literals are drawn from the same pools as the tuples. A list of
hand-written predicates covers known traps. The same seed gives the same predicates.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from workloads.random_tuples import POOLS, sql_literal

_COMPARISONS = ("=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>")
_NUMERIC = ("tiny", "small", "n", "m", "big", "f", "d", "price", "wide", "place.x", "place.inner.z")
_TEXT = ("s", "city", "place.name")
_NUMBERS = (
    *(
        "0",
        "1",
        "5",
        "-1",
        "100",
        "127",
        "128",
        "-128",
        "-129",
        "32767",
        "32768",
        "2147483647",
        "2147483648",
        "-2147483648",
    ),
    *(
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "16777217",
        "9007199254740993",
        "5L",
        "5S",
        "5Y",
    ),
    *(
        "5.5",
        "5.50",
        "5.0",
        "-0.01",
        "0.1",
        "0.10",
        "99999999.99",
        "99999999.999",
        "5.5BD",
        "12345678901234567890123456789.5",
    ),
    *("5D", "5.5D", "0.1D", "1e3", "5e0", "-0.0D", "1e300", "9007199254740992D", "0.1F", "5.5F", "16777217F"),
)
_EXPRESSIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("n + m", ("0", "5", "-2147483648", "10L")),
    ("n - 1", ("0", "2147483647")),
    ("n * 2", ("10", "-2", "0")),
    ("n % 7", ("0", "1", "-1")),
    ("n / m", ("1.0D", "0", "0.5")),
    ("-n", ("5", "-2147483648")),
    ("abs(n)", ("5", "-2147483648")),
    ("big + n", ("0", "6")),
    ("d * 2", ("10", "11D", "0")),
    ("d + f", ("0", "5.5D")),
    ("coalesce(n, 0)", ("0", "5")),
    ("length(s)", ("0", "2", "3")),
    ("lower(city)", ("'oslo'", "'b'")),
    ("upper(s)", ("'ABC'", "'B'")),
    ("concat(s, city)", ("'abab'", "'b'")),
    ("substring(s, 1, 2)", ("'ab'", "''")),
    ("trim(s)", ("'ab'", "''")),
    ("year(day)", ("1970", "2013")),
    ("month(day)", ("7", "12")),
    ("hour(ts)", ("2", "12")),
    ("CAST(d AS INT)", ("5", "0", "2147483647")),
    ("CAST(s AS INT)", ("5", "0")),
    ("price * 2", ("10", "11.00")),
    ("place.x + 1", ("0", "6")),
    ("if(flag, n, m)", ("5", "0")),
    ("add_months(day, 1)", ("DATE '2013-08-04'", "DATE '1970-01-31'")),
    ("last_day(day)", ("DATE '2013-07-31'", "DATE '9999-12-31'")),
    ("date_trunc('MONTH', ts)", ("TIMESTAMP '2013-07-01 00:00:00'",)),
    ("date_format(day, 'yyyy-MM')", ("'2013-07'", "'1970-01'")),
    ("to_date(s, 'yyyy-MM-dd')", ("DATE '2013-07-04'",)),
    ("unix_timestamp(ts)", ("0", "-1L")),
    ("try_divide(n, m)", ("1.0D", "0")),
    ("try_add(n, m)", ("0", "-2147483648")),
    ("regexp_replace(s, '[ab]', 'x')", ("'xxc'", "'x'")),
    ("regexp_extract(s, '(a)(b)', 2)", ("'b'", "''")),
    ("split(s, 'b')[1]", ("'c'", "''")),
    ("element_at(array(n, m), 2)", ("5", "-1")),
    ("map('a', n, 'b', m)[s]", ("5", "0")),
    ("hex(n)", ("'5'", "'FFFFFFFF'")),
    ("levenshtein(s, 'abc')", ("0", "1")),
    ("format_string('%s-%05d', s, n)", ("'a-00005'",)),
    ("CASE WHEN n > 5 THEN 'big' ELSE 'small' END", ("'big'", "'none'")),
    ("int(s)", ("5", "0")),
    ("d::BIGINT", ("5", "9223372036854775807")),
    ("string(n)", ("'5'", "'-1'")),
    ("TRIM(BOTH 'a' FROM s)", ("'b'", "''")),
    ("TRIM(TRAILING FROM city)", ("'b'", "'Oslo'")),
    ("POSITION('b' IN s)", ("2", "0")),
    ("SUBSTRING(city FROM 2 FOR 2)", ("'sl'", "''")),
    ("EXTRACT(YEAR FROM day)", ("2013", "1")),
    ("EXTRACT(SECOND FROM ts)", ("0", "0.000001")),
    ("day + 1", ("DATE '2013-07-05'", "DATE '1970-01-01'")),
    ("ts + INTERVAL 1 DAY", ("TIMESTAMP '2013-07-05 12:00:00.000001'", "DATE '1970-01-02'")),
    ("ntz - INTERVAL '1' MONTH", ("TIMESTAMP_NTZ '2013-06-04 12:00:00.000001'",)),
    ("day - INTERVAL 1 HOUR", ("TIMESTAMP '2013-07-03 23:00:00'",)),
    ("- -n", ("5", "0")),
    ("n << 1", ("10", "0")),
)
_OTHER_ATOMS = (
    *(
        "n < m",
        "s = city",
        "d > n",
        "day < CAST(ts AS DATE)",
        "f <=> d",
        "place.x > n",
        "raw = CAST(s AS BINARY)",
        "big = n",
    ),
    *(
        "s LIKE '%b%'",
        "s LIKE 'a_c'",
        "s RLIKE '^a[bc]'",
        "city LIKE '%o'",
        "contains(s, 'b')",
        "startswith(s, 'ab')",
        "isnan(d)",
    ),
    *(
        "n / 0 > 1",
        "CAST(s AS INT) > 0",
        "1 / n > 0",
        "CAST('x' AS INT) = 1",
        "n = '5'",
        "s > 5",
        "day > '2013-01-01'",
    ),
    *(
        "ts > '2013-07-04'",
        "ts >= DATE '2013-07-04'",
        "day = TIMESTAMP '2013-07-04 00:00:00'",
        "flag = 1",
        "flag = 'true'",
        "tiny > '7'",
    ),
    *(
        "1 < 2",
        "NULL = 1",
        "1 > 2",
        "TRUE",
        "FALSE",
        "NULL IS NULL",
        "n IN (1, 2.5)",
        "n IN ('5', 6)",
        "f IN (16777217, 5.5)",
    ),
    *(
        "big IN (5, 9007199254740993)",
        "big > 9007199254740993D",
        "big <= 5.5D",
        "d IN (1, 5.5, 0)",
        "n IN (5)",
        "s IN ('a', NULL)",
    ),
    *(
        "n BETWEEN 5 AND 1",
        "n NOT BETWEEN 1 AND NULL",
        "n BETWEEN NULL AND 5",
        "(n > 5) = (m > 5)",
        "(n > 5) IS NULL",
        "(n > 5) <=> NULL",
    ),
    *(
        "(n > 5) IS NOT TRUE",
        "(n > 5 AND s = 'a') IS FALSE",
        "(n > 5 OR m > 5) IS TRUE",
        "NOT (n > 5 OR NULL)",
        "n = n",
        "NOT NOT flag",
    ),
    *(
        "'abc' <= s",
        "5 < n",
        "5.5 >= n",
        "TRUE = flag",
        "NULL <=> s",
        "'a' BETWEEN s AND city",
        "5 IN (n, m)",
    ),
    *(
        "s LIKE 'ab%'",
        "s LIKE 'abc'",
        "s LIKE '%'",
        "s LIKE 'a\\\\%b'",
        "s LIKE '東%'",
        "s NOT LIKE 'ab%'",
        "s LIKE '\U0001f680%'",
        "s LIKE ''",
    ),
)


_TYPED_ATOMS = (
    *("(n, m) = (5, 6)", "(n, s) IN ((5, 'a'), (1, 'ab'))", "(n, m) < (5, 6)", "struct(n, s) <=> struct(5, 'a')"),
    *("ts - ntz > INTERVAL 1 HOUR", "day - DATE '2013-07-04' = INTERVAL '0' DAY", "ts < ntz + INTERVAL 5 HOURS"),
    *("TIMESTAMPDIFF(DAY, day, ts) > 0", "DATEADD(HOUR, 5, ts) > ntz", "s IS TRUE", "n IS NOT TRUE", "n !> 5"),
    *(
        "raw LIKE 'a%'",
        "raw RLIKE '^a'",
        "n LIKE '1%'",
        "s LIKE 'a' || '%'",
        "day IS UNKNOWN",
        "TRY_CAST(s AS INT) = 5",
    ),
    *("n = + 5", "date(ts) = DATE '2013-07-04'", "timestamp(day) < ts", "decimal(s) = 5", "boolean(n) = flag"),
)
_PATTERNS = (
    "'a%'",
    "'%b%'",
    "'abc'",
    "'%'",
    "'A%C'",
    "'_b%'",
    "'東%'",
    "'%o'",
    "NULL",
    "''",
    "'zÜ%'",
    "'%a%c%'",
    "'a%b%'",
    "'%b%o'",
)


def random_atom(rng: random.Random) -> str:
    """Return one comparison in a form that is drawn from all forms of comparisons."""
    makers: Sequence[tuple[float, Callable[[random.Random], str]]] = (
        (5, _same_type_comparison),
        (3, _numeric_comparison),
        (2, _range_or_list),
        (1.5, _null_test),
        (1, _prefix_test),
        (2, _expression_comparison),
        (2, lambda r: r.choice(_OTHER_ATOMS)),
        (1, lambda r: r.choice(_TYPED_ATOMS)),
        (1, _pattern_list),
        (
            0.7,
            lambda r: r.choice(
                (
                    "flag",
                    "NOT flag",
                    "flag IS TRUE",
                    "flag IS NOT FALSE",
                    "flag = FALSE",
                    "flag <> TRUE",
                    "flag <=> TRUE",
                )
            ),
        ),
    )
    maker = rng.choices([make for _, make in makers], [weight for weight, _ in makers])[0]
    return maker(rng)


def _same_type_comparison(rng: random.Random) -> str:
    column = rng.choice(sorted(POOLS))
    literal = sql_literal(rng.choice(POOLS[column]))
    operator = rng.choice(_COMPARISONS)
    return f"{column} {operator} {literal}" if rng.random() < 0.85 else f"{literal} {operator} {column}"


def _numeric_comparison(rng: random.Random) -> str:
    return f"{rng.choice(_NUMERIC)} {rng.choice(_COMPARISONS)} {rng.choice(_NUMBERS)}"


def _prefix_test(rng: random.Random) -> str:
    prefix = rng.choice(("a", "ab", "abc", "Z", "東", ""))
    return f"{rng.choice(_TEXT)} {rng.choice(('LIKE', 'NOT LIKE'))} {sql_literal(prefix + '%')}"


def _pattern_list(rng: random.Random) -> str:
    """Return a comparison by LIKE or ILIKE with one pattern, or with ANY, SOME or ALL of several patterns."""
    word = f"{rng.choice(_TEXT)} {rng.choice(('', 'NOT '))}{rng.choice(('LIKE', 'ILIKE'))}"
    quantifier = rng.choice(("", "ANY", "SOME", "ALL"))
    if not quantifier:
        return f"{word} {rng.choice(_PATTERNS)}"
    return f"{word} {quantifier} ({', '.join(rng.choices(_PATTERNS, k=rng.randint(1, 4)))})"


def _expression_comparison(rng: random.Random) -> str:
    expression, literals = rng.choice(_EXPRESSIONS)
    return f"{expression} {rng.choice(_COMPARISONS)} {rng.choice(literals)}"


def _range_or_list(rng: random.Random) -> str:
    column = rng.choice(sorted(POOLS))
    negation = rng.choice(("", "NOT "))
    if rng.random() < 0.5:
        low, high = (sql_literal(rng.choice(POOLS[column])) for _ in range(2))
        return f"{column} {negation}BETWEEN {low} AND {high}"
    values = [sql_literal(value) for value in rng.choices(POOLS[column], k=rng.randint(1, 5))]
    if rng.random() < 0.2:
        values.append("NULL")
    return f"{column} {negation}IN ({', '.join(values)})"


def _null_test(rng: random.Random) -> str:
    column = rng.choice((*sorted(POOLS), "place", "place.inner"))
    return f"{column} IS {rng.choice(('', 'NOT '))}NULL"


def random_predicate(rng: random.Random, depth: int = 3) -> str:
    """Return a predicate of up to ``3 * 2 ** (depth - 1)`` atoms with AND, OR, NOT and parentheses. With depth 0,
    return one atom.

    >>> random_predicate(random.Random(1)) == random_predicate(random.Random(1))
    True
    """
    if depth == 0 or rng.random() < 0.3:
        return random_atom(rng)
    if rng.random() < 0.15:
        return f"NOT ({random_predicate(rng, depth - 1)})"
    operator = "AND" if rng.random() < 0.6 else "OR"
    parts = [random_predicate(rng, depth - 1) for _ in range(rng.randint(2, 3) if depth == 1 else 2)]
    return f" {operator} ".join(f"({part})" if " OR " in part or " AND " in part else part for part in parts)


def random_predicates(seed: int, count: int) -> list[str]:
    """Return ``count`` predicates. The same seed gives the same predicates."""
    rng = random.Random(seed)
    return [random_predicate(rng) for _ in range(count)]


def hand_picked_predicates() -> list[str]:
    """Return distinct predicates with known traps of coercion and three-valued logic."""
    return [*_OTHER_ATOMS, *_TYPED_ATOMS, *(f"{expression} >= {literals[0]}" for expression, literals in _EXPRESSIONS)]
