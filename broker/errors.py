"""The exceptions of the broker. Each has one line of subject, value and remedy, and an HTTP status."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, ClassVar

from asc.errors import AscError, OperatorError, PlanError, PredicateError, SchemaError, ShapeError


class BrokerError(AscError):
    """An error that the user of the broker can fix. ``http_status``: the status of the API's answer when the error is
    raised.
    """

    http_status: ClassVar[HTTPStatus] = HTTPStatus.SERVICE_UNAVAILABLE


class ConfigError(BrokerError):
    """An error: a configuration is invalid. The error has the path of the key and the fault."""


class ConfigFaultsError(ConfigError):
    """An error: a configuration has several faults. The text has the first fault and the number of the further faults.
    ``faults``: all faults, each as an error of one line.
    """

    def __init__(self, subject: str, value: object, remedy: str, faults: Sequence[AscError]) -> None:
        super().__init__(subject, value, remedy)
        self.faults = tuple(faults)

    def __str__(self) -> str:
        more = len(self.faults) - 1
        suffix = f" (and {more} more: 'asc config --config FILE' names them)" if more > 0 else ""
        return f"{super().__str__()}{suffix}"


class TooManyConnectionsError(BrokerError):
    """An error: a host already has the largest number of connections to the API that one host may have."""

    http_status = HTTPStatus.TOO_MANY_REQUESTS


class CheckpointTakenError(BrokerError):
    """An error: another running daemon uses the checkpoint folder."""


class RuntimeMissingError(BrokerError):
    """An error: Java, a jar or a process that the broker needs is missing or does not start."""


class KafkaError(BrokerError):
    """An error: a Kafka broker does not start, does not answer, or refuses a request. Invalid arguments of
    ``broker.consume`` raise this error too.
    """


class TopicError(KafkaError):
    """An error: Kafka refuses a request because of one topic. Other topics may work."""


class MissingTopicError(TopicError):
    """An error: a topic is missing, and the broker may not create it."""

    http_status = HTTPStatus.BAD_REQUEST


class RegistryError(KafkaError):
    """An error: the registry cannot be read or written."""


class RegistryTakenError(RegistryError):
    """An error: another daemon has become the writer of the registry. This daemon can never write to it again."""


class SchemaRegistryError(BrokerError):
    """An error: a schema registry does not answer, or refuses requests. So nothing is known about any schema."""


class SchemaAccessError(SchemaRegistryError):
    """An error: a schema registry denies the broker access to a requested resource."""


class FoldError(BrokerError):
    """An error: states of a batch were lost or could not be committed. The batch is not the cause of the error, and
    runs again.
    """


class CancelledError(BrokerError):
    """An error: the work of a request was cancelled, because the caller disconnected or the daemon stops."""


class SchemaAnswerError(SchemaRegistryError):
    """An error: a schema registry gives no answer for some schemas, although it answers other requests. ``schema_ids``:
    the ids of these schemas.
    """

    def __init__(self, subject: str, value: object, remedy: str, schema_ids: Sequence[int] = ()) -> None:
        super().__init__(subject, value, remedy)
        self.schema_ids = tuple(schema_ids)


class InputError(BrokerError):
    """An error: a file of rows, of queries or of a plan cannot be used, or an option for reading such a file is
    invalid.
    """

    http_status = HTTPStatus.BAD_REQUEST


class MatchError(BrokerError):
    """An error: a set of queries cannot be matched with a DataFrame, or cannot be registered as a SQL function."""

    http_status = HTTPStatus.BAD_REQUEST


class TooLargeWindowError(TopicError):
    """An error: a row of a cube's window is too large for the destination topic. This cube is parked; other cubes
    continue.
    """


class QueryError(BrokerError):
    """An error: a query is refused for a reason other than its predicate."""

    http_status: ClassVar[HTTPStatus] = HTTPStatus.BAD_REQUEST


class MissingStreamError(QueryError):
    """An error: a request names no stream, but has to name one of ``streams``."""

    def __init__(self, subject: str, value: object, remedy: str, streams: Sequence[str] = ()) -> None:
        super().__init__(subject, value, remedy)
        self.streams = tuple(streams)


class BulkRefusedError(QueryError):
    """An error: a bulk load is refused, and none of its queries was registered. ``errors``: the line, id and error of
    each refused line.
    """

    def __init__(self, subject: str, value: object, remedy: str, errors: Sequence[dict[str, Any]]) -> None:
        super().__init__(subject, value, remedy)
        self.errors = errors


class TooLargeLoadError(QueryError):
    """An error: a bulk load that is sent in parts exceeds the size limit of unfinished loads."""

    http_status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class ForbiddenBulkError(BulkRefusedError):
    """An error: a bulk load is refused, because the request's token may not register one of its lines. None of its
    queries was registered.
    """

    http_status = HTTPStatus.FORBIDDEN


class ForbiddenError(BrokerError):
    """An error: the token of a request does not permit the requested action."""

    http_status = HTTPStatus.FORBIDDEN


class StandingQueryError(QueryError):
    """An error: a query with this id is registered already, and the request may not replace the registered query."""

    http_status: ClassVar[HTTPStatus] = HTTPStatus.PRECONDITION_FAILED


class UnknownOperatorError(QueryError):
    """An error: a query names no operator, or an operator that this version does not have."""


class UnknownQueryError(BrokerError):
    """An error: no registered query has the requested id."""

    http_status = HTTPStatus.NOT_FOUND


class CubeStoreError(BrokerError):
    """An error: the file of a stream's cubes cannot be read or written, or is damaged."""


class DamagedPieceError(CubeStoreError):
    """An error: the stored content of a piece of a cube differs from the written content. ``number``: the number of the
    piece.
    """

    def __init__(self, subject: str, value: object, remedy: str, *, number: int = 0) -> None:
        super().__init__(subject, value, remedy)
        self.number = number


class DamagedFormerCellsError(CubeStoreError):
    """An error: stored former cells of windows differ from the written cells. ``number``: the number of the change that
    replaced the former cells.
    """

    def __init__(self, subject: str, value: object, remedy: str, *, number: int = 0) -> None:
        super().__init__(subject, value, remedy)
        self.number = number


class TooManyQuestionsError(BrokerError):
    """An error: a query of a cube is refused, because as many cube queries as permitted are running already."""

    http_status = HTTPStatus.TOO_MANY_REQUESTS


class TooManyDumpsError(BrokerError):
    """An error: a copy of a stream's cubes is refused, because another copy is being written or read."""

    http_status = HTTPStatus.TOO_MANY_REQUESTS


class SlowAnswerError(BrokerError):
    """An error: a query of a cube takes longer than the time limit."""


class NotThereError(BrokerError):
    """An error: a requested object does not exist, for example a record, a block or a shape."""

    http_status = HTTPStatus.NOT_FOUND


def http_status(error: AscError) -> HTTPStatus:
    """Return the HTTP status of the API's answer when an error of the broker or the engine is raised.

    >>> int(http_status(UnknownQueryError("unknown query", "late", "register it first")))
    404
    """
    if isinstance(error, BrokerError):
        return error.http_status
    refused = isinstance(error, (PredicateError, SchemaError, ShapeError, PlanError, OperatorError))
    return HTTPStatus.BAD_REQUEST if refused else HTTPStatus.INTERNAL_SERVER_ERROR
