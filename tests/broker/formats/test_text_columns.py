"""Columns of texts as records; that the bytes are those of row by row is tested over whole files."""

from __future__ import annotations

import pyarrow as pa

from broker.formats.text_columns import holds_any, joined, mapped, mapped_unless

TEXTS = pa.array(["a", None, 'b"', "a", ""])


def test_a_text_is_rewritten_once() -> None:
    asked: list[str] = []

    def rewrite(text: str) -> str:
        asked.append(text)
        return text.upper()

    assert mapped(TEXTS, rewrite).to_pylist() == ["A", None, 'B"', "A", ""]
    assert asked == ["a", 'b"', ""]
    plain = pa.array([True, None, False, True, True])
    assert mapped_unless(plain, TEXTS, rewrite).to_pylist() == ["a", None, 'B"', "a", ""]
    assert mapped_unless(pa.array([None] * 5, pa.bool_()), TEXTS, rewrite) is TEXTS


def test_bytes_are_found_in_the_own_part_of_a_buffer() -> None:
    assert holds_any(TEXTS, [ord('"')])
    assert not holds_any(TEXTS, [ord("c")])
    assert not holds_any(TEXTS.slice(3), [ord('"')])
    assert not holds_any(TEXTS.slice(0, 2), [ord('"')])
    assert not holds_any(pa.nulls(2, pa.string()), [ord('"')])


def test_pieces_are_joined_row_by_row() -> None:
    assert joined(["<", TEXTS, ">"], "null").to_pylist() == ["<a>", "<null>", '<b">', "<a>", "<>"]
