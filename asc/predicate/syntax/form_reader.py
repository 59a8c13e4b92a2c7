"""The parser of function calls, of calls with keywords between their arguments, and of lambdas.

A form with keywords, such as ``TRIM(BOTH FROM x)``, that means the same as a plain call is parsed as that call; see
``Node.written``.
"""

from __future__ import annotations

import re
from abc import abstractmethod

import pyarrow as pa

from asc.keys.byte_strings import quoted
from asc.predicate.syntax.literal import Literal
from asc.predicate.syntax.nodes import Node
from asc.predicate.syntax.tokens import END, QUOTED, RAW_STRING, STRING, WORD
from asc.predicate.syntax.type_reader import TypeReader
from asc.spark_types import ddl_of_type, simple_type

_CAST_LIST = "bigint binary boolean date decimal double float int smallint string timestamp tinyint"
CASTS = frozenset(_CAST_LIST.split())
"""The types whose names are also functions that cast to the type."""

_TRIMS = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}
_PART = re.compile(r"`(?:[^`]|``)+`|\w+")
_PATH = re.compile(rf"\s*(?:{_PART.pattern})(?:\s*\.\s*(?:{_PART.pattern}))*\s*")
"""A pattern that matches the path of a column, as in the constant ``'place.city'`` of a call of ``identifier``."""
_UNIT_LIST = "YEAR QUARTER MONTH WEEK DAY DAYOFYEAR HOUR MINUTE SECOND MILLISECOND MICROSECOND"
_UNITS = frozenset(_UNIT_LIST.split())
_ADDS = frozenset(("timestampadd", "dateadd", "date_add"))
_DIFFERENCES = frozenset(("timestampdiff", "datediff", "date_diff", "timediff"))


