"""The base class of the API's models for estimates of the states of queries."""

from __future__ import annotations

from pydantic import Field

from broker.body import Body


class EstimateBody(Body):
    """The estimated state of a query that is not registered; each has the ``name`` of its operator, and the figures of
    its kind. A figure is null if it is unknown.
    """

    text: str = Field(description="The estimate in one line.")
