"""The base classes of the engine's exceptions: each names the subject, the value and the remedy in one line."""

from __future__ import annotations

_WIDE_CHARS = 100
"""The most characters of a line that is shown as a whole. Of a longer line, only the part around the fault is shown."""
_AROUND_CHARS = 30

_VALUE_CHARS = 300
"""The most characters of a value that an error message repeats. The caller, who sent the value, does not need all of
it.
"""

_MESSAGE_CHARS = 500
"""The most characters of an error message."""


class AscError(Exception):
    """An error that the user can correct.

    ``str()`` of the error is one line of at most 500 characters: the subject, the wrong value, and the remedy. The
    value None means that a value is missing, and is not shown. Of a long value only the beginning is shown.

    >>> print(AscError("unknown column", "dely", "did you mean 'delay'?"))
    unknown column 'dely': did you mean 'delay'?
    >>> print(AscError("stream", None, "name one with --stream"))
    stream: name one with --stream
    """

    def __init__(self, subject: str, value: object, remedy: str) -> None:
        super().__init__(subject, value, remedy)
        self.subject = subject
        self.value = value
        self.remedy = remedy

    def __str__(self) -> str:
        shown = "" if self.value is None else f" {self.value!r}"
        text = f"{self.subject}{beginning(shown)}: {self.remedy}"
        return beginning(text.splitlines()[0], _MESSAGE_CHARS)


def beginning(text: str, chars: int = _VALUE_CHARS) -> str:
    """Return a text. If it has more than ``chars`` characters, return its beginning, followed by dots.

    >>> beginning("abcdefgh", 6), beginning("abcdef", 6)
    ('abc...', 'abcdef')
    """
    return text if len(text) <= chars else f"{text[: chars - 3]}..."


class SchemaError(AscError):
    """A schema that cannot be read, or that has a type that the engine cannot represent."""


class ShapeError(AscError):
    """A refused shape, or a refused file of shapes: the fault, its position, and the remedy."""


class PlanError(AscError):
    """A plan that cannot be built or read, or a change that does not fit a plan."""


class PredicateError(AscError):
    """A refused predicate, with the position of the fault in its text.

    >>> error = PredicateError("unknown column", "dely", "did you mean 'delay'?", text="dely > 30", start=0, end=4)
    >>> print(error.caret())
    dely > 30
    ^^^^
    """

    def __init__(
        self,
        subject: str,
        value: object,
        remedy: str,
        *,
        text: str = "",
        start: int | None = None,
        end: int | None = None,
    ) -> None:
        super().__init__(subject, value, remedy)
        self.text = text
        self.start = start
        self.end = end

    def caret(self) -> str:
        """Return the line of the text that has the fault, with carets below it. Return an empty text if the position is
        unknown.

        Of a long line only the part around the fault is returned, with dots at the cuts.
        """
        if self.start is None:
            return ""
        line_start = self.text.rfind("\n", 0, self.start) + 1
        line_end = self.text.find("\n", self.start)
        line = self.text[line_start : line_end if line_end >= 0 else len(self.text)]
        place = self.start - line_start
        width = max(1, min(self.end or self.start + 1, line_start + len(line)) - self.start)
        if len(line) > _WIDE_CHARS:
            first = max(0, min(place - _AROUND_CHARS, len(line) - 2 * _AROUND_CHARS))
            last = min(len(line), max(first, place) + 2 * _AROUND_CHARS - min(place - first, _AROUND_CHARS))
            before, after = "..." * (first > 0), "..." * (last < len(line))
            line = f"{before}{line[first:last]}{after}"
            place += len(before) - first
            width = max(1, min(width, len(line) - len(after) - place))
        return f"{line}\n{' ' * place}{'^' * width}"


class OperatorError(AscError):
    """A refused definition of an operator, or a refused question to the state of an operator. Each kind of operator may
    have a subclass.
    """


class CubeError(OperatorError):
    """A refused definition of a cube, or a refused question to a cube."""


class DbscanError(OperatorError):
    """A refused definition of clusters (groups of points near each other)."""


class FeedFormError(AscError):
    """A message of a feed, or the state of an operator of a feed, that another version of asc-broker wrote in a form
    that this version cannot read.
    """
