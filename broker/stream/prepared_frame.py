"""What is made of a batch's records, planned by Spark once and run over the records of one batch after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from broker.errors import BrokerError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SCAN, _GIVEN, _CALL = "RDDScanExec", "LogicalRDD", "ArrowEvalPythonExec"


@dataclass(frozen=True, slots=True, eq=False)
class PreparedFrame:
    """The physical plan of a frame over records, whose scan of the records is another one for each batch.

    Invariant: ``nodes`` are the operators of the plan in the JVM in the order in which they run, each with one child,
    above ``scan``, which reads an RDD of rows; ``none`` is an empty sequence of operators. Nothing in them hangs on the
    records. Cost: two calls into the JVM an operator and batch, some 10 ms with the code that Spark generates; without
    it Spark would parse, analyse, optimise and plan all of it for every batch, which takes longer than to match some
    thousand records. Rejected: to select from each batch anew, even with columns that are prepared.
    """

    nodes: tuple[Any, ...]
    scan: Any
    schema: Any
    none: Any

    @staticmethod
    def of(records: DataFrame, made_of: Callable[[DataFrame], DataFrame]) -> PreparedFrame:
        """The frame that is made of records, for all that have the columns of these.

        Raises BrokerError where Spark does not plan it as operators in a row.
        """
        frame: Any = made_of(_bare(records, _rows(records), records._jdf.schema()))
        node = frame._jdf.queryExecution().executedPlan()
        nodes = []
        while node.children().size() == 1:
            nodes.append(node)
            node = node.children().head()
        name = _name(node)
        if name != _SCAN:
            raise BrokerError(
                "Spark's plan of a batch", name, f"reads the records, not {_SCAN}: use Spark as it is set"
            )
        return PreparedFrame(tuple(reversed(nodes)), node, frame._jdf.schema(), none=node.children())

    def with_function(self, function: Any) -> PreparedFrame:
        """The frame with another function where it calls Python: one of the same arguments and result."""
        nodes = (self._calling(node, function) if _name(node) == _CALL else node for node in self.nodes)
        return replace(self, nodes=tuple(nodes))

    def _calling(self, node: Any, function: Any) -> Any:
        old = node.udfs().head()
        called = (old.name(), function, old.dataType(), old.children())
        udf = old.copy(*called, old.evalType(), old.udfDeterministic(), old.resultId())
        return node.copy(self.none.prepended(udf), node.resultAttrs(), node.child(), node.evalType())

    def over(self, records: DataFrame) -> DataFrame:
        """The frame over other records."""
        old = self.scan
        node = old.copy(
            old.output(), _rows(records), old.name(), old.outputPartitioning(), old.outputOrdering(), old.stream()
        )
        for parent in self.nodes:
            node = parent.withNewChildren(self.none.prepended(node))
        return _bare(records, node.execute(), self.schema)


def _rows(records: DataFrame) -> Any:
    """The RDD of the rows of a frame."""
    execution: Any = records._jdf.queryExecution()
    analysed = execution.analyzed()
    # A batch of a stream comes as an RDD, which need not be planned again.
    return analysed.rdd() if _name(analysed) == _GIVEN else execution.toRdd()


def _name(node: Any) -> str:
    found: str = node.getClass().getSimpleName()
    return found


def _bare(records: DataFrame, rdd: Any, schema: Any) -> DataFrame:
    """An RDD of rows of the JVM, as a frame in the session of ``records``."""
    from pyspark.sql import DataFrame

    session: Any = records._jdf.sparkSession()
    return DataFrame(session.internalCreateDataFrame(rdd, schema, False), records.sparkSession)
