"""The base class of fuzzing targets whose inputs are batches that a Spark session decodes, and the check of the reasons
of dead letters.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Collection, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tools.fuzz.target import Target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from typing_extensions import Self

_HEAP = ("-Xms1g", "-XX:+AlwaysPreTouch")
"""The JVM options for a heap that has its full size from the start, so that any growth is outside of the heap."""


class SparkTarget(Target):
    """Target whose inputs are batches of several kinds, which a Spark session decodes.

    ``kinds``: the names of the kinds. A batch of each kind is tried at the start, before memory is measured.
    """

    kinds: ClassVar[Collection[str]]
    growth_mb = 256
    is_shrunk = False

    def __init__(self, spark: SparkSession | None = None) -> None:
        """Use a shared session, ``spark``. Without one, start a session, and stop it at the end."""
        self._given_session = spark

    @abstractmethod
    def batch(self, kind: str, rng: random.Random) -> bytes:
        """Return a batch of a kind, as an input."""

    def __enter__(self) -> Self:
        from broker.runtime.spark import spark_session

        self._spark = self._given_session or spark_session(
            app_name="asc-fuzz", master="local[2]", driver_memory="1g", java_options=_HEAP
        )
        for kind in self.kinds:
            # The JVM loads and compiles classes on first use. This time must not count for an input.
            self.check(self.batch(kind, random.Random(kind)))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._given_session is None:
            self._spark.stop()

    def weighed(self) -> list[int]:
        """See :class:`Target`."""
        handle = self._spark._jvm.java.lang.ProcessHandle.current()  # type: ignore[union-attr]
        return [int(handle.pid())]

    def inputs(self) -> SearchStrategy[bytes]:
        """See :class:`Target`."""
        drawn = st.tuples(st.sampled_from(sorted(self.kinds)), st.integers(0, 2**64 - 1))
        return drawn.map(lambda each: self.batch(each[0], random.Random(each[1])))


def reason_fault(error: str | None, number: int, texts: Sequence[str]) -> str | None:
    """Return the fault in a record's error: ``error`` is not one of the reasons ``texts``, or ``number`` is not its
    number. Return None if there is no fault.

    >>> reason_fault("is empty", 2, ["is null", "is empty"]), reason_fault(None, 1, ["is null"])
    (None, 'has the reason None under the number 1')
    """
    if error is not None and error not in texts:
        return f"has the reason {error!r}, which is none of the decoder's"
    if number != (0 if error is None else texts.index(error) + 1):
        return f"has the reason {error!r} under the number {number}"
    return None
