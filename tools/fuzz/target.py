"""Interface of a fuzzing target: its random inputs, and their invariants."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
    from typing_extensions import Self


class Violation(Exception):
    """An input that violates an invariant; ``str()`` gives the violation in one line.

    ``given``: a smaller input with the same violation, if one is known.
    """

    def __init__(self, what: str, given: bytes | None = None) -> None:
        super().__init__(what)
        self.given = given


class Target(ABC):
    """The part of the project that a fuzzer tests. It has resources, such as a Spark session, only within a ``with``
    block.

    An input is a byte string for all targets, so that a failing input can be stored in a file and tried again.
    """

    name: ClassVar[str]

    input_s: ClassVar[float]
    """The time in seconds after which an input counts as a hang."""

    growth_mb: ClassVar[int]
    """The growth in MB that is permitted for the processes after they are warm."""

    is_shrunk: ClassVar[bool] = True
    """True if a failing input is replaced by smaller inputs of the same kind that also fail."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        return None

    def weighed(self) -> list[int]:
        """Return the ids of the processes whose memory is measured in addition to the process that generates the
        inputs.
        """
        return []

    @abstractmethod
    def inputs(self) -> SearchStrategy[bytes]:
        """Return the strategy from which inputs are drawn; the same seed of Hypothesis gives the same inputs."""

    @abstractmethod
    def check(self, given: bytes) -> None:
        """Try one input. Raise Violation if an invariant does not hold; any other exception counts as a violation as
        well.
        """

    def settle(self) -> None:  # noqa: B027 (most have nothing to do)
        """Undo, between two rounds of inputs, the changes that inputs have made to the tested part. Raise Violation if
        the part is not in its initial state.
        """