class FormReader(TypeReader):
    """A parser of function calls and lambdas."""

    @abstractmethod
    def _argument(self) -> Node: ...

    @abstractmethod
    def _value(self, lowest: int) -> Node: ...

    @abstractmethod
    def _one_pattern(self, args: list[Node], word: str, start: int) -> Node: ...

    @abstractmethod
    def _no_subquery(self) -> None: ...

    def _part(self) -> str:
        token = self._token
        if token.kind == QUOTED:
            self._advance()
            return self._text[token.start + 1 : token.end - 1].replace("``", "`")
        if token.kind != WORD:
            self._fail("expected a name; one with other characters than letters, digits and _ needs backquotes")
        self._advance()
        return self._text[token.start : token.end]

    def _call(self) -> Node:
        token = self._token
        name = self._part().lower()
        self._expect("(")
        if self._token.word in ("DISTINCT", "ALL") and self._peek().kind not in (",", ")", "."):
            self._fail("a predicate sees one record at a time", "aggregate is not allowed:")
        special = self._form(name, token.start) if token.kind == WORD else None
        if special is not None:
            return special
        return self._rest_of_call(name, [], token.start)

    def _rest_of_call(self, name: str, args: list[Node], start: int) -> Node:
        """Parse the rest of a call, up to its closing parenthesis.

        ``args`` has the first argument if it has already been parsed; otherwise it is empty.
        """
        if not args and self._token.kind != ")":
            self._no_subquery()
            args.append(self._star() if self._token.kind == "*" else self._argument())
        while self._token.kind == ",":
            self._advance()
            args.append(self._argument())
        self._expect(")")
        if self._token.word in ("OVER", "FILTER", "WITHIN") and self._peek().kind == "(":
            self._fail("a predicate sees one record at a time", "window or aggregate is not allowed:")
        if name in _ADDS | _DIFFERENCES and len(args) == 3:
            return self._of_unit(name, args, start)
        node = self._node("call", tuple(args), start, name)
        if name in ("like", "ilike") and 2 <= len(args) <= 3:
            made = self._one_pattern(args, name.upper(), start)
            return Node(made.op, made.args, start, made.end, written=node)
        if name == "collate":
            if len(args) != 2:
                raise self._source.error_at(node, "call of a function", f"collate takes 2 arguments, not {len(args)}")
            named = args[1].value.value if args[1].op == "literal" else None
            if not isinstance(named, str):
                raise self._source.error_at(args[1], "name of a collation", "write it as a constant: 'UTF8_LCASE'")
            self._check_collation(named, args[1].start, args[1].end)
            return self._node("collate", (args[0],), start, named, written=node)
        if name == "div":
            if len(args) != 2:
                raise self._source.error_at(node, "call of a function", f"div takes 2 arguments, not {len(args)}")
            return self._node("div", tuple(args), start, written=node)
        if name in CASTS and len(args) == 1:
            target = simple_type(name)
            assert target is not None
            return self._node("cast", tuple(args), start, (target, ddl_of_type(target)), written=node)
        return node

    def _star(self) -> Node:
        self._advance()
        return self._node("star", (), self._tokens[self._next - 1].start)

    def _of_unit(self, name: str, args: list[Node], start: int) -> Node:
        """Return the node of the call ``TIMESTAMPADD(unit, count, instant)`` or ``TIMESTAMPDIFF(unit, from, to)``.

        ``name`` is one of these names or a synonym. ``args`` are the three parsed arguments.
        """
        unit = args[0].value[0].upper() if args[0].op == "column" and len(args[0].value) == 1 else ""
        if unit not in _UNITS:
            remedy = "the first argument is a unit without quotes: DAY, HOUR, ..."
            raise self._source.error_at(args[0], f"argument 1 of {name}", remedy)
        canonical = "timestampadd" if name in _ADDS else "timestampdiff"
        written = self._node("form", tuple(args[1:]), start, f"{canonical}({unit}, {{0}}, {{1}})")
        constant = self._constant(unit, args[0])
        return self._node("call", (constant, *args[1:]), start, canonical, written=written)

    def _constant(self, text: str, node: Node) -> Node:
        return Node("literal", (), node.start, node.end, Literal(quoted(text), pa.string(), text))

    # -- forms with words between the arguments; the name and the parenthesis were read

    def _form(self, name: str, start: int) -> Node | None:
        if name == "identifier":
            return self._identifier(start)
        if self._token.kind == ")":
            return self._empty_struct(start) if name == "struct" else None
        if name == "trim":
            return self._trim(start)
        if name in ("substr", "substring"):
            return self._substring(name, start)
        if name == "overlay":
            return self._overlay(start)
        if name == "position":
            return self._position(start)
        if name == "extract":
            return self._extract(start)
        if name == "struct":
            return self._items("struct", start)
        return None

    def _empty_struct(self, start: int) -> Node:
        self._advance()
        return self._node("struct", (), start, ())

    def _identifier(self, start: int) -> Node:
        """Parse ``identifier('place.city')`` as the column of that name."""
        if self._token.kind not in (STRING, RAW_STRING):
            self._fail("identifier takes the name of a column as a constant: identifier('city')", "call of a function")
        literal = self._string()
        self._expect(")")
        if self._token.kind == "(":
            self._fail("identifier names a column here: write the function itself", "call of a function")
        if not _PATH.fullmatch(literal.value.value):
            raise self._source.error_at(literal, "name of a column", "write it as in a predicate: 'city', 'place.city'")
        parts = _PART.findall(literal.value.value)
        path = tuple(part[1:-1].replace("``", "`") if part.startswith("`") else part for part in parts)
        written = self._node("form", (literal,), start, "identifier({0})")
        return self._node("column", (), start, path, written=written)

    def _at_operand(self) -> bool:
        """Return whether the current word is a keyword, as BOTH in ``TRIM(BOTH FROM x)``: the next token can follow a
        keyword. Otherwise the word is the name of a column.
        """
        return self._peek().kind not in (",", ")", ".", "[", END)

    def _trim(self, start: int) -> Node:
        option = self._token.word
        if option in _TRIMS and self._at_operand():
            self._advance()
        else:
            option = ""
        characters = None
        if self._token.word != "FROM" or not self._at_operand():
            characters = self._argument()
            if not option and self._token.word != "FROM":
                return self._rest_of_call("trim", [characters], start)
        self._expect("FROM")
        args = (self._argument(),) if characters is None else (characters, self._argument())
        self._expect(")")
        places = "{0} FROM {1}" if characters is not None else "FROM {0}"
        written = self._node("form", args, start, f"TRIM({option}{' ' if option else ''}{places})")
        return self._node("call", args, start, _TRIMS.get(option, "trim"), written=written)

    def _substring(self, name: str, start: int) -> Node:
        args = [self._argument()]
        if not self._accept("FROM"):
            return self._rest_of_call(name, args, start)
        args.append(self._argument())
        text = "SUBSTRING({0} FROM {1}"
        if self._accept("FOR"):
            args.append(self._argument())
            text += " FOR {2}"
        self._expect(")")
        written = self._node("form", tuple(args), start, f"{text})")
        return self._node("call", tuple(args), start, name, written=written)

    def _overlay(self, start: int) -> Node:
        args = [self._argument()]
        if not self._accept("PLACING"):
            return self._rest_of_call("overlay", args, start)
        args.append(self._argument())
        self._expect("FROM")
        args.append(self._argument())
        text = "OVERLAY({0} PLACING {1} FROM {2}"
        if self._accept("FOR"):
            args.append(self._argument())
            text += " FOR {3}"
        self._expect(")")
        written = self._node("form", tuple(args), start, f"{text})")
        return self._node("call", tuple(args), start, "overlay", written=written)

    def _position(self, start: int) -> Node:
        self._enter()
        sought = self._value(1)
        self._level -= 1
        if not self._accept("IN"):
            return self._rest_of_call("position", [sought], start)
        args = (sought, self._argument())
        self._expect(")")
        written = self._node("form", args, start, "POSITION({0} IN {1})")
        return self._node("call", args, start, "position", written=written)

    def _extract(self, start: int) -> Node | None:
        if self._token.kind not in (WORD, QUOTED) or self._peek().word != "FROM":
            return None
        token = self._token
        field = self._part()
        constant = Node("literal", (), token.start, token.end, Literal(quoted(field), pa.string(), field))
        self._expect("FROM")
        operand = self._argument()
        self._expect(")")
        named = self._text[token.start : token.end].replace("{", "{{").replace("}", "}}")
        written = self._node("form", (operand,), start, f"EXTRACT({named} FROM {{0}})")
        return self._node("call", (constant, operand), start, "extract", written=written)

    def _items(self, op: str, start: int) -> Node:
        """Parse values, each with or without a name, up to the closing parenthesis."""
        items: list[Node] = []
        names: list[str | None] = []
        while True:
            items.append(self._argument())
            names.append(self._part() if self._accept("AS") else None)
            if self._token.kind != ",":
                break
            self._advance()
        self._expect(")")
        return self._node(op, tuple(items), start, tuple(names))

    # -- lambdas

    def _lambda(self) -> Node:
        """Parse ``x -> body`` or ``(x, y) -> body``."""
        start = self._token.start
        several = self._token.kind == "("
        if several:
            self._advance()
        names = [self._part()]
        while several and self._token.kind == ",":
            self._advance()
            names.append(self._part())
        if several:
            self._expect(")")
        self._expect("->")
        return self._node("lambda", (self._argument(),), start, tuple(names))

    def _at_lambda(self) -> bool:
        """Return whether the next tokens are a list of names in parentheses, followed by an arrow."""
        place = self._next + 1
        tokens = self._tokens
        while tokens[place].kind in (WORD, QUOTED):
            if tokens[place + 1].kind == ")":
                return tokens[place + 2].kind == "->"
            if tokens[place + 1].kind != ",":
                return False
            place += 2
        return False
