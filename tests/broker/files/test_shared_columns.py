"""What the columns of a file and the fields of a stream share."""

from __future__ import annotations

import pytest

from asc.schema import Schema
from broker.errors import InputError
from broker.files.shared_columns import check_shared, column_warnings

SCHEMA = Schema.from_ddl("n INT, price DECIMAL(10,2), name STRING")


def test_only_what_is_not_shared_is_warned_of() -> None:
    assert list(column_warnings(["N", "PRICE", "Name"], SCHEMA)) == []
    assert list(column_warnings([], SCHEMA)) == []
    unknown, lacking = column_warnings(["NAME", "name", "N", "N_"], SCHEMA)
    assert unknown.endswith("schema lacks: NAME, N_")
    assert lacking.endswith("the file lacks it: price")


def test_a_file_that_shares_nothing_is_refused() -> None:
    check_shared("f", [], SCHEMA)
    check_shared("f", ["x", "N"], SCHEMA)
    with pytest.raises(InputError, match=r"columns are x, y, the stream's n, price, name; --force"):
        check_shared("f", ["x", "y"], SCHEMA)


def test_records_that_are_sent_as_they_stand_go_by_case() -> None:
    check_shared("f", ["n"], SCHEMA, by_case=True)
    with pytest.raises(InputError):
        check_shared("f", ["N"], SCHEMA, by_case=True)
