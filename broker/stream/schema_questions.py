"""The wait of a batch for the schema registry, before its records are decoded, and the limit of that wait."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from broker.errors import SchemaAnswerError, SchemaRegistryError
from broker.formats.decoder import Decoder, UnfinishedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

LOG = logging.getLogger("asc.job")

BLAMES_MAX = 8
"""The number of consecutive failed questions about one schema after which the stream gives up the schema. This takes
some 40 s.

A failure is counted only if the registry answers another question in the meantime. After the schema is given up,
records that name it are dead letters.
"""

_BACKOFF_S = (0.5, 1, 2, 5, 10)
"""The pauses in seconds between questions to a registry that does not answer."""

_UNANSWERED_S = 600.0
"""The time in seconds after which the registry is asked once more about a schema that was given up."""


class SchemaQuestions:
    """The questions of one stream to its schema registry.

    If the registry answers no question, a batch waits without a time limit, and none of its records is lost. If the
    registry answers other questions but never the question about one schema, the records that name this schema become
    dead letters.
    """

    def __init__(self, stream: str, *, pauses_s: Sequence[float] = _BACKOFF_S) -> None:
        self._stream = stream
        self._pauses_s = pauses_s
        self._blames: Counter[int] = Counter()
        self._unanswered: dict[int, float] = {}
        self.waits_for: str | None = None
        """The cause for which a batch waits, in one line; None if it does not wait."""

    def answered(
        self,
        decoder: Decoder,
        unknown: Callable[[Decoder], Sequence[Row] | None],
        records: DataFrame,
        stopping: threading.Event,
    ) -> Decoder:
        """Return a decoder for records: it has each schema that the records name, or has given the schema up.

        ``unknown`` returns the records' schemas that a decoder lacks. Raise SchemaRegistryError if the stream stops
        during the wait.
        """
        pauses = iter(self._pauses_s)
        decoder = self._asking_again(decoder)
        try:
            while True:
                try:
                    rows = unknown(decoder)
                    informed = decoder if rows is None else decoder.knowing(rows, records)
                except SchemaRegistryError as error:
                    if isinstance(error, UnfinishedError):
                        decoder = error.decoder or decoder
                    if isinstance(error, SchemaAnswerError) and self._gives_up(error):
                        decoder = decoder.without(self._unanswered)
                        continue
                    if self.waits_for is None:
                        LOG.warning("stream '%s' waits, and no record is lost: %s", self._stream, error)
                    self.waits_for = f"waits for the schema registry: {error}"
                    if stopping.wait(next(pauses, self._pauses_s[-1])):
                        raise
                else:
                    # A schema id that was given up once is given up again at the next request without an answer.
                    self._blames = Counter({i: times for i, times in self._blames.items() if times >= BLAMES_MAX})
                    return informed
        finally:
            if self.waits_for is not None and not stopping.is_set():
                LOG.info("stream '%s' goes on: the schema registry answers", self._stream)
            self.waits_for = None

    def _gives_up(self, error: SchemaAnswerError) -> bool:
        """Count the schemas without an answer, and return whether any of them is given up now."""
        self._blames.update(error.schema_ids)
        beyond = [schema_id for schema_id in error.schema_ids if self._blames[schema_id] >= BLAMES_MAX]
        if beyond:
            self._unanswered |= dict.fromkeys(beyond, time.monotonic())
            listed = ", ".join(map(str, beyond[:10]))
            LOG.error("stream '%s': what names schemas %s makes dead letters: %s", self._stream, listed, error)
        return bool(beyond)

    def _asking_again(self, decoder: Decoder) -> Decoder:
        """Return a decoder that asks once more about the schemas that were given up long ago."""
        earliest_s = time.monotonic() - _UNANSWERED_S
        kept = {schema_id: since_s for schema_id, since_s in self._unanswered.items() if since_s > earliest_s}
        if len(kept) == len(self._unanswered):
            return decoder
        self._unanswered = kept
        return decoder.without(kept)
