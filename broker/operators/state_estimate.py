"""The estimated state of a query in the API: a union of the models of all kinds that estimate states. The field
``name`` selects the model.
"""

from __future__ import annotations

from typing import Annotated

from broker.operators.answer_union import AnswerUnion
from broker.operators.estimate_body import EstimateBody
from broker.operators.kinds import estimate_bodies

StateEstimate = Annotated[
    EstimateBody, AnswerUnion(estimate_bodies, "The state that a query would have, by the last records of its stream.")
]
"""An object of one of the models :attr:`FoldKind.estimate_body`."""
