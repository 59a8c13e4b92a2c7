"""The parked queries of a stream: they are registered, but not served until they are registered anew."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from broker.plans.binding import write_durably

LOG = logging.getLogger("asc.parked")


class ParkedQueries:
    """The parked queries of a stream by id and version, each with the reason, in a file of the stream's folder.

    A query that is registered anew has a new version, so it is not parked any more. A file that cannot be read is
    ignored, because a new diagnosis finds the same queries. Thread-safe if only one thread adds.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "parked.json"
        self._reasons: Mapping[tuple[str, int], str] = {}
        try:
            listed = json.loads(self._path.read_text("utf-8"))
            self._reasons = {(str(one["id"]), int(one["version"])): str(one["reason"]) for one in listed}
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError) as error:
            LOG.warning("parked queries in %s cannot be read, and are found anew: %s", self._path, error)

    def reason(self, query_id: str, version: int) -> str | None:
        """Return the reason why a version of a query is parked. Return None if it is not parked."""
        return self._reasons.get((query_id, version))

    def ids(self) -> set[str]:
        """Return the ids of all parked queries, of any version."""
        return {query_id for query_id, _ in self._reasons}

    def add(self, reasons: Mapping[tuple[str, int], str]) -> None:
        """Park queries, by id and version with the reasons, and write the file durably."""
        all_reasons = {**self._reasons, **reasons}
        listed = [{"id": i, "version": version, "reason": reason} for (i, version), reason in all_reasons.items()]
        write_durably(self._path, json.dumps(listed, ensure_ascii=False))
        self._reasons = all_reasons

    def keep(self, standing: Mapping[str, int]) -> None:
        """Forget parked queries that are not registered in that version any more.

        ``standing``: the registered version of each id.
        """
        kept = {key: reason for key, reason in self._reasons.items() if standing.get(key[0]) == key[1]}
        if len(kept) < len(self._reasons):
            self._reasons = kept
            self.add({})
