"""Fuzzing of the reader of plain conjunctions, which bulk loads use, compared with the parser."""

from __future__ import annotations

import json

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.predicate.normal_form.plain_reader import PlainReader
from asc.schema import Schema
from tools.fuzz.parser import outcome
from tools.fuzz.predicate_texts import DDL, plain_conjunctions, texts
from tools.fuzz.target import Target, Violation


class ReaderTarget(Target):
    """Target whose inputs are loads: JSON arrays of texts. A new reader reads the texts of each load in order, each
    text twice, so that its cache is tested too. A second reader, which is used for all loads, reads each text once.

    Invariant of each text: the reader leaves it to the parser, or gives the parser's result. It never reads a text that
    the parser refuses.
    """

    name = "reader"
    input_s = 10.0
    growth_mb = 64

    def __init__(self) -> None:
        self._schema = Schema.from_ddl(DDL)
        self._lasting = PlainReader(self._schema)
        self.read = 0
        """The number of texts that the reader has read itself; if it is 0, nothing was checked."""

    def inputs(self) -> SearchStrategy[bytes]:
        """See :class:`Target`."""
        some = st.one_of(plain_conjunctions(), plain_conjunctions(), plain_conjunctions(), texts())
        return st.lists(some, min_size=1, max_size=8).map(lambda load: json.dumps(load).encode())

    def check(self, given: bytes) -> None:
        """See :class:`Target`."""
        load: list[str] = json.loads(given)
        fresh = PlainReader(self._schema)
        for text in load:
            expected = outcome(text, self._schema)
            for reader in (fresh, fresh, self._lasting):
                predicate = reader.predicate(text)
                if predicate is None:
                    continue
                self.read += 1
                if predicate != expected or predicate.text != text:
                    raise Violation(f"{text!r} is read as {_shown(predicate)}, by the parser as {_shown(expected)}")
                if not predicate.forms:
                    raise Violation(f"{text!r} is read without its forms")


def _shown(found: object) -> str:
    return str(found.conjuncts) if isinstance(found, Predicate) else str(found)
