"""The protocol of the part of an operator kind that all streams share, such as the look-ups of cubes."""

from __future__ import annotations

from typing import Protocol


class DaemonPart(Protocol):
    """A part of an operator kind that all streams share, from the start of the daemon to its end."""

    def load(self) -> None:
        """Read the state of the part at the start of the daemon. Raise BrokerError if the state cannot be read."""

    def keep_up(self) -> None:
        """Follow changes. The daemon calls this once a second, in a thread of the part."""

    def close(self) -> None:
        """Release all connections."""
