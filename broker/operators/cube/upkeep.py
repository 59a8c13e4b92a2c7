"""The upkeep of the cubes of a stream: work that is repeated beside batches, and whose parts fail one by one."""

from __future__ import annotations

import logging
from collections.abc import Callable

from broker.errors import BrokerError

LOG = logging.getLogger("asc.cubes")


class Upkeep:
    """The parts of the upkeep of one stream, and the error with which each one failed last.

    A part that fails does not stop the others. The log has one line for an error, however often it is repeated.
    """

    def __init__(self, stream: str) -> None:
        """Set the name of the stream."""
        self._stream = stream
        self._errors: dict[str, str] = {}

    def run(self, effect: str, part: Callable[[], object]) -> None:
        """Run a part. If it raises BrokerError, log ``effect`` and the error, unless it failed with this error before.

        ``effect``: what is not as it should be while the part fails, said of the cubes of the stream. It identifies the
        part.
        """
        try:
            part()
        except BrokerError as error:
            text = str(error)
            if self._errors.get(effect) != text:
                LOG.warning("the cubes of stream '%s' %s: %s", self._stream, effect, text)
            self._errors[effect] = text
        else:
            self._errors.pop(effect, None)
