"""Generated texts: valid, nearly valid and invalid predicates."""

from __future__ import annotations

import random
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from asc.predicate.functions import FUNCTIONS
from asc.predicate.type_checking.instant_arithmetic import INSTANT_FUNCTIONS
from asc.predicate.type_checking.lambdas import LAMBDA_FUNCTIONS
from workloads.random_predicates import hand_picked_predicates, random_predicates
from workloads.random_tuples import ALL_TYPES_DDL

DDL = (
    f"{ALL_TYPES_DDL}, labels MAP<STRING, INT>, tags ARRAY<STRING>, `user` STRING, ats ARRAY<TIMESTAMP>, "
    "maps ARRAY<MAP<STRING, INT>>, `x.y` INT, `straße` INT, `in` INT, date STRING"
)
"""The schema of the predicates: every type, nested types, and names that are also words of the grammar."""

_WORDS = """
( ) [ ] , . = == <=> < <= > >= <> != ! + - * / % || & | ^ ~ : :: -> << >> >>> NOT AND OR IN IS NULL TRUE FALSE UNKNOWN
BETWEEN LIKE ILIKE RLIKE REGEXP ESCAPE DIV CASE WHEN THEN ELSE END CAST TRY_CAST AS DISTINCT FROM FOR PLACING BOTH
LEADING TRAILING ANY SOME ALL INTERVAL YEAR MONTH DAY HOUR MINUTE SECOND TO DATE TIMESTAMP TIMESTAMP_NTZ COLLATE
UTF8_BINARY SELECT VALUES OVER FILTER INT BIGINT DOUBLE STRING BINARY DECIMAL(10,2) ARRAY<INT> MAP<STRING,INT>
-- /* */ /*+ \\ ' " ` ''
"""
_COLUMNS = """
flag tiny small n m big f d price wide s city raw day ts ntz place place.x place.name place.inner.z labels labels['a']
tags tags[0] `user` ats ats[1] maps maps[0]['a'] `x.y` straße in date N PLACE.X _key _offset
"""
_CONSTANTS = """
0 1 5 -1 127 128 -129 2147483647 2147483648 9223372036854775807 9223372036854775808
99999999999999999999999999999999999999 5L 5S 5Y 5.5 .5 5. 1e3 1e308 1e309 1E-400 5.5BD 1e3BD 5F 5D -0.0 NULL true FALSE
'' 'a' 'a%' 'a_' '%a%' '\\\\%' 'Oslo' '2024-02-29' '2024-02-29T12:00:00Z' 'today' 'NaN' 'Infinity' '(a+)+b' '['
'\\u0041' 'Æ' '\U0001f600' "b" r'\\d' X'' X'00ff' DATE'2024-02-29' DATE'0000-00-00' DATE'+999999-01-01'
TIMESTAMP'2024-02-29T12:00:00.123456789' TIMESTAMP'now' TIMESTAMP_NTZ'1582-10-10' INTERVAL'1'DAY INTERVAL'1-2'YEAR
array(1,NULL) map('a',1) struct(1,'a')
"""
_TYPES = """
BOOLEAN TINYINT INT BIGINT FLOAT DOUBLE DECIMAL(5,2) DECIMAL(38,38) STRING BINARY DATE TIMESTAMP TIMESTAMP_NTZ
ARRAY<INT> MAP<STRING,INT> STRUCT<a:INT> INTERVAL VARIANT VARCHAR(3)
"""
_COMPARISONS = ("=", "==", "<=>", "<", "<=", ">", ">=", "<>", "!=")
_ARITHMETIC = ("+", "-", "*", "/", "%", "DIV", "||", "&", "|", "^", "<<", ">>", ">>>")
_SPACES = ("", " ", "  ", "\n", "\t", "\r", "\u00a0", " -- c\n", " /* c */ ", "\\\n", "\0", "\ufeff", "\u2028")
_LONG = (10, 60, 200, 5_000)

FUNCTION_NAMES = sorted({*FUNCTIONS, *LAMBDA_FUNCTIONS, *INSTANT_FUNCTIONS, "cast", "reflect", "java_method", "uuid"})


def tokens() -> list[str]:
    """Return the distinct tokens of the grammar, for a fuzzer that combines them."""
    found = [*_WORDS.split(), *_COLUMNS.split(), *_CONSTANTS.split(), *(f"{name}(" for name in FUNCTION_NAMES)]
    return list(dict.fromkeys(found))


