"""The reasons why a record cannot be decoded, as dead letters report them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeadLetterReason:
    """The reason in the header ``asc-error`` of a dead letter, as a text and as its two parts: the kind and the
    column.

    >>> DeadLetterReason("value is empty").kind
    'value is empty'
    """

    text: str
    kind: str = ""
    column: str | None = None

    def __post_init__(self) -> None:
        if not self.kind:
            object.__setattr__(self, "kind", self.text)
