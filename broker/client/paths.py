"""Paths of the API that contain names of queries, layers, shapes, loads and streams."""

from __future__ import annotations

from urllib.parse import quote

from broker.client.errors import InvalidRequestError


def query_path(query_id: str) -> str:
    """Return the path of one query. Raise InvalidRequestError for an id such as ``..``, which would lead to another
    path.

    >>> query_path("a/b c")
    '/v1/queries/a%2Fb%20c'
    """
    return f"/v1/queries/{_segment('query id', query_id, 'asc query list')}"


def layer_path(name: str) -> str:
    """Return the path of one layer. Raise InvalidRequestError for a name such as ``..``, which would lead to another
    path.
    """
    return f"/v1/layers/{_segment('layer', name, 'asc layer list')}"


def shape_path(layer: str, shape_id: str) -> str:
    """Return the path of one shape of a layer."""
    return f"{layer_path(layer)}/shapes/{_segment('shape id', shape_id, f'asc layer show {layer}')}"


def lookup_path(name: str) -> str:
    """Return the path of one look-up of cubes."""
    return f"/v1/cube/lookups/{_segment('look-up', name, 'asc cube lookup list')}"


def load_path(load_id: str) -> str:
    """Return the path of one load that is sent in parts."""
    return f"/v1/loads/{_segment('load', load_id, 'asc query apply')}"


def stream_path(name: str) -> str:
    """Return the path of one stream."""
    return f"/v1/streams/{_segment('stream', name, 'asc status')}"


def block_path(stream: str, number: int) -> str:
    """Return the path of one block of a stream's plan. ``number``: the number of the block, from 0."""
    return f"/v1/plan/{_segment('stream', stream, 'asc status')}/blocks/{number}"


def _segment(what: str, name: str, command: str) -> str:
    if not isinstance(name, str):
        raise InvalidRequestError(f"{what} of type", type(name).__name__, "give it as text")
    if name in ("", ".", ".."):
        raise InvalidRequestError(what, name, f"is none: '{command}' shows those that there are")
    try:
        return quote(name, safe="")
    except UnicodeEncodeError:
        raise InvalidRequestError(what, ascii(name), "holds half of a surrogate pair: write whole characters") from None