@cache
def seeds() -> tuple[str, ...]:
    """Return the predicates with which the fuzzer begins."""
    return (*hand_picked_predicates(), *random_predicates(7, 300))


def plain_terms() -> SearchStrategy[str]:
    """Return a strategy for terms that compare a column with constants, as subscribers write them, with occasional
    mistakes.
    """
    column, constant = st.sampled_from(_COLUMNS.split()), _constants()
    blank = st.sampled_from((" ", " ", " ", "", "\n", "\t", "\u00a0"))
    compared = st.tuples(column, blank, st.sampled_from(_COMPARISONS), blank, constant)
    ranged = st.tuples(
        column, st.sampled_from((" BETWEEN ", " between ", " NOT BETWEEN ")), constant, st.just(" AND "), constant
    )
    listed = st.tuples(
        column,
        st.sampled_from((" IN (", " in(", " NOT IN (")),
        st.lists(constant, max_size=5).map(", ".join),
        st.just(")"),
    )
    any_terms = st.one_of(compared, compared, ranged, listed).map("".join)
    return st.one_of(any_terms, _typed_terms(), _typed_terms(), _typed_terms())


def _typed_terms() -> SearchStrategy[str]:
    """Generate comparisons of a column with constants of its type, such as ``n > 127``.

    Many constants are at the limits of :mod:`asc.predicate.normal_form.plain_reader`, the parser's fast path.
    """
    number = st.integers(-300, 300).map(str) | st.sampled_from(("1.5", "-0.5", "127", "128", "2147483648", "1e3", "5L"))
    text = st.sampled_from(("'a'", "'Oslo'", "''", "'Æ'", "'a%'", "'it''s'", "'-- x'", "'\\\\'"))
    kinds = ((("n", "big", "tiny", "d", "f", "price", "place.x", "N"), number), (("s", "city", "place.name"), text))

    def terms(columns: tuple[str, ...], constant: SearchStrategy[str]) -> SearchStrategy[str]:
        column = st.sampled_from(columns)
        listed = st.lists(constant, min_size=1, max_size=4).map(", ".join)
        return st.one_of(
            st.tuples(column, st.sampled_from(_COMPARISONS), constant).map(" ".join),
            st.tuples(column, constant, constant).map(lambda drawn: "{} BETWEEN {} AND {}".format(*drawn)),
            st.tuples(column, listed).map(lambda drawn: "{} IN ({})".format(*drawn)),
        )

    return st.one_of([terms(*kind) for kind in kinds])


def plain_conjunctions() -> SearchStrategy[str]:
    """Generate texts of one to five terms, joined by AND or, less often, by OR, AND NOT or an incomplete operator."""
    between = st.sampled_from((" AND ", " AND ", " AND ", " and\n", "AND", " AND NOT ", " OR ", " AND ("))
    return st.tuples(st.lists(plain_terms(), min_size=1, max_size=5), between).map(
        lambda drawn: drawn[1].join(drawn[0])
    )


def texts() -> SearchStrategy[str]:
    """Generate texts of all kinds: valid predicates, mutated predicates, sequences of the grammar's tokens, deeply
    nested texts, and arbitrary characters.
    """
    soup = st.lists(st.sampled_from(tokens()), max_size=30)
    spaced = st.tuples(soup, st.sampled_from(_SPACES)).map(lambda drawn: drawn[1].join(drawn[0]))
    mutated = st.tuples(st.sampled_from(seeds()), st.integers(0, 2**32)).map(lambda drawn: _mutated(*drawn))
    built = _conditions()
    broken = st.tuples(built, st.integers(0, 2**32)).map(lambda drawn: _mutated(*drawn))
    return st.one_of(built, built, broken, mutated, spaced, plain_conjunctions(), _deep(), st.text(max_size=80))


def _constants() -> SearchStrategy[str]:
    return st.one_of(
        st.sampled_from(_CONSTANTS.split()),
        st.integers(-(10**6), 10**6).map(str),
        st.integers(-(10**40), 10**40).map(str),
        st.decimals(-(10**6), 10**6, allow_nan=False).map(str),
        st.text(max_size=6).map(lambda text: "'" + text.replace("'", "") + "'"),
        st.text("%_\\ab", max_size=6).map(lambda text: f"'{text}'"),
        st.text(".^$|()[]{}*+?-\\wd1a,", max_size=10).map(lambda text: f"'{text}'"),
    )


