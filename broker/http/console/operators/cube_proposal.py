"""The console forms that show which changes of stored views the optimiser proposes for a cube, and that apply these
changes.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response

from asc.errors import AscError
from asc.operators.cube.proposal import Proposal
from broker.errors import QueryError
from broker.failure import one_line
from broker.http.console.operators.cube_stored import stored_address, stored_page
from broker.http.console.pages import Form, Pages
from broker.http.operators.cube_optimiser import apply_proposal, proposed
from broker.http.operators.cube_readable import ReadableCube, readable_cube
from broker.http.scoped_service import ScopedService
from broker.operators.cube.cube_state import CubeId


def add_proposals(router: APIRouter, pages: Pages, of_caller: Any) -> None:
    """Add the routes of the two forms, which are under ``/console/cube``, to the router."""

    @router.post("/cube/propose/{query_id:path}")
    def propose(query_id: str, permitted: ScopedService = of_caller) -> Response:
        cube = readable_cube(permitted, query_id)
        try:
            proposal = proposed(permitted, cube)
        except AscError as error:
            return stored_page(pages, permitted, cube, error=error)
        return _shown(pages, permitted, cube, proposal)

    @router.post("/cube/optimise/{query_id:path}")
    def optimise(query_id: str, form: Form, permitted: ScopedService = of_caller) -> Response:
        """Apply the proposal that the form showed. If the optimiser now proposes other changes, show the new proposal,
        and apply nothing.
        """
        permitted.check_may_change()
        cube, proposal = readable_cube(permitted, query_id), None
        try:
            proposal = proposed(permitted, cube)
            if form.get("proposal", "") != mark_of(cube.id, proposal):
                if proposal.changes:
                    remedy = "has other changes since this form was opened: check them, and apply them"
                else:
                    remedy = "is applied already, or other views were chosen since: nothing is left to change"
                raise QueryError("proposal of", query_id[:250], remedy)
            apply_proposal(permitted, cube, proposal)
        except AscError as error:
            permitted.note("optimise", {"id": cube.query.id, "outcome": "refused", "error": one_line(error)})
            if proposal is None:
                return stored_page(pages, permitted, cube, error=error)
            return _shown(pages, permitted, cube, proposal, error=error)
        return RedirectResponse(stored_address(query_id), 303)


def mark_of(cube: CubeId, proposal: Proposal) -> str:
    """Return a hash that two proposals have in common if they change the same views of a cube with the same definition.

    The form sends the hash back, so that only the proposal that the user saw is applied. The hash ignores the numbers
    of cells and questions, because they change with each question.
    """
    changes = sorted((own.name, own.is_added) for own in proposal.changes)
    return sha256(json.dumps([cube.generation, changes]).encode()).hexdigest()


def _shown(
    pages: Pages, permitted: ScopedService, cube: ReadableCube, proposal: Proposal, error: AscError | None = None
) -> Response:
    values = {"proposal": proposal, "mark": mark_of(cube.id, proposal)}
    return stored_page(pages, permitted, cube, values, error)
