"""The syntax tree of a predicate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from asc.errors import PredicateError

_KEYWORD_LIST = """
AND OR NOT IN IS BETWEEN LIKE ILIKE RLIKE REGEXP CASE WHEN THEN ELSE END NULL TRUE FALSE CAST TRY_CAST SELECT WITH FROM
AS DISTINCT EXISTS INTERVAL ESCAPE DIV COLLATE VALUES TABLE
"""
KEYWORDS = frozenset(_KEYWORD_LIST.split())
"""The words that are keywords at some positions. A column with such a name is in backquotes in SQL for Spark."""

_MORE_THAN_OPERANDS = frozenset(("case_of", "between", "in", "like", "call"))
_OF_SEVERAL = frozenset(("like_any", "like_all", "ilike_any", "ilike_all"))
_NAMING_THE_FIRST_TWICE = frozenset(("nullif", "nullifzero"))
_GUARDED_LIST = """
array_distinct array_except array_intersect array_sort array_union arrays_overlap map_concat map_from_arrays
map_from_entries map_zip_with sequence str_to_map transform_keys
"""
_GUARDED = frozenset(_GUARDED_LIST.split())
_GUARD_WEIGHT = 25

_BOUNDED: Mapping[object, tuple[int, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("trim", "ltrim", "rtrim", "locate", "position", "find_in_set", "space"), (0,)),
        **dict.fromkeys(
            ("btrim", "contains", "instr", "substring_index", "format_number", "repeat", "lpad", "rpad"), (1,)
        ),
        "replace": (1, 2),
        "split_part": (1, 2, 2),
        **dict.fromkeys(("bit_get", "getbit"), (1, 1)),
        "levenshtein": (0, 1),
        **dict.fromkeys(
            ("date_format", "from_unixtime", "to_char", "to_varchar", "to_date", "unix_timestamp", "to_unix_timestamp"),
            (1,),
        ),
        **dict.fromkeys(("to_timestamp", "to_timestamp_ltz", "to_timestamp_ntz", "try_to_timestamp"), (1,)),
    }
)
"""By function: the indices of the arguments that the SQL for Spark repeats, because it tests their length or value.

