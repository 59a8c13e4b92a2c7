"""The parser of predicates: from tokens to a syntax tree, by the rules of Spark's grammar for expressions.

Only the tokenizer of sqlglot is used, not its parser. That parser accepts more than Spark does, and groups some
expressions differently (``a = b IS NULL``, ``a BETWEEN 1 AND 2 = c``, ``a || b + c``, ``a & b = c``). It keeps no
positions, and it replaces functions by others (``year(ts)`` becomes a cast and a call).

A predicate must accept the records that Spark's filter accepts. So the grouping here follows the rules
booleanExpression, predicate, valueExpression and primaryExpression of SqlBaseParser.g4.
"""

from __future__ import annotations

import pyarrow as pa

from asc.errors import PredicateError
from asc.keys.byte_strings import quoted
from asc.predicate.limits import Limits
from asc.predicate.syntax.form_reader import FormReader
from asc.predicate.syntax.literal import Literal
from asc.predicate.syntax.nodes import Node, Source, shortened
from asc.predicate.syntax.reader import SYNTAX_REMEDY
from asc.predicate.syntax.tokens import END, HEX, NUMBER, QUOTED, RAW_STRING, STRING, WORD

_BINARY: dict[str, int] = {
    **dict.fromkeys(("=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>", "!<", "!>"), 1),
    "|": 2,
    "^": 3,
    "&": 4,
    **dict.fromkeys(("<<", ">>", ">>>"), 5),
    **dict.fromkeys(("+", "-", "||"), 6),
    **dict.fromkeys(("*", "/", "%", "DIV"), 7),
}
_SHIFTS = {"<<": "shiftleft", ">>": "shiftright", ">>>": "shiftrightunsigned"}
_COMPARISONS = {
    **{operator: operator for operator in ("=", "<", "<=", ">", ">=", "<=>")},
    **{"==": "=", "!<": ">=", "!>": "<="},
}
_TESTS = frozenset(("BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP"))
_BETWEEN_LIST = "AND OR NOT IS DIV AS THEN WHEN ELSE END FROM FOR ESCAPE PLACING TO"
_BETWEEN_VALUES = _TESTS | frozenset(_BETWEEN_LIST.split())
"""The words that occur between values or after a value.

At the beginning of a value such a word is a column name, unless it has another meaning there.
"""
_QUERIES = frozenset(("SELECT", "WITH", "FROM", "VALUES", "TABLE"))
_VALUES = frozenset((WORD, QUOTED, NUMBER, STRING, RAW_STRING, HEX))


