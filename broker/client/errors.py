"""Exceptions of the client: each one line of subject, value and remedy, with the HTTP status where there was one."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from asc.errors import AscError

if TYPE_CHECKING:
    from broker.answers.refusal import RefusedLine


class ClientError(AscError):
    """The root of the client's exceptions. ``status``: the HTTP status of the answer; None where there was none."""

    status: int | None = None


class InvalidRequestError(ClientError):
    """A request that was not sent: its address, token, CA file, id or body is invalid."""


class NoAnswerError(ClientError):
    """No daemon answers at the address; one may in a moment."""


class TimedOutError(NoAnswerError):
    """A daemon that did not answer in time; it may have made the change or not."""


class TlsError(ClientError):
    """An address that speaks no TLS, or a certificate that is not trusted."""


class UnreadableAnswerError(ClientError):
    """An answer that no daemon gives: the address is another server's."""


class RefusedError(ClientError):
    """A request that the daemon refuses, with the text of its answer.

    ``caret_text``: the line of a predicate with the place of the error. ``lines``: for a bulk load an error for each
    refused line. ``streams``: where the stream is missing, those that may be named; otherwise None.
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
    """A bearer token that is missing or wrong (401)."""


class NotAllowedError(RefusedError):
    """Something that the token may not do or see (403)."""


class NotFoundError(RefusedError):
    """A query, record, block or shape that does not exist (404)."""


class ConflictError(RefusedError):
    """A change that does not fit the registered queries (409, 412), as an id that is taken."""


class TooLargeError(RefusedError):
    """A body over the daemon's limit (413)."""


class TooManyRequestsError(RefusedError):
    """Requests over the daemon's rate limit (429). ``retry_after_s``: when to try again, None where it is not known."""

    retry_after_s: float | None = None


class UnavailableError(RefusedError):
    """A daemon that is not ready, or whose Kafka does not answer (503). ``retry_after_s`` as of too many requests."""

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
