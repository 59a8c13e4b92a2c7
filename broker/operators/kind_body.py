"""The base class of the models of operators in the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import ConfigDict, Field

from broker.body import Body, Text


def _with_examples(schema: dict[str, Any], model: type[KindBody]) -> None:
    if model.examples:
        schema["examples"] = [dict(example) for example in model.examples]


class KindBody(Body):
    """The body of an operator; each has its ``name``, and the fields of its definition.

    ``examples``: operators of the kind, for the API's document and for tests. The first one has only the required
    fields. It reads only columns of the sample of aircraft positions, as do all examples of kinds with the handoff
    ``feed``.
    """

    model_config = ConfigDict(json_schema_extra=_with_examples)
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = ()

    summary: Text | None = Field(
        default=None,
        description="The operator in one line. It is computed, and ignored in a body.",
        json_schema_extra={"readOnly": True},
    )

    @classmethod
    def combinations(cls, query_id: str, plain: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Return the id and the operator of each query that the ``operator`` of a new query describes. Raise
        QueryError.

        The result has one query, except for a kind in which a list of values creates one query for each value.
        """
        return [(query_id, dict(plain))]
