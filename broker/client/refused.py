"""The exception for an answer of the daemon with an error status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from broker.answers.refusal import RefusedLine
from broker.client.errors import (
    BY_STATUS,
    RefusedError,
    TooManyRequestsError,
    UnavailableError,
    UnreadableAnswerError,
)

if TYPE_CHECKING:
    import httpx

NOT_A_DAEMON = "is it the daemon's address? (--server)"


def object_of(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON object of an answer, or an empty object if the body is empty. Raise UnreadableAnswerError if the
    body is not a JSON object.
    """
    if not response.content:
        return {}
    try:
        answer = response.json()
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise UnreadableAnswerError("no JSON object answered by", _shown(response), NOT_A_DAEMON)
    return answer


def refused(response: httpx.Response) -> RefusedError:
    """Return the exception for an answer with an error status. The status determines the class (``BY_STATUS``), and the
    JSON body, if there is one, the texts.
    """
    body = _body(response)
    error, lines = body.get("error"), body.get("errors")
    if not isinstance(error, dict):
        message = f"{response.request.method} {_shown(response)} answers {response.status_code}: {NOT_A_DAEMON}"
        error = {"message": message, "subject": _shown(response), "value": response.status_code, "remedy": NOT_A_DAEMON}
    streams = error.get("streams")
    refusal = BY_STATUS.get(response.status_code, RefusedError)(
        str(error.get("subject") or "the daemon answers"),
        error.get("value", response.status_code),
        str(error.get("remedy") or "see the daemon's log"),
        status=response.status_code,
        message=str(error.get("message") or ""),
        caret_text=str(error.get("caret") or ""),
        lines=cast("list[RefusedLine]", lines) if isinstance(lines, list) else (),
        streams=list(map(str, streams)) if isinstance(streams, list) else None,
    )
    if isinstance(refusal, (TooManyRequestsError, UnavailableError)):
        refusal.retry_after_s = _seconds(response.headers.get("retry-after"))
    return refusal


def _body(response: httpx.Response) -> dict[str, Any]:
    try:
        return object_of(response)
    except UnreadableAnswerError:
        return {}


def _shown(response: httpx.Response) -> str:
    """Return the address of an answer, without user and password."""
    return str(response.url.copy_with(userinfo=b""))


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
