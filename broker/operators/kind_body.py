"""The base of the bodies of operators."""

from __future__ import annotations

from pydantic import Field

from broker.body import Body, Text


class KindBody(Body):
    """The body of an operator; each has its ``name``, and the fields of its definition."""

    summary: Text | None = Field(
        default=None,
        description="The operator in one line. It is computed, and ignored in a body.",
        json_schema_extra={"readOnly": True},
    )
