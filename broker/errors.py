"""The exceptions of the broker. Each has one line of subject, value and remedy, and an HTTP status."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, ClassVar

from asc.errors import AscError, CubeError, DbscanError, PlanError, PredicateError, SchemaError, ShapeError


class BrokerError(AscError):
    """An error that the user of the broker can fix. ``http_status``: the status of the API's answer when it is
    raised.
    """

    http_status: ClassVar[HTTPStatus] = HTTPStatus.SERVICE_UNAVAILABLE


class ConfigError(BrokerError):
    """An invalid configuration: the path of the key and the fault."""


class ConfigFaultsError(ConfigError):
    """A configuration with several faults: the text of the first, and all of them as ``faults``, each an error of one
    line.
    """

    def __init__(self, subject: str, value: object, remedy: str, faults: Sequence[AscError]) -> None:
        super().__init__(subject, value, remedy)
        self.faults = tuple(faults)

    def __str__(self) -> str:
        more = len(self.faults) - 1
        told = f" (and {more} more: 'asc config --config FILE' names them)" if more > 0 else ""
        return f"{super().__str__()}{told}"


class TooManyConnectionsError(BrokerError):
    """An error: a host already has the largest number of connections to the API that one host may have."""

    http_status = HTTPStatus.TOO_MANY_REQUESTS


class CheckpointTakenError(BrokerError):
    """An error: another running daemon uses the checkpoint folder."""


class RuntimeMissingError(BrokerError):
    """An error: Java, a jar or a process that the broker needs is missing or does not start."""


class KafkaError(BrokerError):
    """A Kafka broker that does not start, does not answer, or refuses."""


class TopicError(KafkaError):
    """A refusal by Kafka that concerns one topic; other topics may work."""


class MissingTopicError(TopicError):
    """An error: a topic is missing, and the broker may not create it."""

    http_status = HTTPStatus.BAD_REQUEST


class RegistryError(KafkaError):
    """An error: the registry cannot be read or written."""


class RegistryTakenError(RegistryError):
    """An error: another daemon has become the writer of the registry. This daemon can never write to it again."""


class SchemaRegistryError(BrokerError):
    """A schema registry that does not answer or refuses, so that nothing is known about any schema."""


class SchemaAccessError(SchemaRegistryError):
    """A schema registry that denies the broker access to what the broker requests."""


class FoldError(BrokerError):
    """States of a batch that were lost or could not be committed. The batch is not the cause, and runs again."""


class CancelledError(BrokerError):
    """Work of a request that was cancelled, because its caller disconnected or the daemon stops."""


class SchemaAnswerError(SchemaRegistryError):
    """Schemas (``schema_ids``) for which a schema registry gives no answer, although it answers other requests."""

    def __init__(self, subject: str, value: object, remedy: str, schema_ids: Sequence[int] = ()) -> None:
        super().__init__(subject, value, remedy)
        self.schema_ids = tuple(schema_ids)


class InputError(BrokerError):
    """A file of rows, of queries or of a plan that cannot be used, or an invalid option for reading one."""

    http_status = HTTPStatus.BAD_REQUEST


class MatchError(BrokerError):
    """A DataFrame and a set of queries that are incompatible."""

    http_status = HTTPStatus.BAD_REQUEST


class TooLargeWindowError(TopicError):
    """A row of a window that is too large for its topic. Its cube is parked; other cubes continue."""


class QueryError(BrokerError):
    """A query that is refused for a reason other than its predicate."""

    http_status: ClassVar[HTTPStatus] = HTTPStatus.BAD_REQUEST


class MissingStreamError(QueryError):
    """A request that names no stream although it has to name one of ``streams``."""

    def __init__(self, subject: str, value: object, remedy: str, streams: Sequence[str] = ()) -> None:
        super().__init__(subject, value, remedy)
        self.streams = tuple(streams)


class BulkRefusedError(QueryError):
    """A bulk load of which nothing was registered. ``errors`` holds the line, id and error of each refused line."""

    def __init__(self, subject: str, value: object, remedy: str, errors: Sequence[dict[str, Any]]) -> None:
        super().__init__(subject, value, remedy)
        self.errors = errors


class TooLargeLoadError(QueryError):
    """A bulk load in parts that exceeds the size limit of unfinished loads."""

    http_status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class ForbiddenBulkError(BulkRefusedError):
    """A bulk load of which nothing was registered, because the request's token may not register one of its lines."""

    http_status = HTTPStatus.FORBIDDEN


class ForbiddenError(BrokerError):
    """An action that the token of a request does not permit."""

    http_status = HTTPStatus.FORBIDDEN


class StandingQueryError(QueryError):
    """An id that is registered already, in a request that may not replace the query."""

    http_status: ClassVar[HTTPStatus] = HTTPStatus.PRECONDITION_FAILED


class UnknownOperatorError(QueryError):
    """An operator that this version does not have."""


class UnknownQueryError(BrokerError):
    """An id that no registered query has."""

    http_status = HTTPStatus.NOT_FOUND


class CubeStoreError(BrokerError):
    """An error: the file of a stream's cubes cannot be read or written, or is damaged."""


class DamagedPieceError(CubeStoreError):
    """A piece of a cube whose content differs from what was written. ``number``: the number of the piece."""

    def __init__(self, subject: str, value: object, remedy: str, *, number: int = 0) -> None:
        super().__init__(subject, value, remedy)
        self.number = number


class DamagedFormerCellsError(CubeStoreError):
    """Former cells of windows whose content differs from what was written. ``number``: the number of their change."""

    def __init__(self, subject: str, value: object, remedy: str, *, number: int = 0) -> None:
        super().__init__(subject, value, remedy)
        self.number = number


class TooManyQuestionsError(BrokerError):
    """A query of a cube that is refused, because the most concurrent ones are running already."""

    http_status = HTTPStatus.TOO_MANY_REQUESTS


class TooManyDumpsError(BrokerError):
    """A copy of a stream's cubes that is refused, because another copy is being written or read."""

    http_status = HTTPStatus.TOO_MANY_REQUESTS


class SlowAnswerError(BrokerError):
    """A query of a cube that takes longer than the time limit."""


class NotThereError(BrokerError):
    """A record or a block that does not exist at the requested position."""

    http_status = HTTPStatus.NOT_FOUND


def http_status(error: AscError) -> HTTPStatus:
    """Return the HTTP status of the API's answer when an error of the broker or the engine is raised.

    >>> int(http_status(UnknownQueryError("unknown query", "late", "register it first")))
    404
    """
    if isinstance(error, BrokerError):
        return error.http_status
    refused = isinstance(error, (PredicateError, SchemaError, ShapeError, PlanError, CubeError, DbscanError))
    return HTTPStatus.BAD_REQUEST if refused else HTTPStatus.INTERNAL_SERVER_ERROR
