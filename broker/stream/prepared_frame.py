"""A DataFrame over a batch's records that Spark plans once, and that runs over the records of each batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from broker.errors import BrokerError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SCAN, _GIVEN = "RDDScanExec", "LogicalRDD"
_CALL, _CALLER = "ArrowEvalPythonExec", "ArrowEvalPythonEvaluatorFactory"
_KINDS: Mapping[str, tuple[str, tuple[bool, ...]]] = {
    "MapPartitionsWithEvaluatorRDD": ("evaluatorFactory", ()),
    "MapPartitionsRDD": ("f", (False, False, False)),
}
"""The RDD classes that Spark's operators create on top of the RDD of their child operator.

Each entry has the field that holds the function over the rows, and the further arguments of the constructor.
"""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedFrame:
    """The planned operators of a DataFrame over records, to be run over the rows of each batch.

    Invariant: ``nodes`` are the operators of the physical plan in the JVM, in the order of execution. Each operator has
    one child, and the first is above ``scan``, which reads an RDD of rows. ``steps`` are the functions that compute the
    result from those rows, each with the class of its RDD. No node or step depends on the records.

    Cost: a call into the JVM for each step and batch, some milliseconds. Without a prepared frame, Spark would parse,
    analyse, optimise, plan and generate code for every batch, which takes longer than matching some thousand records.

    Rejected: a new ``select`` on the DataFrame of each batch, even with prepared columns. Rejected as well: the
    prepared operators on each batch, because Spark would generate their code for each batch, although it compiles the
    code only once.
    """

    nodes: tuple[Any, ...]
    scan: Any
    schema: Any
    steps: tuple[_Step, ...]

    @staticmethod
    def of(records: DataFrame, made_of: Callable[[DataFrame], DataFrame]) -> PreparedFrame:
        """Return the prepared form of ``made_of(records)``, for all records with the same columns.

        Raise BrokerError if Spark's plan is not a linear chain of operators.
        """
        frame: Any = made_of(_bare(records, _rows(records), records._jdf.schema()))
        node = frame._jdf.queryExecution().executedPlan()
        nodes = []
        while node.children().size() == 1:
            nodes.append(node)
            node = node.children().head()
        if _name(node) != _SCAN:
            raise _not_in_a_row(_name(node))
        return _prepared(records, nodes[::-1], node, frame._jdf.schema())

    def with_function(self, records: DataFrame, function: Any) -> PreparedFrame:
        """Return the frame with another Python function, which must have the same arguments and result type."""
        nodes = [self._calling(node, function) if _name(node) == _CALL else node for node in self.nodes]
        calls = [node for node in nodes if _name(node) == _CALL]
        if [_name(step.function) for step in self.steps].count(_CALLER) != len(calls) or len(calls) != 1:
            return _prepared(records, nodes, self.scan, self.schema)
        # The other steps stay unchanged, so their compiled code is reused.
        caller = calls[0].evaluatorFactory()
        steps = (replace(step, function=caller) if _name(step.function) == _CALLER else step for step in self.steps)
        return replace(self, nodes=tuple(nodes), steps=tuple(steps))

    def _calling(self, node: Any, function: Any) -> Any:
        old = node.udfs().head()
        called = (old.name(), function, old.dataType(), old.children())
        udf = old.copy(*called, old.evalType(), old.udfDeterministic(), old.resultId())
        return node.copy(self._none.prepended(udf), node.resultAttrs(), node.child(), node.evalType())

    @property
    def _none(self) -> Any:
        return self.scan.children()

    def over(self, records: DataFrame) -> DataFrame:
        """Return the frame over other records."""
        rdd = _rows(records)
        for step in self.steps:
            rdd = step.over(rdd)
        return _bare(records, rdd, self.schema)


def _prepared(records: DataFrame, nodes: Sequence[Any], scan: Any, schema: Any) -> PreparedFrame:
    node, none = scan, scan.children()
    chain = []
    for parent in nodes:
        node = parent.withNewChildren(none.prepended(node))
        chain.append(node)
    jvm: Any = records.sparkSession._jvm
    tag = jvm.scala.reflect.ClassTag.apply(jvm.org.apache.spark.sql.catalyst.InternalRow._java_lang_class)
    rdd, source = node.execute(), scan.rdd().id()
    steps = []
    while rdd.id() != source:
        steps.append(_step(rdd, getattr(jvm.org.apache.spark.rdd, _name(rdd)), tag))
        rdd = rdd.dependencies().head().rdd()
    return PreparedFrame(tuple(chain), scan, schema, tuple(reversed(steps)))


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """The construction of an RDD over another RDD. ``kind``: the RDD class in the JVM. ``function``: the function over
    each partition. ``others``: further arguments of the constructor. ``tag``: the class tag of rows.
    """

    kind: Any
    function: Any
    others: tuple[bool, ...]
    tag: Any

    def over(self, rdd: Any) -> Any:
        return self.kind(rdd, self.function, *self.others, self.tag, self.tag)


def _step(rdd: Any, kind: Any, tag: Any) -> _Step:
    """Return the step that creates an RDD like ``rdd`` over another parent RDD."""
    name = _name(rdd)
    if name not in _KINDS or rdd.dependencies().size() != 1:
        raise _not_in_a_row(name)
    of_function, others = _KINDS[name]
    field = rdd.getClass().getDeclaredField(of_function)
    field.setAccessible(True)
    return _Step(kind, field.get(rdd), others, tag)


def _not_in_a_row(name: str) -> BrokerError:
    remedy = f"is not one of operators in a row over {_SCAN}: use Spark as it is set"
    return BrokerError("Spark's plan of a batch", name, remedy)


def _rows(records: DataFrame) -> Any:
    """Return the RDD of the rows of a frame."""
    execution: Any = records._jdf.queryExecution()
    analysed = execution.analyzed()
    # Spark gives a batch of a stream as an RDD, which needs no new plan.
    return analysed.rdd() if _name(analysed) == _GIVEN else execution.toRdd()


def partitions_of(frame: DataFrame) -> int:
    """Return the number of partitions of a frame that :meth:`PreparedFrame.over` returned."""
    found: int = _rows(frame).getNumPartitions()
    return found


def _name(node: Any) -> str:
    found: str = node.getClass().getSimpleName()
    return found


def _bare(records: DataFrame, rdd: Any, schema: Any) -> DataFrame:
    """Return an RDD of internal rows as a DataFrame in the session of ``records``."""
    from pyspark.sql import DataFrame

    session: Any = records._jdf.sparkSession()
    return DataFrame(session.internalCreateDataFrame(rdd, schema, False), records.sparkSession)
