"""Normalisation: from the SQL text of a predicate to its disjunctive normal form."""

from __future__ import annotations

import pyarrow as pa

from asc.errors import AscError, PredicateError
from asc.predicate.formula import Conjunction, Const, Steps, TooManyConjunctsError, conjuncts_of
from asc.predicate.limits import Limits
from asc.predicate.normal_form.disjunctive_form import Conjunct, Predicate
from asc.predicate.normal_form.formula_builder import FormulaBuilder
from asc.predicate.syntax.nodes import Node, shortened
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.stars import with_columns
from asc.predicate.type_checking.time_words import check_time_words
from asc.schema import Schema

_DEFAULT_LIMITS = Limits()
TAUTOLOGY, CONTRADICTION = "a tautology: it accepts every record", "a contradiction: it accepts no record"


def normalise(
    text: str,
    schema: Schema,
    *,
    limits: Limits = _DEFAULT_LIMITS,
    time_zone: str = "UTC",
    may_wait: bool = False,
) -> Predicate:
    """Return the disjunctive normal form of a predicate over a stream's attributes.

    The result accepts exactly the tuples that Spark's ``DataFrame.filter(text)`` accepts in the session time zone
    ``time_zone`` with ANSI mode off. ``may_wait``: treat a shape that its layer lacks as NULL instead of refusing it.

    Raise PredicateError, with the position in the text, if the text is no predicate, has a type error, or uses an
    expression that is not allowed. Raise AscError if the time zone is unknown.

    >>> schema = Schema.from_ddl("delay INT, city STRING")
    >>> predicate = normalise("NOT (delay <= 30 OR city <> 'Oslo')", schema)
    >>> [[(str(a), c.intervals) for a, c in conjunct] for conjunct in predicate.conjuncts]
    [[('delay', (((30, 1), None),)), ('city', (((b'Oslo', 0), (b'Oslo', 1)),))]]
    """
    check_time_zone(time_zone)
    tree, source = parse(text, limits, time_zone)
    builder = FormulaBuilder(source, schema, time_zone, may_wait=may_wait)
    return normalised(tree, builder, limits)


def normalised(tree: Node, builder: FormulaBuilder, limits: Limits, steps: Steps | None = None) -> Predicate:
    """Return the disjunctive normal form of a parsed tree, as :func:`normalise` does for a text.

    ``builder`` builds the formula of the tree. ``steps``: the budget of the computation of the normal form, from which
    the caller can read the steps taken; None for the default.
    """
    source = builder.typer.source
    text = source.text
    if "*" in text:
        tree = with_columns(tree, builder.typer)
    if tree.weight > limits.length_chars:
        # Only an expression that repeats its operands has more nodes than characters; typing it would take long.
        raise PredicateError("predicate that repeats its parts:", shortened(text), "nest fewer of them in each other")
    formula = builder.formula(tree)
    check_time_words(builder.typer, tree)
    if isinstance(formula, Const) and builder.typer.of(tree).type == pa.null():
        raise source.error_at(tree, "NULL where a condition must stand:", "it would accept no record")
    try:
        conjuncts = conjuncts_of(formula, limits.conjuncts, steps)
    except TooManyConjunctsError:
        builder.warnings[
            f"the normal form has more than {limits.conjuncts} conjuncts: Spark computes the predicate whole"
        ] = None
        conjuncts = conjuncts_of(builder.whole(tree), limits.conjuncts)
    if _weight(conjuncts) > limits.spark_nodes:
        # Many expressions cost more than one expression that contains them all.
        conjuncts = conjuncts_of(builder.whole(tree), limits.conjuncts)
        weight = _weight(conjuncts)
        if weight > limits.spark_nodes:
            remedy = "write fewer terms, or several queries with the same topic"
            subject = (
                f"predicate that has Spark compute {weight} operators and operands, more than {limits.spark_nodes}:"
            )
            raise PredicateError(subject, shortened(text), remedy)
    match_all = conjuncts == [{}]
    if match_all:
        conjuncts = []
        # A user who writes TRUE asks for every record.
        if text.strip().upper() != "TRUE":
            builder.warnings[TAUTOLOGY] = None
    elif not conjuncts:
        builder.warnings[CONTRADICTION] = None
    return Predicate(
        text,
        _frozen(conjuncts),
        match_all,
        tuple(builder.warnings),
        named=frozenset(builder.typer.columns),
        shapes=builder.named_shapes,
        missing_shapes=builder.missing_shapes,
    )


def _weight(conjuncts: list[Conjunction]) -> int:
    """Return the number of operators and operands that Spark evaluates for a predicate. A p-attribute that occurs
    several times counts once.
    """
    return sum(attribute.weight for attribute in {attribute.read for conjunct in conjuncts for attribute in conjunct})


def _frozen(conjuncts: list[Conjunction]) -> tuple[Conjunct, ...]:
    return tuple(tuple(conjunct.items()) for conjunct in conjuncts)


def check_time_zone(time_zone: str) -> None:
    """Raise AscError if the time zone is unknown."""
    if time_zone == "UTC":
        return
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(time_zone)
    except (KeyError, ValueError, OSError):
        raise AscError("time zone", time_zone, "use a region such as Europe/Berlin, or UTC") from None
