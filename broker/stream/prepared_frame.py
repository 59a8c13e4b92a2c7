"""A frame over a batch's records, planned by Spark once and run over the records of one batch after another."""

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
"""The kinds of RDD that Spark's operators make of that of their child.

Each has the field that holds the function over its rows, and the further arguments of the constructor.
"""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedFrame:
    """The operators that Spark runs for a frame over records, whose rows differ for each batch.

    Invariant: ``nodes`` are the operators of the physical plan in the JVM in the order in which they run. Each has one
    child, above ``scan``, which reads an RDD of rows. ``steps`` are the functions, with the kind of RDD that runs each,
    by which they make the rows of the result from those rows. Nothing in them depends on the records.

    Cost: a call into the JVM a step and batch, some milliseconds. Without it Spark would parse, analyse, optimise and
    plan all of it for every batch, and generate its code, which takes longer than to match some thousand records.
    Rejected: to select from each batch anew, even with columns that are prepared. Rejected as well: to put the
    operators over each batch, whose code is then generated anew though it is compiled once.
    """

    nodes: tuple[Any, ...]
    scan: Any
    schema: Any
    steps: tuple[_Step, ...]

    @staticmethod
    def of(records: DataFrame, made_of: Callable[[DataFrame], DataFrame]) -> PreparedFrame:
        """Return the frame that is made of records, for all that have the columns of these.

        Raises BrokerError where Spark does not plan it as operators in a row.
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
        """Return the frame with another function where it calls Python: one of the same arguments and result."""
        nodes = [self._calling(node, function) if _name(node) == _CALL else node for node in self.nodes]
        calls = [node for node in nodes if _name(node) == _CALL]
        if [_name(step.function) for step in self.steps].count(_CALLER) != len(calls) or len(calls) != 1:
            return _prepared(records, nodes, self.scan, self.schema)
        # The others stay as they are, and their code with them.
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
    """The construction of an RDD over another one.

    It has a kind of RDD in the JVM, the function that it runs over each partition, the further arguments of its
    constructor, and the tag of rows.
    """

    kind: Any
    function: Any
    others: tuple[bool, ...]
    tag: Any

    def over(self, rdd: Any) -> Any:
        return self.kind(rdd, self.function, *self.others, self.tag, self.tag)


def _step(rdd: Any, kind: Any, tag: Any) -> _Step:
    """Return the step that makes an RDD like this one of another RDD than the one below it."""
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
    # A batch of a stream comes as an RDD, which need not be planned again.
    return analysed.rdd() if _name(analysed) == _GIVEN else execution.toRdd()


def partitions_of(frame: DataFrame) -> int:
    """Return the number of partitions of a frame that :meth:`PreparedFrame.over` made."""
    found: int = _rows(frame).getNumPartitions()
    return found


def _name(node: Any) -> str:
    found: str = node.getClass().getSimpleName()
    return found


def _bare(records: DataFrame, rdd: Any, schema: Any) -> DataFrame:
    """Return an RDD of rows of the JVM, as a frame in the session of ``records``."""
    from pyspark.sql import DataFrame

    session: Any = records._jdf.sparkSession()
    return DataFrame(session.internalCreateDataFrame(rdd, schema, False), records.sparkSession)
