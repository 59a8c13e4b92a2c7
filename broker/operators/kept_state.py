"""The state of a query's operator in answers of the API: a union of the models of all kinds that show states. The field
``name`` selects the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from broker.operators.answer_union import AnswerUnion
from broker.operators.kept_body import KeptBody
from broker.operators.kinds import kept_bodies

KeptState = Annotated[KeptBody, AnswerUnion(kept_bodies, "What is kept for the operator of a query.")]
"""An object of one of the models :attr:`OperatorKind.kept`."""


def kept_state(name: str, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a query in the form of answers. ``name``: the name of the query's operator. ``kept``: the
    state, as a folder or the feed reports it.
    """
    return {"name": name, **kept}
