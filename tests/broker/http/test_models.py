"""What a wrong body is told."""

from __future__ import annotations

import pytest

from broker.http.models import QueryBody, plain_line, valid_body
from broker.queries.query import QueryError

OF_DBSCAN = (
    b'{"id": "a", "where": "true", "operator": {"name": "dbscan", "attributes": ["x"], "eps": 1, "window_s": 60, '
    b'"slide_s": 10, %b}}'
)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"id": "a", "wher": "n > 1"}', "unknown field 'wher': did you mean 'where'?"),
        (b'{"id": "a", "where": "n > 1", "xyz": 1}', "unknown field 'xyz': known: id, stream, where, "),
        (b'{"id": "a", "where": "n > 1", "tuple": {}}', "unknown field 'tuple': known: id, stream, where, "),
        (b'{"id": "a", "where": "n > 1", "labels": {"a": {"version": 1}}}', "field labels.a 'dict': "),
        (b'{"id": "a", "where": "n > 1", "labels": {"\\n": null}}', "field labels.\\n: "),
        (b'{"id": "a", "where": "n > 1", "\\ud800": 1}', "unknown field '?': known: id, stream, "),
        (b'{"id": "a"}', "missing field 'where': give it"),
        (b'{"id": 5, "where": "n > 1"}', "field id 5: "),
        (b'{"id": "a", "where": "n > z.i", "join": "z"}', "field join 'z': give an object"),
        (OF_DBSCAN % b'"min_samples": 9223372036854775808', "operator.min_samples 9223372036854775808: give a whole "),
        (OF_DBSCAN % b'"min_samples": 5.0', "field operator.min_samples 5.0: give an integer"),
        (OF_DBSCAN % b'"min_samples": 5, "sample": 5.0', "field operator.sample 5.0: give an integer"),
        (b"[1]", "body 'list': give an object"),
        (b'{"id": ', "line '{\"id\": ': is not JSON: Expecting value (column 8)"),
        (b"at,celsius\r", "line 'at,celsius': is not JSON: "),
    ],
)
def test_a_wrong_line_is_one_line(line: bytes, said: str) -> None:
    with pytest.raises(QueryError) as raised:
        valid_body(QueryBody, plain_line(line))
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)
