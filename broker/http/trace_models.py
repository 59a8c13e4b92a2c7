"""The answers that follow a record, or explain a query: with the query in full, its operator included."""

from __future__ import annotations

from pydantic import BaseModel, Field

from broker.answers.trace import DeadLetter, PlacedTerm, PlanTrace, TracedRecord, Verdict
from broker.http.models import PlainQueryModel


class ExplanationModel(BaseModel):
    """The constructs that a query uses, in words; ``accepted``: whether it accepts the tuple, null without one."""

    query: PlainQueryModel
    version: int
    text: str
    accepted: bool | None
    block: int | None
    conjuncts: list[list[PlacedTerm]]
    warnings: list[str]


class TraceModel(BaseModel):
    """A record or tuple, the verdict of one query, and the path through the plan.

    ``trace`` is null for a token that does not see the whole stream, and of a dead letter.
    """

    stream: str
    version: int
    source: str | None
    record: TracedRecord | None
    tuple: dict[str, object] | None = Field(description="The fields of the record, as its stream has them.")
    query: PlainQueryModel | None
    dead_letter: DeadLetter | None
    verdict: Verdict | None
    trace: PlanTrace | None
    warnings: list[str]
