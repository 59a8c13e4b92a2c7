"""The upkeep of the cubes of a stream: work that is repeated between batches, in parts that can fail independently."""

from __future__ import annotations

import logging
from collections.abc import Callable

from broker.errors import BrokerError

LOG = logging.getLogger("asc.cubes")


class Upkeep:
    """The runner of the parts of one stream's upkeep, which stores the last error of each part.

    A part that fails does not stop the others. The same error of a part is logged only once, until the part succeeds
    again.
    """

    def __init__(self, stream: str) -> None:
        """Set the name of the stream."""
        self._stream = stream
        self._errors: dict[str, str] = {}

    def run(self, effect: str, part: Callable[[], object]) -> None:
        """Run a part. If it raises BrokerError, log ``effect`` and the error, unless it failed with this error before.

        ``effect``: the effect of the failure on the cubes, as the end of a sentence with "the cubes" as subject. The
        text also identifies the part.
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
