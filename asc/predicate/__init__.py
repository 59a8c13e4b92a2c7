"""Predicates: the SQL text after WHERE, and its normalisation to conjuncts of constraints."""

from asc.predicate.limits import Limits
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.predicate.normal_form.normaliser import normalise

__all__ = ["Limits", "Predicate", "normalise"]
