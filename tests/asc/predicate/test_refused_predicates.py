"""Predicates that are refused: one line, the position, the remedy; and no other exception, whatever the text."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asc.errors import AscError, PredicateError
from asc.predicate import Limits, normalise
from asc.predicate.normal_form.describe import describe
from asc.schema import Schema
from workloads.random_predicates import hand_picked_predicates, random_predicates
from workloads.random_tuples import ALL_TYPES_DDL

SCHEMA = Schema.from_ddl(
    ALL_TYPES_DDL + ", labels MAP<STRING, INT>, tags ARRAY<STRING>, `user` STRING, ats ARRAY<TIMESTAMP>,"
    " adays ARRAY<DATE>, mts MAP<TIMESTAMP, INT>, maps ARRAY<MAP<STRING, INT>>, `x.y` INT, `straße` INT"
)

REFUSED = [
    # text, part of the message, the text under the caret
    ("", "Spark SQL boolean expression", ""),
    ("   ", "Spark SQL boolean expression", ""),
    ("-- nothing", "syntax error", ""),
    ("n >", "syntax error at 'the end'", ""),
    ("n > 5 AND", "syntax error", ""),
    ("n > 5)", "syntax error", ")"),
    ("(n > 5", "expected )", ""),
    ("n > > 5", "syntax error", ">"),
    ("n = 5 5", "syntax error", "5"),
    ("n IS 5", "after IS", "5"),
    ("n = NOT flag", "syntax error", "NOT"),
    ("n > 5; DROP TABLE x", "unexpected", ";"),
    ("s = 'open", "quote or a comment", "s"),
    ("n > 5 /* open", "comment left open", None),
    ("s = SFO", "where it is a text, write 'SFO' in quotes", "SFO"),
    ("n > 1 && flag", "between conditions write AND", "&&"),
    ("n > 1 || n < 0", "between conditions write OR", "n > 1 || n < 0"),
    ("(n > 1) || flag", "between conditions write OR", "(n > 1) || flag"),
    ("day = current_date", "_timestamp, the time of the record", "current_date"),
    ("ts > now() - INTERVAL 1 DAY", "_timestamp, the time of the record", "now"),
    ("identifier(s) = 'x'", "identifier takes the name of a column as a constant", "s"),
    ("identifier('abs')(n) = 1", "write the function itself", "("),
    ("identifier('a b') = 1", "write it as in a predicate", "'a b'"),
    ("identifier('nope') = 1", "unknown column", "identifier('nope')"),
    ("exists(tags, t -> identifier('t') = 'a')", "unknown column", "identifier('t')"),
    ("div(n, 1, 2) = 1", "div takes 2 arguments", "div(n, 1, 2)"),
    ("place.* = 1", "struct(place.*)", "place.*"),
    ("struct(place.* AS x) IS NULL", "struct(place.*)", "place.*"),
    ("struct(tags.*) IS NULL", "only a struct has fields", "tags.*"),
    ("struct(*) IS NULL", "not allowed", "*"),
    ("0 IS UNKNOWN", "where a condition must stand", "0"),
    ("DATE '2020-01-01' IS TRUE", "where a condition must stand", "DATE"),
    ("n > \0 5", "NUL byte", "\0"),
    ("s = '\ud800'", "surrogate", "\ud800"),
    ("nn > 5", "did you mean 'n'", "nn"),
    ("place.nme = 'x'", "did you mean 'place.name'", "place.nme"),
    ("tags.x = 1", "tags[0]", "tags.x"),
    ("1st > 5", "in backquotes", "1st"),
    ("n", "where a condition must stand", "n"),
    ("NOT s", "where a condition must stand", "s"),
    ("n AND flag", "where a condition must stand", "n"),
    ("n = labels", "compare an entry", "n = labels"),
    ("labels = labels", "compare an entry", "labels = labels"),
    ("n = tags", "element", "n = tags"),
    ("n < flag", "BOOLEAN", "n < flag"),
    ("day > 5", "DATE 'yyyy-mm-dd'", "day > 5"),
    ("ts BETWEEN 1 AND 2", "TIMESTAMP '", "1"),
    ("raw = 5", "X'hex digits'", "raw = 5"),
    ("n IN (1, flag)", "IN BOOLEAN", "flag"),
    ("s + flag > 1", "arithmetic needs numbers", "flag"),
    ("day + big > DATE '2013-01-01'", "whole days", "day + big"),
    ("ts + 1 > ts", "whole days", "ts + 1"),
    ("- wide > 5 AND -(wide * wide) > 1", "Spark's minus can throw", "-(wide * wide)"),
    ("CAST(tags AS INT) = 1", "no such cast", "CAST(tags AS INT)"),
    ("CAST(n AS UUID) = 1", "cast to unsupported type", "UUID"),
    ("CAST(n AS DECIMAL(50, 2)) = 1", "1..38", "DECIMAL"),
    ("n > 99999999999999999999999999999999999999999", "more than 38 digits", None),
    ("d > 1e999", "outside the range", "1e999"),
    ("n = 128Y", "outside the range", "128Y"),
    ("frobnicate(n) > 1", "unknown function 'frobnicate'", "frobnicate"),
    ("rand() > 0.5", "non-deterministic function", "rand"),
    ("uuid() = 'x'", "non-deterministic function", "uuid"),
    ("ts > current_timestamp()", "non-deterministic function", "current_timestamp"),
    ("ts > CURRENT_TIMESTAMP", "non-deterministic function", "CURRENT_TIMESTAMP"),
    ("reflect('java.lang.System', 'exit', 1) = 'x'", "forbidden function", "reflect"),
    ("java_method('java.lang.System', 'exit', 1) = 'x'", "forbidden function", "java_method"),
    ("`java_method`('java.lang.System', 'exit', 1) = 'x'", "function", None),
    ("raise_error('x') IS NULL", "forbidden function", "raise_error"),
    ("assert_true(flag) IS NULL", "forbidden function", "assert_true"),
    ("sum(n) > 5", "aggregate function", "sum"),
    ("count(*) > 5", "aggregate function", "count"),
    ("max(DISTINCT n) > 5", "aggregate", "DISTINCT"),
    ("row_number() OVER (ORDER BY n) = 1", "window", "OVER"),
    ("explode(tags) = 'x'", "generator function", "explode"),
    ("n IN (SELECT 1)", "subquery is not allowed", "SELECT"),
    ("n = (SELECT max(n) FROM t)", "subquery is not allowed", "SELECT"),
    ("EXISTS (SELECT 1)", "subquery is not allowed", "SELECT"),
    ("coalesce(tags -> 1) = 1", "last argument of exists", "tags -> 1"),
    ("exists(tags)", "write exists(array, x -> condition)", None),
    ("exists(labels, t -> t = 'x')", "give it an array", "labels"),
    ("exists(tags, t -> city LIKE '%x%')", "bring it out of the lambda", "city"),
    ("exists(tags, t -> exists(tags, u -> u = t))", "part of the lambda's variable", "tags"),
    ("exists(tags, (t, i) -> i = 1)", "1 variable", "(t, i)"),
    ("exists(tags, t -> t)", "where a condition must stand", "t"),
    ("filter(tags, t -> t > 'a') = 1", "field or an element", None),
    ("CAST(s AS INTERVAL DAY TO YEAR) IS NULL", "from a larger", "INTERVAL DAY TO YEAR"),
    ("s COLLATE NOPE = 'x'", "unknown collation", "NOPE"),
    ("s COLLATE = 'x'", "after COLLATE comes the name", "="),
    ("n COLLATE UTF8_LCASE = 'x'", "CAST it to STRING", "n COLLATE"),
    ("s COLLATE UTF8_LCASE LIKE 'x%'", "compare it by", "s COLLATE"),
    ("s COLLATE UTF8_LCASE BETWEEN 'a' AND 'b'", "compare it by", "s COLLATE"),
    ("contains(collate(s, 'UNICODE_CI'), 'x')", "compare it by", "collate(s"),
    ("collate(s, city) = 'x'", "write it as a constant", "city"),
    ("CAST(s AS STRING COLLATE UTF8_LCASE) = 'x'", "CAST(value AS STRING) COLLATE", "COLLATE"),
    ("* = 1", "name the columns", "*"),
    ("(n, m) = (1, 2, 3)", "field or an element", None),
    ("(n, m) = (1, 2.5)", "field or an element", None),
    ("ts > ts - INTERVAL 1 MONTH 1 DAY", "do not go together", "INTERVAL"),
    ("ts > INTERVAL 1 DAY", "compare it with an INTERVAL", None),
    ("INTERVAL 1 DAY * ts > INTERVAL 1 DAY", "an interval a number", None),
    ("trim(BOTH s)", "expected FROM", ")"),
    ("extract(EPOCH FROM ts) = 1", "YEAR, MONTH", None),
    ("timestampadd(DAY, ts, ts) > ts", "use an integer", "ts"),
    ("timestampdiff('day', ts, ts) > 1", "unit without quotes", "'day'"),
    ("s RLIKE city", "constant string", "city"),
    ("s LIKE 'a\\\\b'", "after the escape", None),
    ("s LIKE 'a%' ESCAPE 'xx'", "one character", "'xx'"),
    ("s RLIKE '(a+)+$'", "exponential", "'(a+)+$'"),
    ("s RLIKE '('", "has no )", "'('"),
    ("s LIKE '%🚀%a%b%'", "beyond U+FFFF", "'%🚀%a%b%'"),
    ("regexp_extract(s, city) = s", "given to regexp_extract must be a constant string", None),
    ("tags LIKE 'a'", "patterns match strings", "tags"),
    ("lpad(s, 2000000000, 'x') = 'x'", "constant of -10000..10000", None),
    ("repeat(s, 1000000000) = 'x'", "constant of -10000..100", None),
    (f"replace(s, 'a', '{'x' * 101}') = 'x'", "100 times longer than the record", None),
    ("hex(hex(hex(hex(hex(hex(s)))))) = 'x'", "100 times longer than the record", None),
    ("element_at(tags, -2147483648) = 'x'", "constant of -1000000000..1000000000", None),
    ("format_string('%1000000000d', n) = 'x'", "not %100", None),
    ("map_from_arrays(tags, tags) IS NOT NULL", "ask for an entry", None),
    ("size(map_concat(labels, labels)) IS NULL", "ask for an entry", None),
    ("lenght(s) = 1", "did you mean 'length'?", "lenght"),
    ("length() = 1", "takes 1 argument, not 0", "length()"),
    ("length(tags) = 1", "not a string", "length(tags)"),
    ("hour(n) = 1", "not a date or timestamp", "hour(n)"),
    ("abs(flag) = 1", "not a number", "abs(flag)"),
    ("array_contains(ats, day)", "seeks TIMESTAMP, not DATE", None),
    ("array_position(ats, ntz) = 1", "seeks TIMESTAMP, not TIMESTAMP_NTZ", None),
    ("array_contains(tags, 5)", "seeks STRING, not INT", None),
    ("labels[1] = 1", "use the map's key type", "1"),
    ("map_contains_key(mts, DATE '2013-01-01')", "seeks TIMESTAMP, not DATE", None),
    ("mts[day] = 1", "use the map's key type", "day"),
    ("adays = ats", "field or an element", "adays = ats"),
    ("adays IN (ats)", "field or an element", "ats"),
    ("maps = maps", "field or an element", "maps = maps"),
    ("hash(maps) = 1", "can be compared", None),
    ("CASE ts WHEN day THEN TRUE END", "CAST them", None),
    ("CASE ts WHEN ntz THEN TRUE END", "CAST them", None),
    (f"contains(s, '{'a' * 1_001}')", "constant of at most 1,000", None),
    ("concat(" + ", ".join(["s"] * 60) + ") = concat_ws(city, " + ", ".join(["s"] * 60) + ")", "at most 100", None),
    ("s LIKE '%%\U0001f680'", "write a single %", None),
    ("n > \u0661", "no such token", "\u0661"),
    ("n\u0661 > 1", "no such token", "n\u0661"),
    ("strasse > 1", "did you mean 'straße'", "strasse"),
    ("x.y > 1", "did you mean `x.y`?", "x.y"),
    ("n BETWEEN 1 AND 2 = TRUE", "BOOLEAN", None),
    ("place = 1", "field or an element", "place = 1"),
    ("tags[s] = 'x'", "as an index", "s"),
    ("n[0] = 1", "index an array or a map", "n[0]"),
    ("user() = 'x'", "non-deterministic function", "user"),
]


@pytest.mark.parametrize(("text", "part", "under"), REFUSED, ids=[repr(text)[:40] for text, _, _ in REFUSED])
def test_refusals_say_what_where_and_how(text: str, part: str, under: str | None) -> None:
    with pytest.raises(PredicateError) as caught:
        normalise(text, SCHEMA)
    error = caught.value
    assert part in str(error)
    assert "\n" not in str(error)
    if under is not None and error.start is not None:
        assert text[error.start : error.end].startswith(under)
        assert error.caret().splitlines()[-1].strip("^ ") == ""


@pytest.mark.parametrize(
    "text",
    [
        "(" * 30_000 + "n" + ")" * 30_000,
        "(" * 100_000,
        "NOT " * 4_000 + "flag",
        "!" * 9_000 + "flag",
        "n = " + "-" * 9_000 + "5",
        "n = " + "- " * 9_000 + "5",
        "n = " + "+".join(["1"] * 5_000),
        "s = " + "||".join(["s"] * 5_000),
        "CASE WHEN " * 1_500 + "flag",
        "abs(" * 3_000 + "n" + ")" * 3_000 + " > 1",
        "tags" + "[0]" * 5_000 + " = 'x'",
        "a" + ".a" * 9_000 + " = 1",
        "n" + "::INT" * 3_000 + " = 1",
        "n = 1 = 1" + " = TRUE" * 2_000,
        "x" * 20_001,
        "n IN (" + "(" * 9_000,
    ],
    ids=lambda text: text[:12],
)
def test_long_and_deep_texts_are_refused_before_anything_grows(text: str) -> None:
    with pytest.raises(PredicateError):
        normalise(text, SCHEMA)
    with pytest.raises(PredicateError):
        normalise(text, SCHEMA, limits=Limits(length_chars=10**6, nesting_depth=64))


def test_limits_are_configurable() -> None:
    text = "((n > 1 AND m > 2) OR big > 3)"
    with pytest.raises(PredicateError, match="at most 20 characters"):
        normalise(text, SCHEMA, limits=Limits(length_chars=20))
    with pytest.raises(PredicateError, match="at most 2 levels"):
        normalise(text, SCHEMA, limits=Limits(nesting_depth=2))
    assert len(normalise(text, SCHEMA, limits=Limits(conjuncts=1)).conjuncts) == 1
    assert normalise(text, SCHEMA, limits=Limits(conjuncts=1)).p_attributes[0].path is None
    assert len(normalise(" AND ".join(["n > 1"] * 1_000), SCHEMA).conjuncts) == 1
    for wrong in ({"nesting_depth": 0}, {"nesting_depth": 10_000}, {"conjuncts": 0}, {"length_chars": 0}):
        with pytest.raises(ValueError, match="1"):
            Limits(**wrong)


def test_unknown_time_zone() -> None:
    with pytest.raises(AscError, match="Mars"):
        normalise("n > 1", SCHEMA, time_zone="Mars/Olympus")


SEEDS = [*hand_picked_predicates(), *random_predicates(7, 300), *(text for text, _, _ in REFUSED)]
WORDS = """
n s flag day place.x ( ) [ ] , . = <=> < >= <> ! NOT AND OR IN IS NULL BETWEEN LIKE RLIKE CASE WHEN THEN END CAST
'a%' 5 - 5.5BD 1e3 X'0' `n` :: INT DATE '2013-01-01' lower( -> -- /* \\ ' " ORDER BY ILIKE ANY ALL INTERVAL DAY TO
HOUR trim( BOTH FROM exists( filter( reduce( x (x, y) struct( position( overlay( PLACING extract( YEAR dateadd( tags
"""
TOKENS = WORDS.split()


def outcome(text: str) -> None:
    """A predicate or a PredicateError, nothing else; what comes out can be printed."""
    refused = None
    try:
        predicate = normalise(text, SCHEMA)
    except PredicateError as error:
        refused = error
    if refused is None:
        assert describe(predicate)
    else:
        assert "\n" not in str(refused)
        assert refused.caret().count("\n") in (0, 1)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
@example("\\")
@example("'\\")
@example("n > 5 -- \\")
@example("{{ n }} > {% 5 %}")
def test_any_text(text: str) -> None:
    outcome(text)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=25))
@example(["exists(", ")"])
def test_any_tokens(tokens: list[str]) -> None:
    outcome(" ".join(tokens))


def test_mutations_of_predicates() -> None:
    rng = random.Random(5)
    for seed in SEEDS:
        for _ in range(4):
            characters = list(seed)
            for _ in range(rng.randint(1, 3)):
                position = rng.randrange(len(characters) + 1)
                kind = rng.random()
                if kind < 0.4 and characters:
                    del characters[position : position + rng.randint(1, 5)]
                elif kind < 0.7:
                    characters[position:position] = rng.choice(TOKENS)
                else:
                    characters[position:position] = chr(
                        rng.choice((0, 9, 34, 39, 92, 0x85, 0x2028, 0x1F680, rng.randrange(128)))
                    )
            outcome("".join(characters))


@pytest.mark.parametrize(
    "text",
    [
        "flag = .5",
        "flag <=> .5",
        "(n > 1) = .5",
        "nullif(flag, .5)",
        "equal_null(flag, .5)",
        "CASE flag WHEN .5 THEN TRUE END",
    ],
)
def test_a_boolean_beside_a_decimal_without_a_digit_for_true(text: str) -> None:
    """Spark itself throws there, record by record."""
    with pytest.raises(PredicateError, match=r"BOOLEAN.*DECIMAL"):
        normalise(text, SCHEMA)


@pytest.mark.parametrize("text", ["NULL", "(NULL)"])
def test_null_alone_is_no_condition(text: str) -> None:
    with pytest.raises(PredicateError, match="NULL where a condition must stand"):
        normalise(text, SCHEMA)