def parse(text: str, limits: Limits, time_zone: str) -> tuple[Node, Source]:
    """Return the syntax tree of a predicate, and its source.

    Raise PredicateError, with the position, if the text is no predicate or exceeds the limits.
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


class _Parser(FormReader):
    """A recursive-descent parser with one method for each rule of the grammar."""

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
        column = token.word == "NOT" and self._peek().kind in ("=", "==", "<", ">", "<=", ">=", "<>", "!=", "<=>", ".")
        if column or (token.word != "NOT" and token.kind != "!"):
            return self._test()
        self._enter()
        self._advance()
        node = self._node("not", (self._not(),), token.start)
        self._level -= 1
        return node

    def _test(self) -> Node:
        """Parse ``valueExpression predicate?`` of Spark's grammar."""
        start = self._token.start
        subject = self._value(1)
        token = self._token
        word = token.word
        if word == "IS":
            return self._is(subject, start)
        negated = word == "NOT"
        if negated:
            word = self._peek().word
        if word not in _TESTS:
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
        elif word in ("LIKE", "ILIKE"):
            if self._token.word in ("ANY", "SOME", "ALL") and self._peek().kind == "(":
                return self._like_several(subject, word, negated, start)
            node = self._like(subject, word, start)
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
            if negated and value == "NULL":
                written = self._node("is_not", (subject,), start, word)
                return self._node("not", (node,), start, written=written)
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

    def _like(self, subject: Node, word: str, start: int) -> Node:
        args = [subject, self._value(1)]
        if self._accept("ESCAPE"):
            if self._token.kind not in (STRING, RAW_STRING):
                self._fail("ESCAPE takes one character in quotes")
            args.append(self._string())
        return self._one_pattern(args, word, start)

    def _one_pattern(self, args: list[Node], word: str, start: int) -> Node:
        """Return the node of a LIKE or ILIKE with one pattern, from the parsed operands ``args``. ``x ILIKE 'A'``
        becomes the LIKE of both operands in lower case.
        """
        if word == "LIKE":
            return self._node("like", tuple(args), start)
        written = self._node("ilike", tuple(args), start)
        subject, pattern, *escape = args
        lower = self._node("call", (subject,), start, "lower")
        return self._node("like", (lower, self._in_lower_case(pattern), *escape), start, written=written)

    def _in_lower_case(self, pattern: Node) -> Node:
        literal = pattern.value
        if pattern.op != "literal" or not isinstance(literal.value, str | None):
            return Node("call", (pattern,), pattern.start, pattern.end, "lower")
        if literal.value is None:
            return pattern
        text = literal.value.lower()
        if not literal.value.isascii() and any(_uncertain(character) for character in literal.value):
            remedy = "its letters have no single lower case: write lower(text) LIKE 'pattern in lower case'"
            raise self._source.error_at(pattern, "pattern of ILIKE", remedy)
        return Node("literal", (), pattern.start, pattern.end, Literal(quoted(text), pa.string(), text))

    def _like_several(self, subject: Node, word: str, negated: bool, start: int) -> Node:
        """Parse ``x LIKE ANY (...)`` as an OR of LIKEs, and ``x LIKE ALL (...)`` as an AND.

        A NOT applies to each LIKE.
        """
        every = self._advance().word == "ALL"
        self._expect("(")
        patterns = [self._argument()]
        while self._token.kind == ",":
            self._advance()
            patterns.append(self._argument())
        self._expect(")")
        terms = [self._one_pattern([subject, pattern], word, start) for pattern in patterns]
        if negated:
            terms = [self._node("not", (term,), start) for term in terms]
        op = f"{word.lower()}_{'all' if every else 'any'}"
        written = self._node(op, (subject, *patterns), start, negated)
        if len(terms) == 1:
            term = terms[0]
            return Node(term.op, term.args, start, written.end, term.value, written=written)
        return self._node("and" if every else "or", tuple(terms), start, written=written)

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
                written = self._node(operator, (left, right), start)
                left = self._node("call", (left, right), start, _SHIFTS[operator], written=written)
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
            elif kind == "." and self._peek().kind == "*" and node.op == "column":
                self._advance()
                self._advance()
                return self._node("star", (), start, node.value)
            elif kind == ".":
                self._advance()
                part = self._part()
                if node.op == "column" and node.written is None:
                    node = self._node("column", (), start, (*node.value, part))
                else:
                    node = self._node("field", (node,), start, part)
            elif kind == "::":
                self._advance()
                node = self._node("cast", (node,), start, self._type())
            elif self._token.word == "COLLATE":
                self._advance()
                node = self._node("collate", (node,), start, self._collation())
            else:
                return node

    def _argument(self, closing: str = "") -> Node:
        """Parse an expression inside brackets, which is one nesting level deeper.

        ``closing``: the bracket that must follow the expression and is parsed with it; empty if none is parsed.
        """
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
        kind, following = token.kind, self._peek()
        if kind == WORD:
            found = self._worded(token.word, following.kind)
            if found is not None:
                return found
        if kind in (WORD, QUOTED):
            if following.kind == "->":
                return self._lambda()
            if following.kind == "(":
                return self._call()
            return self._node("column", (), token.start, (self._part(),))
        if kind in (NUMBER, "-"):
            return self._number()
        if kind in (STRING, RAW_STRING):
            return self._string()
        if kind == "(":
            return self._lambda() if self._at_lambda() else self._parenthesis()
        if kind == HEX:
            return self._hex()
        if kind == "*":
            self._fail("name the columns", "* is not allowed in a predicate:")
        return self._fail(SYNTAX_REMEDY)

    def _worded(self, word: str, following: str) -> Node | None:
        """Parse the expression that a keyword introduces at the beginning of a value.

        Return None if the word is the name of a column or function instead.
        """
        if word in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ") and following in (STRING, RAW_STRING):
            return self._instant(word)
        if word in ("NULL", "TRUE", "FALSE"):
            start = self._advance().start
            values = {"NULL": (pa.null(), None), "TRUE": (pa.bool_(), True), "FALSE": (pa.bool_(), False)}
            return self._node("literal", (), start, Literal(word, *values[word]))
        if word == "CASE" and self._at_case(following):
            return self._case()
        if word in ("CAST", "TRY_CAST") and following == "(":
            return self._cast(word.lower())
        if word == "INTERVAL" and self._at_interval():
            return self._interval()
        if word in _QUERIES and (following in _VALUES or (word == "SELECT" and following == "*")):
            self._refuse_query(following)
        if word in _BETWEEN_VALUES and following in _VALUES and self._peek().word not in _BETWEEN_VALUES:
            self._fail(f"{SYNTAX_REMEDY}; a column of that name needs backquotes")
        return None

    def _at_case(self, following: str) -> bool:
        word = self._peek().word
        return (
            following in ("(", "-", "+", "~", "!")
            or word in ("WHEN", "NOT")
            or (following in _VALUES and word not in _BETWEEN_VALUES)
        )

    def _parenthesis(self) -> Node:
        start = self._advance().start
        self._no_subquery()
        inner = self._argument()
        if self._token.kind == "," or self._token.word == "AS":
            return self._row(inner, start)
        self._expect(")")
        return inner

    def _row(self, first: Node, start: int) -> Node:
        name = self._part() if self._accept("AS") else None
        self._expect(",")
        others = self._items("row", start)
        return self._node("row", (first, *others.args), start, (name, *others.value))

    def _no_subquery(self) -> None:
        if self._token.word in _QUERIES:
            self._refuse_query(self._peek().kind)

    def _refuse_query(self, following: str) -> None:
        if self._peek().word not in _BETWEEN_VALUES and following in (*_VALUES, "(", "*"):
            self._fail("a predicate sees one record at a time", "subquery is not allowed:")

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


def _uncertain(character: str) -> bool:
    """Return whether the lower case of a character in Java may differ from that in Python, or depend on adjacent
    characters.
    """
    return len(character.lower()) != 1 or character == "\u03a3"
