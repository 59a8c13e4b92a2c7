"""The wait of a batch for answers of a schema registry before it is decoded, and the bound on it."""

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
"""The questions for one schema that a registry may leave without an answer in a row, while it answers another question:
some 40 s. Then records that name the schema are dead letters, and hold the stream up no longer.
"""

_BACKOFF_S = (0.5, 1, 2, 5, 10)
"""The pauses between two questions to a registry that does not answer."""

_UNANSWERED_S = 600.0
"""The time until a registry is asked again, once, for a schema that it gave no answer for."""


class SchemaQuestions:
    """The questions of one stream to its schema registry.

    Where the registry answers nothing, a batch waits, however long that takes, and none of its records is lost. Where
    it answers other questions and never the one for some schema, the fault is taken for one of the records that name
    it.
    """

    def __init__(self, stream: str, *, pauses_s: Sequence[float] = _BACKOFF_S) -> None:
        self._stream = stream
        self._pauses_s = pauses_s
        self._blames: Counter[int] = Counter()
        self._unanswered: dict[int, float] = {}
        self.waits_for: str | None = None
        """The cause that a batch waits for, in one line; None while it waits for nothing."""

    def answered(
        self,
        decoder: Decoder,
        unknown: Callable[[Decoder], Sequence[Row] | None],
        records: DataFrame,
        stopping: threading.Event,
    ) -> Decoder:
        """Return the decoder that knows the schemas of records, or does without them; ``unknown``: those it lacks.

        SchemaRegistryError where the stream stops before it is answered.
        """
        pauses = iter(self._pauses_s)
        decoder = self._asking_again(decoder)
        try:
            while True:
                try:
                    rows = unknown(decoder)
                    found = decoder if rows is None else decoder.knowing(rows, records)
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
                    # What was given up once is given up at the next question without an answer.
                    self._blames = Counter({i: times for i, times in self._blames.items() if times >= BLAMES_MAX})
                    return found
        finally:
            if self.waits_for is not None and not stopping.is_set():
                LOG.info("stream '%s' goes on: the schema registry answers", self._stream)
            self.waits_for = None

    def _gives_up(self, error: SchemaAnswerError) -> bool:
        """Count the schemas without an answer, and return whether some of them have been without one for too long."""
        self._blames.update(error.schema_ids)
        beyond = [schema_id for schema_id in error.schema_ids if self._blames[schema_id] >= BLAMES_MAX]
        if beyond:
            self._unanswered |= dict.fromkeys(beyond, time.monotonic())
            told = ", ".join(map(str, beyond[:10]))
            LOG.error("stream '%s': what names schemas %s makes dead letters: %s", self._stream, told, error)
        return bool(beyond)

    def _asking_again(self, decoder: Decoder) -> Decoder:
        """Return the decoder that asks once more for schemas that had no answer long ago."""
        begun_s = time.monotonic() - _UNANSWERED_S
        kept = {schema_id: since_s for schema_id, since_s in self._unanswered.items() if since_s > begun_s}
        if len(kept) == len(self._unanswered):
            return decoder
        self._unanswered = kept
        return decoder.without(kept)
