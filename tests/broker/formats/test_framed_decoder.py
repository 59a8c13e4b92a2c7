"""What stands before a record names its schema: heads and literals; what decoders do with them is in the tests of the
decoders of Avro and of Protobuf.
"""

from __future__ import annotations

import pytest

from broker.formats.framed_decoder import HEAD_BYTES, head_of, head_sql, literal


@pytest.mark.parametrize("schema_id", [0, 1, 255, 256, (1 << 32) - 1])
def test_a_head_is_a_zero_and_the_id_with_its_highest_byte_first(schema_id: int) -> None:
    head = head_of(schema_id)
    assert len(head) == HEAD_BYTES
    assert head[0] == 0
    assert int.from_bytes(head[1:], "big") == schema_id
    assert bytes.fromhex(head_sql(schema_id)[2:-1]) == head


def test_a_text_is_one_literal_whatever_is_in_it() -> None:
    assert literal("it's a \\ 'text'") == "'it\\'s a \\\\ \\'text\\''"
