"""The queries whose fold states failed while the stream continued. They are reported until they are parked."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from broker.stream.diagnosis.diagnosis_result import DiagnosisResult


class FoldParks:
    """The finding (a :class:`DiagnosisResult`) of queries whose records are no longer folded, because their states
    failed. The stream does not wait until these queries are parked.

    Invariant: a query is reported until no plan contains it, because each batch reports all queries that fail in it.
    Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._finding: DiagnosisResult | None = None

    @property
    def finding(self) -> DiagnosisResult | None:
        """Return the queries that are to be parked. Return None if there are none."""
        return self._finding

    def report(self, reasons: Mapping[str, str], version: int) -> None:
        """Report all failed queries of a batch, by id with the reasons, to be parked.

        ``version``: the version of the batch's plan.
        """
        with self._lock:
            known = self._finding
            if reasons and (known is None or (known.queries, known.version) != (reasons, version)):
                self._finding = DiagnosisResult(queries=reasons, version=version)

    def add(self, reasons: Mapping[str, str], version: int) -> None:
        """Add failed queries to the last finding, for failures that no batch reports."""
        with self._lock:
            known = self._finding
            if reasons:
                queries = {**({} if known is None else known.queries), **reasons}
                known_version = 0 if known is None else known.version
                self._finding = DiagnosisResult(queries=queries, version=max(version, known_version))

    def go_on(self, finding: DiagnosisResult) -> None:
        """Forget a finding after no plan contains its queries."""
        with self._lock:
            if self._finding is finding:
                self._finding = None
