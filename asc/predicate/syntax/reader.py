"""Reading of tokens: the base of the parser. It has errors that point at a token, and a limit on the nesting depth."""

from __future__ import annotations

from typing import NoReturn

from asc.predicate.limits import Limits
from asc.predicate.syntax.nodes import Node, Source, shortened
from asc.predicate.syntax.tokens import END, Token, tokens_of

SYNTAX_REMEDY = "write a Spark SQL boolean expression, as after WHERE"


class TokenReader:
    """The tokens of a text and the current position among them.

    Invariant: every nesting level of the text is counted before the parser enters it. The depth of every node is
    checked when the node is created. So neither parsing the text nor walking the tree can exhaust the stack.
    """

    def __init__(self, source: Source, limits: Limits) -> None:
        self._source = source
        self._text = source.text
        self._limit = limits.nesting_depth
        self._tokens = tokens_of(source)
        self._next = 0
        self._token = self._tokens[0]
        self._level = 0

    def _advance(self) -> Token:
        token = self._token
        self._next += 1
        self._token = self._tokens[self._next]
        return token

    def _peek(self) -> Token:
        return self._tokens[self._next + 1]

    def _accept(self, word: str) -> bool:
        if self._token.word == word:
            self._advance()
            return True
        return False

    def _expect(self, kind: str) -> Token:
        if kind not in (self._token.kind, self._token.word):
            self._fail(f"expected {kind}; {SYNTAX_REMEDY}")
        return self._advance()

    def _fail(self, remedy: str, subject: str = "syntax error at") -> NoReturn:
        token = self._token
        shown = "the end" if token.kind == END else shortened(self._text[token.start : token.end])
        raise self._source.error(subject, shown, remedy, token.start, max(token.end, token.start + 1))

    def _node(
        self, op: str, args: tuple[Node, ...], start: int, value: object = None, *, written: Node | None = None
    ) -> Node:
        node = Node(op, args, start, self._tokens[self._next - 1].end, value, written=written)
        if node.depth > self._limit:
            self._too_deep(start)
        return node

    def _too_deep(self, start: int) -> NoReturn:
        remedy = f"at most {self._limit} levels; AND and OR chains need no parentheses"
        raise self._source.error("nested too deeply", shortened(self._text[start:]), remedy, start, start + 1)

    def _enter(self) -> None:
        self._level += 1
        if self._level > self._limit:
            self._too_deep(self._token.start)
