"""Questions to cubes through the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from broker.answers.cube import CubeAnswer
from broker.client.bodies import checked_mapping
from broker.client.connection import Connection
from broker.client.paths import query_path


class CubeClient:
    """The cubes of one daemon; an attribute of `broker.Client`. Its methods raise ClientError."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def query(self, query_id: str, question: Mapping[str, object]) -> CubeAnswer:
        """Return groups of a cube and their measures.

        ``question``: ``by``, ``where``, ``from``, ``to``, ``last_s``, ``grain_s``, ``live``, ``late``, ``measures``,
        ``order``, ``limit`` and ``cursor``.
        """
        body = dict(checked_mapping("question", question, '{"by": ["carrier"]}'))
        return cast("CubeAnswer", self._connection.asked("POST", f"{query_path(query_id)}/cube/query", json=body))
