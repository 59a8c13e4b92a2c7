"""The queries whose states failed while a stream went on, reported until they are parked."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from broker.stream.diagnosis.diagnosis_result import DiagnosisResult


class FoldParks:
    """The finding of queries that are not counted any more; the stream does not wait for it.

    Invariant: a query is reported until it is in no plan: each batch names all that fail in it. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._finding: DiagnosisResult | None = None

    @property
    def finding(self) -> DiagnosisResult | None:
        """Return what is to be parked; None while there is nothing."""
        return self._finding

    def tell(self, reasons: Mapping[str, str], version: int) -> None:
        """Have queries of the plan of a version parked, all that fail in it, by their ids with the reasons."""
        with self._lock:
            known = self._finding
            if reasons and (known is None or (known.queries, known.version) != (reasons, version)):
                self._finding = DiagnosisResult(queries=reasons, version=version)

    def tell_more(self, reasons: Mapping[str, str], version: int) -> None:
        """Have queries parked beside those of the last finding: no batch comes that names all of them."""
        with self._lock:
            known = self._finding
            if reasons:
                queries = {**({} if known is None else known.queries), **reasons}
                known_version = 0 if known is None else known.version
                self._finding = DiagnosisResult(queries=queries, version=max(version, known_version))

    def go_on(self, finding: DiagnosisResult) -> None:
        """Forget a finding, now that it is in no plan any more."""
        with self._lock:
            if self._finding is finding:
                self._finding = None
