"""A predicate's normal form as JSON: what ``asc query check --json`` prints, as ``/v1/check`` answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asc.predicate.normal_form import Predicate


def predicate_json(predicate: Predicate) -> dict[str, Any]:
    """Conjuncts of constraints, p-attributes, verdicts, warnings and the printed form."""
    from asc.predicate.describe import constraint_text, describe

    return {
        "conjuncts": [
            [
                {"attribute": attribute.sql, "constraint": constraint_text(attribute, constraint)}
                for attribute, constraint in conjunct
            ]
            for conjunct in predicate.conjuncts
        ],
        "p_attributes": [
            {"sql": attribute.sql, "type": str(attribute.type), "spark": attribute.path is None}
            for attribute in predicate.p_attributes
        ],
        "match_all": predicate.match_all,
        "contradiction": not predicate.conjuncts and not predicate.match_all,
        "warnings": list(predicate.warnings),
        "text": describe(predicate),
    }
