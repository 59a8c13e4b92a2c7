"""Tokens -> syntax tree, by the rules of Spark's own grammar for expressions.

sqlglot's parser is not used beyond its tokens: it accepts more than Spark does and groups some of it otherwise
(``a = b IS NULL``, ``a BETWEEN 1 AND 2 = c``, ``a || b + c``, ``a & b = c``), keeps no positions, and replaces
functions by its own (``year(ts)`` becomes a cast and a call). What a predicate accepts has to be what Spark's
filter accepts, so the grouping here is that of SqlBaseParser.g4: booleanExpression, predicate, valueExpression,
primaryExpression.
"""

from __future__ import annotations

import pyarrow as pa

from asc.errors import PredicateError, SchemaError
from asc.predicate.limits import Limits
from asc.predicate.literal import Literal
from asc.predicate.literal_reader import LiteralReader
from asc.predicate.reader import SYNTAX_REMEDY
from asc.predicate.syntax import KEYWORDS, Node, Source, shortened
from asc.predicate.tokens import END, HEX, NUMBER, QUOTED, RAW_STRING, STRING, WORD
from asc.spark_types import ddl_of_type, decimal_type, simple_type

_BINARY: dict[str, int] = {
    **dict.fromkeys(("=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"), 1),
    "|": 2,
    "^": 3,
    "&": 4,
    **dict.fromkeys(("<<", ">>", ">>>"), 5),
    **dict.fromkeys(("+", "-", "||"), 6),
    **dict.fromkeys(("*", "/", "%", "DIV"), 7),
}
_SHIFTS = {"<<": "shiftleft", ">>": "shiftright", ">>>": "shiftrightunsigned"}
_COMPARISONS = {"==": "=", "=": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<=>": "<=>"}


def parse(text: str, limits: Limits, time_zone: str) -> tuple[Node, Source]:
    """The syntax tree of a predicate; PredicateError, with the position, for a text that is none or exceeds the
    limits.
    """
    source = Source(text)
    if len(text) > limits.length_chars:
        remedy = f"a predicate has at most {limits.length_chars} characters, this one {len(text)}"
        raise PredicateError("predicate", shortened(text), remedy)
    if "\0" in text:
        position = text.index("\0")
        raise source.error("NUL byte at position", position, "take it out", position, position + 1)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise source.error("half a surrogate pair at", error.start, "take it out", error.start, error.end) from None
    if not text.strip():
        raise PredicateError("predicate", text, SYNTAX_REMEDY)
    return _Parser(source, limits, time_zone).predicate(), source


class _Parser(LiteralReader):
    """Recursive descent: one method a rule of the grammar."""

    # -- booleanExpression

    def predicate(self) -> Node:
        node = self._or()
        if self._token.kind != END:
            self._fail(SYNTAX_REMEDY)
        return node

    def _or(self) -> Node:
        start = self._token.start
        terms = [self._and()]
        while self._token.word == "OR":
            self._advance()
            terms.append(self._and())
        return terms[0] if len(terms) == 1 else self._node("or", tuple(terms), start)

    def _and(self) -> Node:
        start = self._token.start
        terms = [self._not()]
        while self._token.word == "AND":
            self._advance()
            terms.append(self._not())
        return terms[0] if len(terms) == 1 else self._node("and", tuple(terms), start)

    def _not(self) -> Node:
        token = self._token
        if token.word != "NOT" and token.kind != "!":
            return self._test()
        self._enter()
        self._advance()
        node = self._node("not", (self._not(),), token.start)
        self._level -= 1
        return node

    def _test(self) -> Node:
        """ValueExpression predicate?"""
        start = self._token.start
        subject = self._value(1)
        token = self._token
        if not token.word:
            return subject
        word = token.word
        if word == "IS":
            return self._is(subject, start)
        negated = word == "NOT" or token.kind == "!"
        if negated:
            word = self._peek().word
        if word not in ("BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP"):
            return subject
        if negated:
            self._advance()
        self._advance()
        if word == "BETWEEN":
            low = self._value(1)
            self._expect("AND")
            node = self._node("between", (subject, low, self._value(1)), start)
        elif word == "IN":
            node = self._in(subject, start)
        elif word == "LIKE":
            node = self._like(subject, start)
        elif word == "ILIKE":
            self._next -= 1
            self._token = self._tokens[self._next]
            self._fail("write lower(text) LIKE 'pattern in lower case'", "not supported:")
        else:
            node = self._node("rlike", (subject, self._value(1)), start)
        return self._node("not", (node,), start) if negated else node

    def _is(self, subject: Node, start: int) -> Node:
        self._advance()
        negated = self._accept("NOT")
        word = self._token.word
        if word in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
            self._advance()
            value = "NULL" if word == "UNKNOWN" else word
            op = "is_unknown" if word == "UNKNOWN" else "is"
            node = self._node(op, (subject,), start, value)
        elif word == "DISTINCT":
            self._advance()
            self._expect("FROM")
            node = self._node("<=>", (subject, self._value(1)), start)
            negated = not negated
        else:
            self._fail("after IS comes NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM, with NOT or without")
        return self._node("not", (node,), start) if negated else node

    def _in(self, subject: Node, start: int) -> Node:
        self._expect("(")
        self._no_subquery()
        values = [self._argument()]
        while self._token.kind == ",":
            self._advance()
            values.append(self._argument())
        self._expect(")")
        return self._node("in", (subject, *values), start)

    def _like(self, subject: Node, start: int) -> Node:
        if self._token.word in ("ANY", "SOME", "ALL") and self._peek().kind == "(":
            self._fail("write the patterns as LIKE ... OR LIKE ...", "not supported:")
        args = [subject, self._value(1)]
        if self._accept("ESCAPE"):
            if self._token.kind != STRING:
                self._fail("ESCAPE takes one character in quotes")
            args.append(self._string())
        return self._node("like", tuple(args), start)

    # -- valueExpression

    def _value(self, lowest: int) -> Node:
        start = self._token.start
        left = self._unary()
        while True:
            token = self._token
            operator = token.word or token.kind
            precedence = _BINARY.get(operator)
            if precedence is None or precedence < lowest:
                return left
            self._advance()
            right = self._value(precedence + 1)
            if precedence == 1:
                if operator in ("<>", "!="):
                    left = self._node("not", (self._node("=", (left, right), start),), start, "<>")
                else:
                    left = self._node(_COMPARISONS[operator], (left, right), start)
            elif operator in _SHIFTS:
                left = self._node("call", (left, right), start, _SHIFTS[operator])
            else:
                left = self._node(operator.lower(), (left, right), start)

    def _unary(self) -> Node:
        token = self._token
        if token.kind not in ("-", "+", "~"):
            return self._postfix()
        if token.kind == "-" and self._peek().kind == NUMBER:
            return self._postfix()
        self._enter()
        self._advance()
        operand = self._unary()
        self._level -= 1
        return self._node({"-": "neg", "+": "pos", "~": "~"}[token.kind], (operand,), token.start)

    def _postfix(self) -> Node:
        start = self._token.start
        node = self._primary()
        while True:
            kind = self._token.kind
            if kind == "[":
                self._advance()
                node = self._node("index", (node, self._argument(closing="]")), start)
            elif kind == ".":
                self._advance()
                part = self._part()
                if node.op == "column":
                    node = self._node("column", (), start, (*node.value, part))
                else:
                    node = self._node("field", (node,), start, part)
            elif kind == "::":
                self._advance()
                node = self._node("cast", (node,), start, self._type())
            else:
                return node

    def _argument(self, closing: str = "") -> Node:
        """A whole expression inside brackets, one level deeper."""
        self._enter()
        node = self._or()
        self._level -= 1
        if closing:
            if self._token.kind != closing:
                self._fail(f"expected {closing}; {SYNTAX_REMEDY}")
            self._advance()
        return node

    # -- primaryExpression

    def _primary(self) -> Node:
        token = self._token
        kind, word = token.kind, token.word
        if kind == WORD:
            following = self._peek().kind
            if word in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ") and following in (STRING, RAW_STRING):
                return self._instant(word)
            if word in ("NULL", "TRUE", "FALSE"):
                self._advance()
                values = {"NULL": (pa.null(), None), "TRUE": (pa.bool_(), True), "FALSE": (pa.bool_(), False)}
                return self._node("literal", (), token.start, Literal(word, *values[word]))
            if word == "CASE":
                return self._case()
            if word in ("CAST", "TRY_CAST") and following == "(":
                return self._cast(word.lower())
            if word == "EXISTS" and following == "(":
                self._fail("a predicate sees one record at a time", "subquery or lambda is not allowed:")
            if word == "INTERVAL":
                self._fail("compare with a DATE or TIMESTAMP literal", "intervals are not supported:")
            if word in ("SELECT", "WITH", "FROM", "VALUES") and following != "." and word != "VALUES":
                self._fail("a predicate sees one record at a time", "subquery is not allowed:")
            if following == "(":
                return self._call()
            if word in KEYWORDS:
                self._fail(f"{SYNTAX_REMEDY}; a column of that name needs backquotes")
            return self._node("column", (), token.start, (self._part(),))
        if kind in (NUMBER, "-"):
            return self._number()
        if kind in (STRING, RAW_STRING):
            return self._string()
        if kind == "(":
            self._advance()
            self._no_subquery()
            inner = self._argument()
            if self._token.kind == ",":
                self._fail("compare the values one by one", "rows in parentheses are not supported:")
            self._expect(")")
            return inner
        if kind == QUOTED:
            if self._peek().kind == "(":
                return self._call()
            return self._node("column", (), token.start, (self._part(),))
        if kind == HEX:
            return self._hex()
        if kind == "*":
            self._fail("name the columns", "* is not allowed in a predicate:")
        return self._fail(SYNTAX_REMEDY)

    def _no_subquery(self) -> None:
        if self._token.word in ("SELECT", "WITH", "FROM", "VALUES", "TABLE") and self._peek().kind in (
            WORD,
            QUOTED,
            NUMBER,
            STRING,
            "(",
            "*",
        ):
            self._fail("a predicate sees one record at a time", "subquery is not allowed:")

    def _part(self) -> str:
        token = self._token
        if token.kind == QUOTED:
            self._advance()
            return self._text[token.start + 1 : token.end - 1].replace("``", "`")
        if token.kind != WORD:
            self._fail("expected a name; one with other characters than letters, digits and _ needs backquotes")
        self._advance()
        return self._text[token.start : token.end]

    def _case(self) -> Node:
        start = self._advance().start
        args: list[Node] = []
        op = "case"
        if self._token.word != "WHEN":
            op = "case_of"
            args.append(self._argument())
        if self._token.word != "WHEN":
            self._fail("expected WHEN")
        while self._accept("WHEN"):
            args.append(self._argument())
            self._expect("THEN")
            args.append(self._argument())
        if self._accept("ELSE"):
            args.append(self._argument())
        self._expect("END")
        return self._node(op, tuple(args), start)

    def _cast(self, op: str) -> Node:
        start = self._advance().start
        self._expect("(")
        operand = self._argument()
        self._expect("AS")
        target = self._type()
        self._expect(")")
        return self._node(op, (operand,), start, target)

    def _type(self) -> tuple[pa.DataType, str]:
        token = self._token
        name = self._text[token.start : token.end]
        found = simple_type(name)
        if token.kind != WORD or found is None:
            self._fail("cast to BOOLEAN, a number type, STRING, BINARY, DATE or TIMESTAMP", "cast to unsupported type")
        self._advance()
        if pa.types.is_decimal(found) and self._token.kind == "(":
            self._advance()
            precision, scale = self._small_integer(), 0
            if self._token.kind == ",":
                self._advance()
                scale = self._small_integer()
            self._expect(")")
            try:
                found = decimal_type(precision, scale)
            except SchemaError as error:
                raise self._source.error(error.subject, error.value, error.remedy, token.start, token.end) from None
        return found, ddl_of_type(found)

    def _small_integer(self) -> int:
        token = self._expect(NUMBER)
        text = self._text[token.start : token.end]
        return int(text) if text.isdecimal() and len(text) <= 4 else 99

    def _call(self) -> Node:
        token = self._token
        name = self._part().lower()
        self._expect("(")
        if self._token.word in ("DISTINCT", "ALL") and self._peek().kind not in (",", ")", "."):
            self._fail("a predicate sees one record at a time", "aggregate is not allowed:")
        args: list[Node] = []
        if self._token.kind != ")":
            self._no_subquery()
            if self._token.kind == "*":
                args.append(Node("star", (), self._token.start, self._token.end))
                self._advance()
            else:
                args.append(self._argument())
            while self._token.kind == ",":
                self._advance()
                args.append(self._argument())
        if self._token.kind == "->":
            self._fail("lambda functions are not supported", "lambda")
        self._expect(")")
        if self._token.word in ("OVER", "FILTER", "WITHIN") and self._peek().kind == "(":
            self._fail("a predicate sees one record at a time", "window or aggregate is not allowed:")
        return self._node("call", tuple(args), token.start, name)
