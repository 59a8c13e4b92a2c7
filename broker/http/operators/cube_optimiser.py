"""The optimiser of a cube's stored views, with the permissions of a caller: proposals, and their application."""

from __future__ import annotations

from asc.operators.cube.proposal import Proposal
from broker.http.operators.cube_readable import ReadableCube
from broker.http.scoped_service import ScopedService


def proposed(permitted: ScopedService, cube: ReadableCube) -> Proposal:
    """Return the changes of stored views that the optimiser proposes for the recent questions. The run of the optimiser
    counts as one question, with the same limits and errors.
    """
    keeper, budget = cube.folder.keeper, cube.definition.budget
    return keeper.questions.with_turn(
        cube.id,
        lambda _, reserve: keeper.choice.propose(cube.id, budget, lambda: reserve(0)),
        permitted.cancellation,
    )


def apply_proposal(permitted: ScopedService, cube: ReadableCube, proposal: Proposal) -> None:
    """Apply a proposal to the stored views of a cube, and record this in the audit. Raise ForbiddenError if the caller
    may change nothing.
    """
    permitted.check_may_change()
    cube.folder.keeper.choice.apply(cube.id, proposal)
    permitted.note("optimise", {"id": cube.query.id})
