"""Any text is read or refused in one line: some seconds of what ``make fuzz`` does for minutes."""

from __future__ import annotations

import pytest

from asc.errors import AscError
from asc.keys.attribute import PAttribute
from asc.predicate import normalise
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.predicate.normal_form.plain_reader import PlainReader
from tools.fuzz.parser import ParserTarget, check_line, decoded, encoded, outcome
from tools.fuzz.predicate_texts import seeds
from tools.fuzz.target import Violation
from tools.fuzz.trials import generate_round


@pytest.mark.parametrize("seed", range(3))
def test_made_texts_are_read_or_refused(seed: int) -> None:
    with ParserTarget() as target:
        generate_round(target, target.check, inputs=150, seed=seed)


def test_known_predicates_are_read_and_compiled() -> None:
    with ParserTarget() as target:
        for text in seeds():
            target.check(encoded(text))
        read = [text for text in seeds() if isinstance(outcome(text, target._schema), Predicate)]
    assert len(read) > len(seeds()) // 2


def test_bytes_that_are_no_text_are_taken_for_one() -> None:
    assert decoded(encoded("\ud800 > 1")) == "\ud800 > 1"
    assert decoded(b"n > \xff") == "n > \ufffd"


def test_another_reading_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    # In constants near each other the two differ at 7 alone.
    monkeypatch.setattr("asc.predicate.normal_form.plain_reader._point", lambda key: ((key, 1), (key, 1)))
    monkeypatch.setattr(
        "asc.predicate.normal_form.plain_reader.PlainReader._attribute", lambda reader, text, term: _learnt(reader)
    )
    with pytest.raises(Violation, match="the plain reader reads"):
        ParserTarget().check(b"n < 7")


def _learnt(reader: PlainReader) -> PAttribute:
    ((attribute, _),) = normalise("n < 5", reader._schema).conjuncts[0]
    return attribute


def test_an_exception_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.fuzz.parser.normalise", lambda text, schema: {}[text])
    with pytest.raises(KeyError):
        ParserTarget().check(b"n < 7")


def test_a_refusal_of_two_lines_is_seen() -> None:
    with pytest.raises(Violation, match="refused with 2 lines"):
        check_line(AscError("text", 5, "write\none"))
