"""The base class of the API's models for the states of queries."""

from __future__ import annotations

from broker.body import Body


class KeptBody(Body):
    """The state of a query in answers; each has the ``name`` of its operator.

    Fields that a list does not show, or a caller may not see, are not set.
    """
