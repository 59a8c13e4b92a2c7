"""Registration of one query, and its answer."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from broker.http.models import plain_registered
from broker.http.scoped_service import ScopedService
from broker.queries.change import Change


def registration_answer(permitted: ScopedService, change: Change, verb: str, response: Response) -> dict[str, Any]:
    """Apply one change that registers a query, and return the API's answer. Set the status of ``response`` to 201 if
    the query is new, otherwise to 200. Raise AscError if the change is refused. ``verb``: the verb for the audit.
    """
    found = permitted.apply([change], verb).raised().registered[0]
    response.status_code = 201 if found.is_new else 200
    return plain_registered(found)
