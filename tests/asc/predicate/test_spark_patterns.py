"""Patterns against Spark: each predicate accepts what ``DataFrame.filter`` accepts."""

from __future__ import annotations

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
