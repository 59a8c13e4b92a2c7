"""Predicates and records made to hurt, through a daemon that runs: what is dangerous is refused in one line, what is
taken harms nobody, and the other queries' records arrive.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def nested(innermost: str, around: str, times: int) -> str:
    text = innermost
    for _ in range(times):
        text = around.format(text)
    return text


REFUSED = {
    "wildcards that overflow the stack": ("s LIKE '" + "_" * 9_000 + "%'", "at most 500 of % and _"),
    "segments that overflow the stack": ("s LIKE '" + "%a" * 8_450 + "'", "at most 500 of % and _"),
    "bounded repetitions": ("s RLIKE '" + "a{140,141}" * 7 + "b'", "steps for each character"),
    "a long repetition": ("s RLIKE '[0-9]{999}x'", "steps for each character"),
    "many patterns": (" OR ".join(f"s RLIKE '[0-9]{{99}}x{i}'" for i in range(100)), "together they may take"),
    "a word boundary": (r"s RLIKE '\\bfoo'", "accents"),
    "empty alternatives": ("s RLIKE 'a" + "(|)" * 60 + "$'", "steps for each character"),
    "two thousand terms": (" OR ".join(f"n = d + {i}" for i in range(1_200)), "write fewer terms"),
    "values of CASE": (nested("n", "CASE {0} WHEN 1 THEN 2 WHEN 3 THEN 4 END", 12) + " = 1", "fewer"),
    "BETWEEN in BETWEEN": (nested("n", "if({0} BETWEEN 1 AND 2, n, 3)", 20) + " = 1", "fewer"),
    "LIKE ANY in LIKE ANY": (
        nested("s", "if({0} LIKE ANY ('a%b', 'c%d', 'e%f', 'g%h'), s, 'x')", 12) + " = 'a'",
        "fewer",
    ),
    "repetition without an end": ("s RLIKE '[aX]{9999,}'", "steps for each character"),
    "a constant made long": ("repeat(rpad(s, 1000, 'a'), 90) RLIKE '[a]{250}b'", "steps for each character"),
    "elements out of a constant": ("exists(sequence(1, 1000), x -> x > n)", "an array of the record"),
    "the clock": ("_timestamp > TIMESTAMP 'now'", "write the date or time itself"),
    "today": ("to_date('today') = DATE '2020-01-01'", "write the date or time itself"),
    "NULL alone": ("NULL", "NULL where a condition must stand"),
    "a boolean beside .5": ("(n > 1) = .5", "BOOLEAN compared with DECIMAL"),
}

TAKEN = {
    "casts of instants": nested("_timestamp", "CAST(CAST({0} AS TIMESTAMP_NTZ) AS TIMESTAMP)", 11) + " IS NULL",
    "questions of NULL": nested("n > 3", "(({0}) IS NULL OR n > 1 AND n < 2)", 16),
    "a text as a decimal": "CAST(s AS DECIMAL(38,0)) = 1",
    "many wildcards": "s LIKE '" + "_" * 490 + "%'",
    "anchored": "s RLIKE '^[0-9]*x'",
    "alternatives": "s RLIKE 'error|warning|[0-9]{2,3}x'",
    "loops at the front and in the middle": (
        "s RLIKE '[a-z]+X' OR s RLIKE 'a.*b.*X' OR regexp_extract(s, '([^,]+)(X)', 2) = 'X'"
        " OR regexp_replace(s, '\\\\w+X', '') = 'x'"
    ),
    "exclusions": " AND ".join(f"n <> {i}" for i in range(1_500)) + " AND n < 0",
}

TEXTS = ["a" * 100_000, "1" * 100_000, "_" * 20_000, "\u0301" * 100_000, "\U0001f600" * 20_000, "%" * 20_000]


@pytest.mark.parametrize("attack", REFUSED)
def test_what_could_hurt_is_refused_in_one_line(site: Site, attack: str) -> None:
    where, said = REFUSED[attack]
    body = {"id": "attack", "where": where, "stream": site.stream("json"), "topic": site.topic("attacks")}
    answer = site.client.post("/v1/queries", json=body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    message = f"{error['subject']} {error['value']!r}: {error['remedy']}"
    assert said in message
    assert "\n" not in error["remedy"]
    assert site.client.get("/v1/queries/attack").status_code == 404


def test_what_is_taken_harms_nobody_whatever_the_record(site: Site) -> None:
    topic = site.topic("harmless")
    for number, where in enumerate(TAKEN.values()):
        site.register(f"taken-{number}", where, topic)
    sane = site.register("sane-beside-attacks", "n = 7")["query"]["topic"]
    offsets = site.publish([json.dumps({"n": 7, "s": text}).encode() for text in TEXTS])
    site.drain()
    assert [record.offset for record in site.read(sane)] == offsets
    assert site.client.get("/readyz").status_code == 200
