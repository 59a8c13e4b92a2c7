"""The disjunctive normal form against three-valued logic evaluated by the book."""

from __future__ import annotations

import sys
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.errors import PredicateError
from asc.predicate import Limits, Predicate, normalise
from asc.schema import Schema
from tests.call_counts import counted_calls

SCHEMA = Schema.from_ddl("a TINYINT, b TINYINT, c BOOLEAN, s STRING, price DECIMAL(10,2)")
VALUES = {"a": (None, -128, 0, 1, 2, 3, 127), "b": (None, 0, 2, 5), "c": (None, True, False)}
ROWS = [dict(zip(VALUES, row, strict=True)) for row in product(*VALUES.values())]
OPERATORS = {
    "=": lambda x, y: x == y,
    "<>": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}


class Term:
    """A condition: its text, and its value for a row by Kleene's tables."""

    def __init__(self, text: str, value: object) -> None:
        self.text = text
        self.value = value

    def __repr__(self) -> str:
        return self.text

    def of(self, row: dict[str, object]) -> bool | None:
        return self.value(row)  # type: ignore[operator,no-any-return]


def comparison(name: str, operator: str, constant: int) -> Term:
    def value(row: dict[str, object]) -> bool | None:
        return None if row[name] is None else OPERATORS[operator](row[name], constant)  # type: ignore[no-untyped-call]

    return Term(f"{name} {operator} {constant}", value)


def both(x: bool | None, y: bool | None) -> bool | None:
    return False if x is False or y is False else None if x is None or y is None else True


def negated(x: bool | None) -> bool | None:
    return None if x is None else not x


def either(x: bool | None, y: bool | None) -> bool | None:
    return negated(both(negated(x), negated(y)))


atoms = st.one_of(
    st.builds(comparison, st.sampled_from("ab"), st.sampled_from(list(OPERATORS)), st.integers(-129, 128)),
    st.builds(comparison, st.sampled_from("ab"), st.sampled_from(list(OPERATORS)), st.integers(0, 3)),
    st.sampled_from(
        [
            Term("c", lambda row: row["c"]),
            Term("a IS NULL", lambda row: row["a"] is None),
            Term("b <=> 2", lambda row: row["b"] == 2),
            Term("a <=> NULL", lambda row: row["a"] is None),
            Term("NULL", lambda row: None),
            Term("TRUE", lambda row: True),
            Term("a IN (1, 3, NULL)", lambda row: True if row["a"] in (1, 3) else None),
            Term("a IN (1, 3)", lambda row: None if row["a"] is None else row["a"] in (1, 3)),
            Term("c = FALSE", lambda row: negated(row["c"])),
            Term("b BETWEEN 1 AND 2", lambda row: None if row["b"] is None else 1 <= row["b"] <= 2),
        ]
    ),
)


