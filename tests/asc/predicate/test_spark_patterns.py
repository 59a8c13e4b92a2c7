"""Patterns against Spark: each predicate accepts what ``DataFrame.filter`` accepts."""

from __future__ import annotations

from itertools import product

import pytest

from tests.asc.predicate.differing import Differing

pytestmark = pytest.mark.spark


TEXTS = (
    *(
        "",
        "error",
        "ERROR",
        "Error: timeout",
        "k",
        "K",
        "\u212a",
        "s",
        "\u017f",
        "\u00e9",
        "\u00c9",
        "i",
        "I",
        "\u0130",
    ),
    *("ab", "aB", "a-b", "_", "[", "X", "x", "a\nb", "a\r\nb", "aXbXb", "id=7,8,", "x1", "1x", "xx", "axxb", "debug a"),
    *("foobar", "foobaz", "barfoo", "price 5", "price 50", "a1b2", "\U0001f600", "a\U0001f600b", None),
)
EXPRESSIONS = r"""
s RLIKE '(?i)error'
s RLIKE '(?i)^K$'
s RLIKE '(?i)[k-s]'
s RLIKE '(?i)[^k]$'
s RLIKE '(?i)[X-c]'
s RLIKE '(?i)[a-]B'
s RLIKE '(?i)[-_a]b'
s RLIKE '(?i)\u00e9|\u0130|\u017f'
s RLIKE '(?i)e(?-i)RROR'
s RLIKE 'e(?i)RROR|A'
s RLIKE '((?i)A|E)rror'
s RLIKE '(?i:A)B'
s RLIKE '(?i)\\w\\W?\\D$'
s RLIKE '(?s)a.b'
s RLIKE '(?s:a.)b'
s RLIKE '(?is)A..B'
s RLIKE 'a.*?b'
s RLIKE '^a.*?b$'
s RLIKE '^x+?$'
s RLIKE '(?:xx)+?$'
s RLIKE 'a??b'
s RLIKE '^x{1,2}?$'
s RLIKE 'foo(?=bar)'
s RLIKE 'foo(?!bar)'
s RLIKE '(?<=foo)ba[rz]'
s RLIKE '(?<!foo)bar'
s RLIKE '(?<=^|a)[x1]'
s RLIKE 'price (?!50)[0-9]{1,3}$'
s RLIKE '^(?=.*[0-9])(?=.*[a-z])'
s RLIKE '^(?!.*debug).*a'
s RLIKE '^(?!error$)'
s NOT RLIKE '(?i)ERROR'
regexp_like(s, '(?i)ERROR')
regexp_count(s, '(?i)B') > 1
regexp_instr(s, '(?i)B') = 3
regexp_extract(s, 'a(.*?)b', 1) = 'X'
regexp_extract(s, '(?i)id=(.*?),', 1) = '7'
regexp_extract(s, '(x+?)x*', 1) = 'x'
regexp_extract(s, '([a-z]+?)b', 1) <> ''
regexp_substr(s, 'x{1,2}?') = 'x'
regexp_replace(s, '(?i)x|(?<=a)b', '-') LIKE '%-%'
regexp_replace(s, '"[^"]{0,20}?"|[a-z](?=[0-9])', '-') LIKE '%-%'
split(s, '(?<=a)(?=[^a])')[1] = 'b'
split(s, '(?i)X')[1] = 'b'
"""


def test_regular_expressions(differing: Differing) -> None:
    assert differing("s STRING", [(text,) for text in TEXTS], EXPRESSIONS.strip().splitlines()) == []


MATCHED = (
    *(
        "",
        "a",
        "abc",
        "aXbXc",
        "a%c",
        "a_c",
        "a\\c",
        "a.c",
        "(a)",
        "a+",
        "[a]",
        "a\nb",
        "A",
        "caabb",
        "aab",
        "$1",
        "^a$",
    ),
    *("\u00e9", "\U0001f600", "a\U0001f600", "\ufdd1", "a/c", "{1}", "a|b", "%", "_", None),
)
PATTERNS = (
    *(
        "",
        "%",
        "_",
        "__",
        "%%",
        "a%",
        "%c",
        "%b%",
        "a%c",
        "a%b%c",
        "%a%b%",
        "a_c",
        "a\\%c",
        "a\\_c",
        "a\\\\c",
        "a.c",
        "(a)",
    ),
    *(
        "a+",
        "[a]",
        "a%b",
        "%aab",
        "a%%",
        "_%_",
        "%_",
        "\U0001f600%",
        "%\U0001f600",
        "$1",
        "^a$",
        "\u00e9",
        "{_}",
        "a|b",
    ),
    *("a/%", "\\%", "\\_", "\\\\%", "%a%a%b", "A", None),
)
WITH_PATTERNS = r"""
s LIKE p
s NOT LIKE p
s ILIKE p
s LIKE p || '%'
s LIKE lower(p)
s LIKE ANY (p, 'a%')
s NOT LIKE ALL (p, 'a_')
upper(s) LIKE upper(p)
like(s, p)
n LIKE p
s LIKE n
s LIKE NULL OR s LIKE concat(p, NULL)
(s LIKE p) IS NULL
"""
CONSTANT_PATTERNS = r"""
s LIKE concat('a', '%', NULL)
(s LIKE concat('a', NULL)) IS NULL
s LIKE concat('a', '%')
s LIKE concat_ws('%', 'a', NULL, 'c')
s LIKE lower('A%') || upper('c')
s LIKE replace('a*c', '*', '%')
s LIKE coalesce(NULL, 'a%')
s LIKE CAST('a%' AS STRING)
s LIKE trim(' a% ')
s LIKE TRUE
s ILIKE concat('A', '%')
s ILIKE ANY (concat('A', '%'), '_')
s RLIKE concat('^a', '.')
s RLIKE '(?i)' || 'B'
rlike(s, concat('a', '.'))
regexp_extract(s, concat('(a)', '.'), 1) = 'a'
regexp_replace(s, concat('a', '.'), concat('b', '$0')) = 'babc'
split(s, lower('X'))[1] = 'b' OR split(s, lower('B'))[1] = 'c'
str_to_map(s, concat('X', ''), ':')['a'] IS NULL
"""


def test_like_patterns_of_the_record(differing: Differing) -> None:
    rows = [(*pair, place % 7) for place, pair in enumerate(product(MATCHED, PATTERNS))]
    without_escape = [row for row in rows if row[1] is None or "\\" not in row[1]]
    texts = WITH_PATTERNS.strip().splitlines()
    assert differing("s STRING, p STRING, n INT", without_escape, texts) == []
    assert differing("s STRING, p STRING, n INT", rows, ["s LIKE p", "s NOT LIKE p", "s ILIKE p"]) == []


def test_like_patterns_made_of_constants(differing: Differing) -> None:
    rows = [(text,) for text in MATCHED]
    assert differing("s STRING", rows, CONSTANT_PATTERNS.strip().splitlines()) == []


def test_like_patterns_with_another_escape(differing: Differing) -> None:
    escaped = [pattern and pattern.replace("\\", "/") for pattern in PATTERNS if pattern != "a/%"]
    rows = list(product(MATCHED, escaped))
    assert differing("s STRING, p STRING", rows, ["s LIKE p ESCAPE '/'", "like(s, p, '/')"]) == []
