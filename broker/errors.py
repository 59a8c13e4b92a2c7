"""Exceptions of the broker: each one line of subject, value and remedy, and what HTTP answers with."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, ClassVar

from asc.errors import AscError, CubeError, DbscanError, PlanError, PredicateError, SchemaError, ShapeError


class BrokerError(AscError):
    """Something the user of the broker can mend. ``http_status``: what the API answers with where it is raised."""

    http_status: ClassVar[HTTPStatus] = HTTPStatus.SERVICE_UNAVAILABLE


class ConfigError(BrokerError):
    """A configuration that cannot be used: what is wrong with it, by the path of its key."""


class ConfigFaultsError(ConfigError):
    """A configuration with several things wrong: the first one, and all as ``faults``, each an error of one line."""

    def __init__(self, subject: str, value: object, remedy: str, faults: Sequence[AscError]) -> None:
        super().__init__(subject, value, remedy)
        self.faults = tuple(faults)

    def __str__(self) -> str:
        more = len(self.faults) - 1
        told = f" (and {more} more: 'asc config --config FILE' names them)" if more > 0 else ""
        return f"{super().__str__()}{told}"


class TooManyConnectionsError(BrokerError):
    """A host that has as many connections to the API as one may have."""

    http_status = HTTPStatus.TOO_MANY_REQUESTS


class CheckpointTakenError(BrokerError):
    """Another running daemon has the checkpoint folder."""


class RuntimeMissingError(BrokerError):
    """Java, a jar or a process the broker runs on is missing or does not start."""


class KafkaError(BrokerError):
    """A Kafka broker that does not start, does not answer, or refuses."""


class TopicError(KafkaError):
    """A refusal of Kafka that concerns one topic: others may be well."""


class MissingTopicError(TopicError):
    """A topic is missing and may not be made."""

    http_status = HTTPStatus.BAD_REQUEST


class RegistryError(KafkaError):
    """The registry cannot be read or written."""


class RegistryTakenError(RegistryError):
    """Another daemon writes the registry now; this one never will again."""


class SchemaRegistryError(BrokerError):
    """A schema registry that does not answer, or refuses: what it knows is not known."""


class SchemaAccessError(SchemaRegistryError):
    """A schema registry that does not let the broker ask what it asks."""


class FoldError(BrokerError):
    """States of a batch that were lost, or could not be committed: the batch is run again, and is not to blame."""


class CancelledError(BrokerError):
    """Work of a request that is not wanted any more: its caller is gone, or the daemon stops."""


class SchemaAnswerError(SchemaRegistryError):
    """Schemas that a schema registry gives no answer for, though it answers another question: ``schema_ids``."""

    def __init__(self, subject: str, value: object, remedy: str, schema_ids: Sequence[int] = ()) -> None:
        super().__init__(subject, value, remedy)
        self.schema_ids = tuple(schema_ids)


class InputError(BrokerError):
    """A file of rows, of queries or of a plan, or an option of its reading, that cannot be used."""

    http_status = HTTPStatus.BAD_REQUEST


class MatchError(BrokerError):
    """A DataFrame and a set of queries that do not go together."""

    http_status = HTTPStatus.BAD_REQUEST


class TooLargeWindowError(TopicError):
    """A row of a window that its topic does not take: its cube is parked, and others go on."""


class QueryError(BrokerError):
    """A query that is refused for something other than its predicate."""

    http_status: ClassVar[HTTPStatus] = HTTPStatus.BAD_REQUEST


class MissingStreamError(QueryError):
    """A stream that a request leaves out where it has to name one of ``streams``."""

    def __init__(self, subject: str, value: object, remedy: str, streams: Sequence[str] = ()) -> None:
        super().__init__(subject, value, remedy)
        self.streams = tuple(streams)


class BulkRefusedError(QueryError):
    """A bulk load of which nothing was registered; ``errors`` holds line, id and error of each refused line."""

    def __init__(self, subject: str, value: object, remedy: str, errors: Sequence[dict[str, Any]]) -> None:
        super().__init__(subject, value, remedy)
        self.errors = errors


class TooLargeLoadError(QueryError):
    """A bulk load in parts that is larger than unfinished loads may be."""

    http_status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class ForbiddenBulkError(BulkRefusedError):
    """A bulk load of which nothing was registered, with a line that the token of the request may not register."""

    http_status = HTTPStatus.FORBIDDEN


class ForbiddenError(BrokerError):
    """Something that the token of a request may not do."""

    http_status = HTTPStatus.FORBIDDEN


class StandingQueryError(QueryError):
    """An id that a registered query has, where none is to be replaced."""

    http_status: ClassVar[HTTPStatus] = HTTPStatus.PRECONDITION_FAILED


class UnknownOperatorError(QueryError):
    """An operator of a kind that this version does not have."""


class UnknownQueryError(BrokerError):
    """An id that no registered query has."""

    http_status = HTTPStatus.NOT_FOUND


class CubeStoreError(BrokerError):
    """The file of a stream's cubes cannot be read or written, or is damaged."""


class DamagedPieceError(CubeStoreError):
    """A piece of a cube that is not what was written. ``number``: that of the piece."""

    def __init__(self, subject: str, value: object, remedy: str, *, number: int = 0) -> None:
        super().__init__(subject, value, remedy)
        self.number = number


class DamagedFormerCellsError(CubeStoreError):
    """Former cells of windows that are not what was written. ``number``: that of their change."""

    def __init__(self, subject: str, value: object, remedy: str, *, number: int = 0) -> None:
        super().__init__(subject, value, remedy)
        self.number = number


class TooManyQuestionsError(BrokerError):
    """A question to a cube while as many are answered as may be at a time."""

    http_status = HTTPStatus.TOO_MANY_REQUESTS


class TooManyDumpsError(BrokerError):
    """A copy of the cubes of a stream while another one is made or read."""

    http_status = HTTPStatus.TOO_MANY_REQUESTS


class SlowAnswerError(BrokerError):
    """A question to a cube whose answer takes longer than one may."""


class NotThereError(BrokerError):
    """Something that is asked for by its place, a record or a block, and is not there."""

    http_status = HTTPStatus.NOT_FOUND


def http_status(error: AscError) -> HTTPStatus:
    """Return the status that the API answers with where an error is raised, the engine's included.

    >>> int(http_status(UnknownQueryError("unknown query", "late", "register it first")))
    404
    """
    if isinstance(error, BrokerError):
        return error.http_status
    refused = isinstance(error, (PredicateError, SchemaError, ShapeError, PlanError, CubeError, DbscanError))
    return HTTPStatus.BAD_REQUEST if refused else HTTPStatus.INTERNAL_SERVER_ERROR
