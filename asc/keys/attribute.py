"""P-attributes: columns and scalar expressions that conjuncts constrain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from asc.keys.byte_strings import quoted
from asc.keys.constraint import Key
from asc.keys.key_space import KeySpace
from asc.keys.like import Elements, Like, like_accepts, like_text
from asc.keys.positions import BOX_DEGREES, BOX_PLANE, DEGREES, PLANE, numbers_of
from asc.keys.spaces import space_of
from asc.spatial.shape import Asked, asked_text


@dataclass(frozen=True, slots=True)
class PAttribute:
    """A column, or a deterministic scalar expression over columns, that some conjunct constrains (in the paper: a
    p-attribute).

    ``sql`` is the canonical Spark SQL text of the p-attribute, and its identity. ``path`` is the path of the column, or
    None if Spark computes an expression. ``type`` is the Arrow type of the values. It is boolean for a condition that
    Spark computes as a whole. ``error_condition`` is a Spark SQL condition, never NULL, under which the evaluation is
    an error. It is None if no error can occur. With ANSI mode off, a value is NULL if its evaluation is an error.
    ``weight`` is the number of nodes of the expression, the cost of computing it in Spark. ``steps`` is the greatest
    number of steps that Spark may take to match the patterns in the expression, for each character of a string. Both
    numbers are 0 for a column.

    If ``like`` is set, the p-attribute is a boolean. The engine computes it by matching the values of another
    p-attribute, the subject, with a pattern or shape. ``is_matched`` is True for a subject. If predicates also compare
    the same SQL with constants, a plan has a second p-attribute for it. ``written`` is the text of the expression in
    the predicate. ``elements`` is set if the subject is an array that is matched as a text. ``parts`` holds the two
    numbers of a subject that is a position, or the four numbers of a box. Positions and boxes are matched with shapes
    (:mod:`asc.spatial.shape`).
    """

    sql: str
    type: pa.DataType
    path: tuple[str, ...] | None = None
    error_condition: str | None = field(default=None, compare=False)
    weight: int = field(default=0, compare=False)
    steps: int = field(default=0, compare=False)
    like: Like | None = field(default=None, compare=False)
    is_matched: bool = False
    elements: Elements | None = field(default=None, compare=False)
    parts: tuple[PAttribute, ...] = field(default=(), compare=False)
    written: str = field(default="", compare=False)

    @property
    def read(self) -> PAttribute:
        """The p-attribute whose values are read: the subject if this p-attribute is a match, otherwise this
        p-attribute.
        """
        return self if self.like is None else self.like.subject

    @property
    def is_point(self) -> bool:
        """True if the p-attribute is a position of two numbers (a point, not a box)."""
        return len(self.parts) == 2

    @property
    def shown(self) -> str:
        """Return the p-attribute as text for users. An array that is matched as a text is shown as the array."""
        if self.elements is not None:
            return self.elements.array
        return str(self) if self.parts else self.sql

    @property
    def as_written(self) -> str:
        """Return the p-attribute as the user wrote it in the predicate, for error messages. The canonical text in
        ``sql`` may differ.
        """
        return self.written or self.read.written or self.read.shown

    @property
    def part_texts(self) -> tuple[str, ...]:
        """The parts of a position, each cast to a double, as Spark SQL."""
        return tuple(f"CAST(({part.sql}) AS DOUBLE)" for part in self.parts)

    @property
    def is_computed(self) -> bool:
        """True if Spark computes the values, because they are not those of a plain column. For a match, the subject
        counts.
        """
        read = self.read
        return any(part.is_computed for part in read.parts) if read.parts else read.path is None

    @property
    def space(self) -> KeySpace:
        """The key space of the type. Raise TypeError if the type has no key space."""
        space = space_of(self.type)
        if space is None:
            raise TypeError(f"{self.sql} has type {self.type}, which no key represents")
        return space

    def key_of(self, value: pa.Scalar) -> Key | None:
        """Return the key of an Arrow scalar of the p-attribute's type. Return None for NULL.

        >>> PAttribute("city", pa.string()).key_of(pa.scalar("Oslo"))
        b'Oslo'
        """
        return self.space.key_of(value) if value.is_valid else None

    def key_among(self, keys: Mapping[PAttribute, Key | None]) -> Key | None:
        """Return the key of the p-attribute in a tuple. For a match, it is 1 if the subject matches, otherwise 0.
        ``keys``: the tuple's key of each p-attribute whose values are read (:attr:`read`). Return None for NULL.
        """
        if self.like is None:
            return keys[self]
        value = keys[self.like.subject]
        if value is None:
            return None
        if self.like.subject.parts:
            return int(Asked.of(self.like.key).accepts(*numbers_of(value)))
        return int(like_accepts(self.like.key, value))

    def __hash__(self) -> int:
        return hash(self.sql)

    def __str__(self) -> str:
        if self.elements is not None:
            return f"elements of {self.elements.array}"
        if self.parts:
            name = "ST_Point" if len(self.parts) == 2 else "ST_PolygonFromEnvelope"
            return f"{name}({', '.join(part.sql for part in self.parts)})"
        return f"{self.sql} LIKE" if self.is_matched else self.sql

    def text_of(self, key: Key | None) -> str:
        """Return a text such as ``delay = 75``: the p-attribute, and the value with a key. A key of None is NULL."""
        if key is None:
            return f"{self.shown} = NULL"
        return f"{self.shown} = {self.space.text(key) if self.elements is None else self.elements.text(key)}"


def matched(subject: PAttribute, key: bytes) -> PAttribute:
    r"""Return the boolean p-attribute that is TRUE if a subject (a p-attribute with ``is_matched``) matches a pattern
    or a shape. ``key``: the key of the pattern or shape.

    >>> matched(PAttribute("note", pa.string(), ("note",), is_matched=True), b"\xfferror\xff").sql
    "note LIKE '%error%'"
    """
    if subject.parts:
        asked = asked_text(key, str(subject))
    else:
        asked = subject.elements.asks(key) if subject.elements else f"{subject.sql} LIKE {quoted(like_text(key))}"
    return PAttribute(asked, pa.bool_(), like=Like(subject, key))


def position(parts: Sequence[PAttribute], *, is_planar: bool, error_condition: str | None = None) -> PAttribute:
    """Return the p-attribute of a position or of a box. ``parts``: the p-attributes of its coordinates.

    Two parts make a position: x and y, or longitude and latitude in degrees. Four parts are the two corners of a box.
    ``is_planar``: whether the coordinates are in a plane, not in degrees.

    >>> parts = [PAttribute(name, pa.float64(), (name,)) for name in ("lon", "lat")]
    >>> str(position(parts, is_planar=False))
    'ST_Point(lon, lat)'
    """
    kinds = {2: (DEGREES, PLANE), 4: (BOX_DEGREES, BOX_PLANE)}
    kind = kinds[len(parts)][is_planar]
    found = PAttribute("", kind, is_matched=True, parts=tuple(parts), error_condition=error_condition)
    fields = ", ".join(f"'{own.name}', {text}" for own, text in zip(kind, found.part_texts, strict=True))
    weight, steps = (sum(getattr(part, name) for part in parts) for name in ("weight", "steps"))
    return replace(found, sql=f"named_struct({fields})", weight=weight, steps=steps)