@cache
def _values() -> SearchStrategy[str]:
    def larger(inner: SearchStrategy[str]) -> SearchStrategy[str]:
        name, kind = st.sampled_from(FUNCTION_NAMES), st.sampled_from(_TYPES.split())
        arguments = st.lists(st.one_of(inner, inner.map(lambda text: f"x -> {text}")), max_size=4).map(", ".join)
        return st.one_of(
            st.tuples(name, st.just("("), arguments, st.just(")")).map("".join),
            st.tuples(inner, st.sampled_from(_ARITHMETIC), inner).map(" ".join),
            st.tuples(inner, kind).map(lambda drawn: f"CAST({drawn[0]} AS {drawn[1]})"),
            st.tuples(inner, kind).map(lambda drawn: f"{drawn[0]}::{drawn[1]}"),
            st.tuples(inner, inner, inner).map(
                lambda drawn: f"CASE WHEN {drawn[0]} THEN {drawn[1]} ELSE {drawn[2]} END"
            ),
            st.tuples(inner, inner).map(lambda drawn: f"{drawn[0]}[{drawn[1]}]"),
            inner.map(lambda text: f"({text})"),
            inner.map(lambda text: f"- {text}"),
            inner.map(lambda text: f"EXTRACT(DAY FROM {text})"),
        )

    return st.recursive(st.one_of(st.sampled_from(_COLUMNS.split()), _constants()), larger, max_leaves=8)


@cache
def _conditions() -> SearchStrategy[str]:
    value = _values()
    compared = st.tuples(value, st.sampled_from((*_COMPARISONS, "LIKE", "ILIKE", "RLIKE", "IS DISTINCT FROM")), value)
    atoms = st.one_of(
        compared.map(" ".join),
        plain_terms(),
        st.tuples(value, value, value).map(lambda drawn: f"{drawn[0]} BETWEEN {drawn[1]} AND {drawn[2]}"),
        st.tuples(value, st.lists(value, min_size=1, max_size=4)).map(
            lambda drawn: f"{drawn[0]} IN ({', '.join(drawn[1])})"
        ),
        st.tuples(value, st.lists(value, min_size=1, max_size=3)).map(
            lambda drawn: f"{drawn[0]} LIKE ANY ({', '.join(drawn[1])})"
        ),
        value.map(lambda text: f"{text} IS NOT NULL"),
        value,
    )
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(("AND", "OR", "=", "<=>")), inner).map(
                lambda drawn: f"({' '.join(drawn)})"
            ),
            inner.map(lambda text: f"NOT ({text})"),
        ),
        max_leaves=6,
    )


def _deep() -> SearchStrategy[str]:
    """Generate a text that repeats one form many times: nested in itself, or in sequence."""
    part = st.sampled_from(tuple(tokens()))
    count = st.sampled_from(_LONG)
    nested = st.tuples(part, count, st.sampled_from(_COLUMNS.split()), st.sampled_from((")", "", "]", " END", " > 1)")))
    return st.one_of(
        nested.map(lambda drawn: (drawn[0] + " ") * drawn[1] + drawn[2] + drawn[3] * drawn[1]),
        st.tuples(plain_terms(), st.sampled_from((" AND ", " OR ")), count).map(
            lambda drawn: drawn[1].join([drawn[0]] * drawn[2])
        ),
        st.tuples(_values(), count).map(lambda drawn: f"n IN ({', '.join([drawn[0]] * drawn[1])})"),
        st.tuples(
            st.sampled_from(("a", "9", "(", "%", "\\\\", "[a-z]", "(a|b)*", "a{9}")),
            count,
            st.sampled_from(("LIKE", "RLIKE", "=")),
        ).map(lambda drawn: f"s {drawn[2]} '{drawn[0] * drawn[1]}'"),
    )


def _mutated(text: str, seed: int) -> str:
    """Return a text in which one to three parts are cut out, inserted or overwritten."""
    rng = random.Random(seed)
    characters = list(text)
    for _ in range(rng.randint(1, 3)):
        place, kind = rng.randrange(len(characters) + 1), rng.random()
        if kind < 0.35:
            del characters[place : place + rng.randint(1, 8)]
        elif kind < 0.7:
            characters[place:place] = rng.choice(tokens())
        elif kind < 0.85:
            start = rng.randrange(len(characters) + 1)
            characters[place:place] = characters[start : start + rng.randint(1, 30)]
        else:
            characters[place:place] = chr(
                rng.choice((0, 9, 34, 39, 92, 0x85, 0x2028, 0x1F680, 0xD800, rng.randrange(128)))
            )
    return "".join(characters)