An index that is listed twice belongs to an argument that is repeated twice. A constant argument is not repeated.
"""


class Node:
    """A node of a syntax tree, with the span of the text from which it was parsed.

    ``op`` is the kind of the node, which determines the meaning of ``args`` and ``value``:

        ==================  =========================================  =================================
        op                  args                                       value
        ==================  =========================================  =================================
        and, or             two or more terms
        not                 one
        = <=> < <= > >=     two (``<>`` is read as NOT ``=``)
        + - * / % div ||    two
        & ^ |               two
        neg, pos, ~         one
        between             subject, low, high
        in                  subject, then the list
        is                  subject                                    NULL, TRUE or FALSE
        is_unknown          subject, a condition                       NULL
        like, rlike         subject, pattern, escape if given
        call                arguments                                  name, lower case
        lambda              body                                       names of its variables
        row                 two or more items
        struct              items                                      their names, None where none is given
        interval                                                       asc.predicate.syntax.interval.Interval
        cast, try_cast      one                                        (Arrow type, its text)
        case                condition, result, ..., else if given
        case_of             subject, value, result, ..., else if given
        index               container, index
        field               struct                                     name
        column                                                         the parts of its name
        literal                                                        asc.predicate.syntax.literal.Literal
        geometry                                                       the shape of a layer's row, or None
        star                                                           the parts of ``p`` in ``p.*``, none of ``*``
        collate             text                                       the name of its collation
        ==================  =========================================  =================================

    Some forms mean the same as another form and are parsed as that form: ILIKE becomes a LIKE of lower-case operands.
    ``written`` is then a node for the form that the user wrote; otherwise it is None. It is only used to write the text
    of the predicate again, because Spark parses the two forms to different trees. The arguments of ``written`` are
    nodes of this tree. Its ``op`` is one of the above or one of the following:

        ==================  =========================================  =================================
        op                  args                                       value
        ==================  =========================================  =================================
        << >> >>>           two
        is_not              subject                                    NULL or UNKNOWN
        ilike               subject, pattern, escape if given
        like_any, like_all  subject, patterns                          whether NOT precedes LIKE
        ilike_any,          subject, patterns                          whether NOT precedes ILIKE
        ilike_all
        form                arguments                                  its text, ``{0}`` for the first one
        ==================  =========================================  =================================

    Invariant: ``depth`` is the depth of the deepest argument plus one. ``weight`` is the number of nodes of the
    expression in the SQL for Spark, which repeats some operands.
    """

    __slots__ = ("args", "depth", "end", "op", "start", "value", "weight", "written")
    depth: int
    weight: int

    def __init__(
        self, op: str, args: tuple[Node, ...], start: int, end: int, value: Any = None, *, written: Node | None = None
    ) -> None:
        self.op = op
        self.args = args
        self.start = start
        self.end = end
        self.value = value
        self.written = written
        depth = weight = 0
        for arg in args:
            depth = max(depth, arg.depth)
            weight += arg.weight
        self.depth = depth + 1
        self.weight = weight + 1
        if op in _MORE_THAN_OPERANDS:
            self.weight += _beyond_operands(op, args, value)
        if written is not None and written.op in _OF_SEVERAL and written.args[0].args:
            # Each pattern repeats the subject, in parentheses that slow down Spark's parser.
            self.weight *= 2


def _beyond_operands(op: str, args: tuple[Node, ...], value: object) -> int:
    """Return the number of nodes that an operation adds to the SQL for Spark, in addition to its own node and its
    operands.

    The SQL for Spark repeats some operands. If such operations are nested, the length of the SQL grows exponentially.
    """
    if op == "case_of":
        return args[0].weight * max(0, (len(args) - 1) // 2 - 1)
    if op == "between" or (op == "call" and value in _NAMING_THE_FIRST_TWICE):
        return args[0].weight if args else 0
    if op == "like":
        return _GUARD_WEIGHT if args[1].op != "literal" else 0
    if op == "in":
        # Spark turns a list of constants into one set, which takes little time.
        return -3 * sum(arg.op == "literal" for arg in args) // 4
    if op == "call" and value in _GUARDED:
        # The SQL contains a lambda in the guard and after it.
        return _GUARD_WEIGHT + 2 * sum(arg.weight for arg in args if arg.op == "lambda")
    if op == "call" and value == "map" and any(arg.op != "literal" for arg in args[::2]):
        return _GUARD_WEIGHT + 2 * len(args)
    if op == "call" and value == "decode" and len(args) > 2:
        return args[0].weight * ((len(args) - 1) // 2 - 1)
    if op == "call" and value in ("right", "regexp_substr"):
        return sum(arg.weight for arg in args)
    if op == "call" and value in _BOUNDED:
        return sum(
            3 + args[place].weight for place in _BOUNDED[value] if place < len(args) and args[place].op != "literal"
        )
    return 0


def nodes_of(tree: Node) -> Iterator[Node]:
    """Yield all nodes of a tree, the root first, without recursion."""
    pending = [tree]
    for node in pending:
        yield node
        pending += node.args


class Source:
    """The text of a predicate, for errors that point into the text.

    It also has the warnings from parsing and typing the text.
    """

    __slots__ = ("text", "warnings")

    def __init__(self, text: str) -> None:
        self.text = text
        self.warnings: dict[str, None] = {}

    def error(self, subject: str, value: object, remedy: str, start: int, end: int) -> PredicateError:
        """Return a PredicateError that points at ``text[start:end]``."""
        return PredicateError(subject, value, remedy, text=self.text, start=start, end=end)

    def written(self, node: Node) -> str:
        """Return the text of a node as the user wrote it, shortened."""
        return shortened(self.text[node.start : node.end])

    def has_null(self, node: Node) -> bool:
        """Return whether the user wrote NULL for a node.

        If not, a NULL node stands for a property of a shape that is NULL; such a property has a type.
        """
        return self.text[node.start : node.end].upper() == "NULL"

    def error_at(self, node: Node, subject: str, remedy: str) -> PredicateError:
        """Return a PredicateError about a node. The value that the error shows is the text of the node."""
        return self.error(subject, self.written(node), remedy, node.start, node.end)


def shortened(text: str, length: int = 60) -> str:
    """Return the text if it is short, otherwise its beginning and an ellipsis."""
    return text if len(text) <= length else text[: length - 3] + "..."
