"""Exceptions of the client. The message of each is one line with the subject, the value and the remedy. Each has the
HTTP status of the answer, if there was an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from asc.errors import AscError

if TYPE_CHECKING:
    from broker.answers.refusal import RefusedLine


class ClientError(AscError):
    """The root of the client's exceptions. ``status``: the HTTP status of the answer, or None if there was no
    answer.
    """

    status: int | None = None


class InvalidRequestError(ClientError):
    """A request that was not sent, because its address, token, CA file, id or body is invalid."""


class NoAnswerError(ClientError):
    """A request to an address at which no daemon answers. A later attempt may succeed."""


class TimedOutError(NoAnswerError):
    """A request that the daemon did not answer in time. The daemon may or may not have applied the change."""


class TlsError(ClientError):
    """A failed TLS handshake: the server at the address does not use TLS, or its certificate is not trusted."""


class UnreadableAnswerError(ClientError):
    """An answer without the form of the API, so that probably another server listens at the address."""


class RefusedError(ClientError):
    """A refusal of a request by the daemon, with the texts of the daemon's answer.

    ``message``: the complete text. ``caret_text``: the line of a predicate that contains the error, with a caret below
    the position. ``lines``: for a bulk load, an error for each refused line. ``streams``: if the request has to name a
    stream, the streams that it may name; otherwise None.
    """

    def __init__(
        self,
        subject: str,
        value: object,
        remedy: str,
        *,
        status: int = 400,
        message: str = "",
        caret_text: str = "",
        lines: Sequence[RefusedLine] = (),
        streams: Sequence[str] | None = None,
    ) -> None:
        super().__init__(subject, value, remedy)
        self.status: int = status
        self.message = message or super().__str__()
        self.caret_text = caret_text
        self.lines = lines
        self.streams = streams

    def __str__(self) -> str:
        return self.message


class UnauthorizedError(RefusedError):
    """A request whose bearer token is missing or wrong (401)."""


class NotAllowedError(RefusedError):
    """A request that the token does not permit (403)."""


class NotFoundError(RefusedError):
    """A request for an object that does not exist (404), such as a query, record, block or shape."""


class ConflictError(RefusedError):
    """A change that conflicts with the registered queries (409, 412), for example because its id is registered
    already.
    """


class TooLargeError(RefusedError):
    """A request whose body is larger than the daemon's limit (413)."""


class TooManyRequestsError(RefusedError):
    """More requests than the daemon's rate limit (429). ``retry_after_s``: seconds until the next attempt, or None if
    unknown.
    """

    retry_after_s: float | None = None


class UnavailableError(RefusedError):
    """A request to a daemon that is not ready, or whose Kafka does not answer (503). ``retry_after_s``: as in
    TooManyRequestsError.
    """

    retry_after_s: float | None = None


BY_STATUS = MappingProxyType(
    {
        401: UnauthorizedError,
        403: NotAllowedError,
        404: NotFoundError,
        409: ConflictError,
        412: ConflictError,
        413: TooLargeError,
        429: TooManyRequestsError,
        503: UnavailableError,
    }
)
