"""The limits on the size of a predicate."""

from __future__ import annotations

from dataclasses import dataclass

MAX_NESTING_DEPTH = 64
"""The maximum of ``Limits.nesting_depth``: the greatest depth that Python's stack and Spark's parser handle
reliably.
"""


@dataclass(frozen=True)
class Limits:
    """The limits on one predicate.

    ``length_chars``: the number of characters of the predicate's text. ``nesting_depth``: the number of levels of its
    syntax tree; a chain of ANDs or of ORs counts as one level. ``conjuncts``: the number of conjuncts of its normal
    form. A predicate that exceeds ``conjuncts`` is not refused; Spark evaluates the whole predicate.

    ``spark_nodes``: the number of operators and operands in the expressions that Spark evaluates. Spark's planner takes
    a tenth of a millisecond for each. ``join_nodes``: the number of operators and operands in the predicates of a join
    for all shapes together. It is estimated first and then counted
    (:meth:`asc.predicate.normal_form.join_predicate.JoinPredicate.effort`). Each takes about 30 microseconds.
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
