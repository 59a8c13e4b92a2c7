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
    """One part of the project under test, with its resources, for the time of a ``with`` block.

    An input is bytes, so that it can be stored in a file and tried again, whatever generated it.
    """

    name: ClassVar[str]

    input_s: ClassVar[float]
    """An input that takes longer is taken for a hang."""

    growth_mb: ClassVar[int]
    """By how much the processes may grow once they are warm."""

    is_shrunk: ClassVar[bool] = True
    """Whether smaller inputs of the same kind are looked for where one fails."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        return None

    def weighed(self) -> list[int]:
        """Return the processes whose memory counts beside the one that makes the inputs."""
        return []

    @abstractmethod
    def inputs(self) -> SearchStrategy[bytes]:
        """Return the strategy that inputs are drawn from; repeatable by Hypothesis' seed."""

    @abstractmethod
    def check(self, given: bytes) -> None:
        """Try one input. Violation where what was promised does not hold; any other exception is one as well."""

    def settle(self) -> None:  # noqa: B027 (most have nothing to do)
        """Put back, between two rounds, what the inputs have changed. Violation where that is not as it should be."""
