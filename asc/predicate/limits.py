"""How large a predicate may be."""

from __future__ import annotations

from dataclasses import dataclass

MAX_NESTING_DEPTH = 64
"""The depth that Python's stack and Spark's parser take reliably; ``Limits.nesting_depth`` cannot be set higher."""


@dataclass(frozen=True)
class Limits:
    """Bounds on one predicate.

    ``length_chars``: characters of its text. ``nesting_depth``: levels of its syntax tree, AND and OR of any number of
    terms counting one. ``conjuncts``: of its normal form; one with more is not refused, Spark computes it whole.
    ``spark_nodes``: operators and operands of what Spark computes of it; its planner takes a tenth of a millisecond for
    each. ``join_nodes``: operators and operands of a join's predicates for all shapes together, estimated and then
    counted (:meth:`asc.predicate.normal_form.join_predicate.JoinPredicate.effort`); one takes some 30 microseconds.
    """

    length_chars: int = 20_000
    nesting_depth: int = 50
    conjuncts: int = 64
    spark_nodes: int = 1_500
    join_nodes: int = 2_000_000

    def __post_init__(self) -> None:
        if not 1 <= self.nesting_depth <= MAX_NESTING_DEPTH:
            raise ValueError(f"nesting_depth {self.nesting_depth}: use 1..{MAX_NESTING_DEPTH}")
        if self.length_chars < 1 or self.conjuncts < 1 or self.spark_nodes < 1 or self.join_nodes < 1:
            raise ValueError(f"{self}: every limit is at least 1")
