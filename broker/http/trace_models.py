"""The models of the answers that trace a record or explain a query. They contain the query with all fields, including
its operator.
"""

from __future__ import annotations

from pydantic import BaseModel, Field

from broker.answers.trace import DeadLetter, PlacedTerm, PlanTrace, TracedRecord, Verdict
from broker.http.models import PlainQueryModel


class ExplanationModel(BaseModel):
    """The explanation of a query: the constructs that the query uses, in words. ``accepted``: whether the query accepts
    the tuple of the request; null if the request has no tuple.
    """

    query: PlainQueryModel
    version: int
    text: str
    accepted: bool | None
    block: int | None
    conjuncts: list[list[PlacedTerm]]
    warnings: list[str]


class TraceModel(BaseModel):
    """The trace of a record or tuple: the verdict of one query, and the path through the plan.

    ``trace``: the path. It is null if the token does not permit to see all queries of the stream, or if the record is a
    dead letter.
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