def compounds(terms: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    def conjunction(x: Term, y: Term) -> Term:
        return Term(f"({x} AND {y})", lambda row: both(x.of(row), y.of(row)))

    def disjunction(x: Term, y: Term) -> Term:
        return Term(f"({x} OR {y})", lambda row: either(x.of(row), y.of(row)))

    return st.one_of(
        st.builds(conjunction, terms, terms),
        st.builds(disjunction, terms, terms),
        terms.map(lambda x: Term(f"(NOT {x})", lambda row: negated(x.of(row)))),
        terms.map(lambda x: Term(f"(({x}) IS NULL)", lambda row: x.of(row) is None)),
        terms.map(lambda x: Term(f"(({x}) IS NOT TRUE)", lambda row: x.of(row) is not True)),
        terms.map(lambda x: Term(f"(({x}) IS FALSE)", lambda row: x.of(row) is False)),
        terms.map(lambda x: Term(f"(({x}) IS NOT UNKNOWN)", lambda row: x.of(row) is not None)),
    )


def accepts(predicate: Predicate, row: dict[str, object]) -> bool:
    return predicate.match_all or any(
        all(constraint.admits(row[attribute.sql]) for attribute, constraint in conjunct)
        for conjunct in predicate.conjuncts
    )


@settings(max_examples=400, deadline=None)
@given(st.recursive(atoms, compounds, max_leaves=12).filter(lambda term: term.text != "NULL"))  # refused alone
def test_accepts_what_is_true(term: Term) -> None:
    predicate = normalise(term.text, SCHEMA, limits=Limits(conjuncts=1_000))
    for row in ROWS:
        assert accepts(predicate, row) == (term.of(row) is True), row
    for conjunct in predicate.conjuncts:
        assert conjunct
        assert not any(constraint.is_empty or constraint.is_full for _, constraint in conjunct)


@pytest.mark.parametrize(
    "text",
    [
        "a < 1 AND a > 2",
        "a > 5 AND a < 6",
        "a > 1000",
        "a = 5.5",
        "s < ''",
        "s = 'a' AND s = 'b'",
        "a IN (NULL)",
        "NULL AND TRUE",
        "1 > 2",
        "a IS NULL AND a IS NOT NULL",
        "a BETWEEN 5 AND 1",
        "a NOT IN (1, NULL)",
        "price = 5.555",
        "price > 99999999.99",
        "NOT (a = 1 OR NULL)",
        "(a > 1 OR b > 1) AND a < 1 AND b IS NULL",
    ],
)
def test_contradictions(text: str) -> None:
    predicate = normalise(text, SCHEMA)
    assert predicate.conjuncts == ()
    assert not predicate.match_all
    assert predicate.warnings == ("a contradiction: it accepts no record",)


@pytest.mark.parametrize(
    "text",
    [
        "1 = 1",
        "NOT FALSE",
        "a IS NULL OR a IS NOT NULL",
        "a > 5 OR a <= 5 OR a IS NULL",
        "a <= 5 OR a >= 6 OR a IS NULL",
        "a < 1000 IS NOT FALSE",
        "(a > 1) IS NULL OR a > 1 OR a < 2",
        "NOT (a > 200 IS TRUE)",
        "s >= '' OR s IS NULL",
    ],
)
def test_tautologies(text: str) -> None:
    predicate = normalise(text, SCHEMA)
    assert predicate.match_all
    assert predicate.conjuncts == ()
    assert predicate.warnings == ("a tautology: it accepts every record",)


@pytest.mark.parametrize("text", ["TRUE", " true "])
def test_a_predicate_that_asks_for_every_record_has_no_warning(text: str) -> None:
    predicate = normalise(text, SCHEMA)
    assert predicate.match_all
    assert predicate.warnings == ()


@pytest.mark.parametrize(
    ("text", "conjuncts"),
    [
        ("a = 1 OR a = 2 OR a > 9", 1),
        ("a IN (1, 2) OR a IS NULL OR a BETWEEN 5 AND 7", 1),
        ("(a = 1 OR a = 2) AND b > 3", 1),
        ("a = 1 AND b > 3 OR a = 2 AND b > 3", 1),
        ("a = 1 OR a = 1 AND b = 2", 1),
        ("a = 1 OR b = 2", 2),
        ("(a = 1 OR b = 2) AND (a = 3 OR b = 4)", 2),
        ("a = 1 AND b = 1 OR a = 2 AND b = 2", 2),
    ],
)
def test_few_conjuncts(text: str, conjuncts: int) -> None:
    assert len(normalise(text, SCHEMA).conjuncts) == conjuncts


def test_more_conjuncts_than_allowed_are_kept_whole() -> None:
    """(a = 1 OR s = 'x1' OR ...) over many p-attributes: the product would be 3 ** 40."""
    wide = Schema.from_ddl(", ".join(f"c{i} INT" for i in range(120)))
    text = " AND ".join(f"(c{3 * i} = 1 OR c{3 * i + 1} = 2 OR c{3 * i + 2} = 3)" for i in range(40))
    with counted_calls(2_000_000):
        predicate = normalise(text, wide)
    ((only,),) = predicate.conjuncts
    assert only[0].path is None
    assert "more than 64 conjuncts" in predicate.warnings[0]
    assert len(normalise(" OR ".join(f"c{i} = 1" for i in range(64)), wide).conjuncts) == 64
    assert len(normalise(" OR ".join(f"c{i} = 1" for i in range(65)), wide).conjuncts) == 1


@pytest.mark.parametrize(
    "text",
    [
        " AND ".join(f"(a <> {i} OR b <> {i})" for i in range(10)),
        " AND ".join(f"(a <> {i} OR b <> {i})" for i in range(100)),
        " OR ".join(f"(a = {i % 120} AND b = {i})" for i in range(800)),
        f"a IN ({', '.join(map(str, range(120)))}, b)",
    ],
    ids=["and10", "and100", "or800", "list"],
)
def test_large_forms_are_given_up_early(text: str) -> None:
    """Counted in calls, not in seconds."""
    calls = 0

    def count(frame: object, event: str, arg: object) -> None:
        nonlocal calls
        calls += event == "call"

    normalise("a > 1", SCHEMA)
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        predicate = normalise(text, SCHEMA, limits=Limits(spark_nodes=10**4))
    finally:
        sys.setprofile(before)
    assert [a.path for a in predicate.p_attributes] == [None]
    assert calls < 500_000


def test_one_p_attribute_for_one_expression() -> None:
    predicate = normalise("Lower( S )='x' OR lower(s) = 'y' AND (A+1) > 2 AND a + 1 < 9", SCHEMA)
    assert [attribute.sql for attribute in predicate.p_attributes] == ["lower(s)", "a + 1"]
    assert [attribute.path for attribute in normalise("A > 1 AND S = ''", SCHEMA).p_attributes] == [("a",), ("s",)]


def test_the_form_is_the_same_in_every_process() -> None:
    """No order depends on the hash of strings."""
    import subprocess
    import sys

    program = (
        "from asc.predicate import normalise; from asc.schema import Schema;"
        "print(normalise('(a=1 OR b=2 OR c) AND (b>1 OR a<0 OR NOT c)', Schema.from_ddl('a INT, b INT, c BOOLEAN')))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize(
    "text",
    [
        " OR ".join(f"a = b + {i}" for i in range(1_200)),
        " AND ".join(f"(a BETWEEN b AND b + {i})" for i in range(600)),
        f"CASE a + b {' '.join(f'WHEN b / {i} THEN {i}' for i in range(900))} END > 3",
        "right(" * 10 + "s" + ", 3)" * 10 + " = 'x'",
    ],
    ids=["or", "between", "case", "right"],
)
def test_what_would_have_spark_compute_too_much_is_refused(text: str) -> None:
    with pytest.raises(PredicateError, match=r"has Spark compute \d+ operators .*write fewer terms, or several"):
        normalise(text, SCHEMA)


def test_many_expressions_become_one_where_that_costs_less() -> None:
    text = " AND ".join(f"s LIKE '%a_{i}%'" for i in range(60))
    assert len(normalise(text, SCHEMA, limits=Limits(spark_nodes=500)).p_attributes) == 1
    assert len(normalise(text, SCHEMA).p_attributes) == 60


@pytest.mark.parametrize(
    "around",
    [
        "right({0}, 3)",
        "nullif({0}, 'a')",
        "if({0} LIKE ANY ('a%b', 'c%d', 'e%f', 'g%h'), s, 'x')",
        "if({0} ILIKE ALL ('a%b', 'c%d', 'e%f'), s, 'x')",
        "decode({0}, 'a', 'b', 'c', 'd', 'e', 'f')",
        "CASE {0} WHEN 'a' THEN 'b' WHEN s THEN 'c' WHEN 'd' THEN 'e' END",
        "regexp_substr({0}, '^a')",
    ],
)
def test_what_repeats_its_operand_is_refused_before_it_is_typed(around: str) -> None:
    """Typing it would never end."""
    text = "s"
    for _ in range(18):
        text = around.format(text)
    with pytest.raises(PredicateError, match=r"repeats its parts|nested too deeply"):
        normalise(f"{text} = 'q'", SCHEMA)
