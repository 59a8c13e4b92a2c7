"""What the API answers with where an error is raised, for every class of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from asc.errors import (
    AscError,
    FeedFormError,
    OperatorError,
    PlanError,
    PredicateError,
    SchemaError,
    ShapeError,
)
from asc.spark_types import PlainTextError
from broker.errors import (
    BrokerError,
    BulkRefusedError,
    CancelledError,
    CheckpointTakenError,
    ConfigError,
    ConfigFaultsError,
    CubeStoreError,
    DamagedFormerCellsError,
    DamagedPieceError,
    FoldError,
    ForbiddenBulkError,
    ForbiddenError,
    InputError,
    KafkaError,
    MatchError,
    MissingStreamError,
    MissingTopicError,
    NotThereError,
    QueryError,
    RegistryError,
    RegistryTakenError,
    RuntimeMissingError,
    SchemaAccessError,
    SchemaAnswerError,
    SchemaRegistryError,
    SlowAnswerError,
    StandingQueryError,
    TooLargeLoadError,
    TooLargeWindowError,
    TooManyConnectionsError,
    TooManyDumpsError,
    TooManyQuestionsError,
    TopicError,
    UnknownOperatorError,
    UnknownQueryError,
    http_status,
)
from broker.formats.decoder import UnfinishedError
from broker.stream.diagnosis.poison_search import DiagnosisError
from monitor.errors import MonitorError

STATUSES: dict[type[AscError], int] = {
    AscError: 500,
    FeedFormError: 500,
    MonitorError: 500,
    PredicateError: 400,
    SchemaError: 400,
    PlainTextError: 400,
    ShapeError: 400,
    PlanError: 400,
    OperatorError: 400,
    BrokerError: 503,
    SchemaRegistryError: 503,
    SchemaAccessError: 503,
    SchemaAnswerError: 503,
    UnfinishedError: 503,
    CheckpointTakenError: 503,
    ConfigError: 503,
    ConfigFaultsError: 503,
    RuntimeMissingError: 503,
    KafkaError: 503,
    RegistryError: 503,
    RegistryTakenError: 503,
    TopicError: 503,
    TooLargeWindowError: 503,
    MissingTopicError: 400,
    DiagnosisError: 503,
    CancelledError: 503,
    InputError: 400,
    MatchError: 400,
    QueryError: 400,
    MissingStreamError: 400,
    TooLargeLoadError: 413,
    BulkRefusedError: 400,
    ForbiddenBulkError: 403,
    ForbiddenError: 403,
    TooManyConnectionsError: 429,
    CubeStoreError: 503,
    FoldError: 503,
    DamagedFormerCellsError: 503,
    DamagedPieceError: 503,
    TooManyDumpsError: 429,
    TooManyQuestionsError: 429,
    SlowAnswerError: 503,
    StandingQueryError: 412,
    UnknownOperatorError: 400,
    UnknownQueryError: 404,
    NotThereError: 404,
}


def classes(root: type[AscError]) -> Iterator[type[AscError]]:
    yield root
    for inheriting in root.__subclasses__():
        # What the client raises is raised in other processes than the API's.
        is_client_s = inheriting.__module__.startswith("broker.client.")
        if inheriting.__module__.partition(".")[0] in ("asc", "monitor", "broker") and not is_client_s:
            yield from classes(inheriting)


@pytest.mark.parametrize("kind", list(classes(AscError)), ids=lambda kind: kind.__name__)
def test_every_error_has_its_status(kind: type[AscError]) -> None:
    has_more = issubclass(kind, (BulkRefusedError, ConfigFaultsError))
    error = kind("subject", "value", "remedy", *([[]] if has_more else []))
    # The errors of the kinds of operators are no list of their own.
    assert http_status(error) == STATUSES[OperatorError if issubclass(kind, OperatorError) else kind]
    assert str(error) == "subject 'value': remedy"


def test_the_error_of_a_further_kind_of_operator_is_the_caller_s() -> None:
    class EchoError(OperatorError):
        """A refused echo."""

    assert http_status(EchoError("echo", "value", "remedy")) == 400


def test_a_refused_load_has_the_errors_of_its_lines() -> None:
    errors = [{"line": 3, "id": None, "error": {"message": "line '{': is not JSON"}}]
    assert BulkRefusedError("refused lines", "1 of 2", "nothing was registered", errors).errors == errors
