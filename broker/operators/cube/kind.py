"""The operator kind ``cube``: exact roll-ups of the records that a query accepts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from asc.errors import CubeError
from asc.keys.attribute import PAttribute
from asc.operators.cube.budget import DEFAULT_BUDGET, plain_budget
from asc.operators.cube.definition import OP
from asc.operators.cube.keep import plain_bands
from asc.operators.cube.pins import plain_pins
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.schema import Schema
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.operators.cube.body import CubeBody
from broker.operators.cube.definition import StandingCube, refusal_of
from broker.operators.cube.estimate_body import CubeEstimate
from broker.operators.cube.kept import CubeKept
from broker.operators.estimate_body import EstimateBody
from broker.operators.expression import OperatorExpressions, RecordAnalyser
from broker.operators.fold_destination import FoldColumn, FoldDestination
from broker.operators.kept_body import KeptBody
from broker.operators.kind import FoldedQuery, Sampler, read_fields
from broker.operators.kind_body import KindBody

if TYPE_CHECKING:
    from asc.operators.fold import Fold
    from broker.kafka.cluster import KafkaCluster
    from broker.operators.daemon_part import DaemonPart
    from broker.operators.fold_sample import FoldEstimate, FoldSample
    from broker.operators.folder import FoldContext, Folder


@dataclass(frozen=True, slots=True)
class CubeKind:
    """The operator kind of cubes. Workers fold records into the cells of each cube, and a keeper commits the cells."""

    name: str = OP
    noun: str = "cube query"
    definition: type[StandingCube] = StandingCube
    body: type[KindBody] = CubeBody
    handoff: Literal["fold"] = "fold"
    limits: tuple[str, ...] = (
        *("stream_cubes", "cube_partial_bytes", "cube_cells", "cube_bytes", "cube_panes", "cube_query_s"),
        "cube_shards",
    )
    allows_join: bool = False
    allows_compacted_topic: bool = True
    held_noun: str = "cells"
    partial_limit: str = "cube_partial_bytes"
    kept: type[KeptBody] = CubeKept
    estimate_body: type[EstimateBody] = CubeEstimate

    def read(
        self, definition: StandingCube, analyser: RecordAnalyser, *, patiently: bool = False
    ) -> OperatorExpressions:
        """Return the expressions that the cube reads of a record: the time, the dimensions and the arguments of the
        measures. Raise QueryError if an expression is refused.
        """
        from asc.operators.cube.layout import Layout

        try:
            layout = Layout.of(definition.cube, analyser.attributes, analyser.time_zone)
        except CubeError as error:
            raise refusal_of(error) from None
        fields = read_fields(definition, analyser)
        names = {path[0] for each in fields for path in each.columns}
        columns = [field for field in analyser.attributes.arrow if field.name in names]
        ddl = Schema(pa.schema(columns)).ddl()
        return OperatorExpressions(fields, warnings=layout.warnings, columns_ddl=ddl, time_zone=layout.time_zone)

    def excess(self, definition: StandingCube, limits: LimitsConfig) -> QueryError | None:
        """Return None, because no limit of the configuration applies to the definition of a single query."""
        return None

    def daemon_part(self, cluster: KafkaCluster) -> DaemonPart:
        """Return the store of look-ups, which the cubes of all streams share."""
        from broker.operators.cube.lookups import LookupStore

        return LookupStore(cluster)

    def destination(
        self, definition: StandingCube, query: FoldedQuery, predicate: Predicate, expressions: OperatorExpressions
    ) -> FoldDestination:
        """Return the destination of a query, as plans store it. It contains the generation of the cube, the schema of
        the columns that the cube reads, and the time zone of the stream.
        """
        time, *values = (own.read[0] for own in expressions.fields)
        texts = [own.sql for own in definition.expressions()]
        columns = (
            FoldColumn(texts[0], PAttribute(time.sql, pa.int64())),
            *(FoldColumn(text, attribute) for text, attribute in zip(texts[1:], values, strict=True)),
        )
        settings: dict[str, Any] = {
            "generation": definition.cube.generation(query.stream, query.where),
            "cube": definition.cube.plain(),
            "schema": expressions.columns_ddl,
            "time_zone": expressions.time_zone,
        }
        if definition.output is not None:
            settings["output"] = definition.output.plain(definition.cube)
        if definition.late == "apart":
            settings["late"] = definition.late
        if definition.bands:
            settings["keep"] = plain_bands(definition.bands, definition.cube)
        if definition.pins:
            settings["materialise"] = plain_pins(definition.pins, definition.cube)
        if definition.budget != DEFAULT_BUDGET:
            settings |= plain_budget(definition.budget)
        if definition.begin == "earliest":
            settings["from"] = definition.begin
        return FoldDestination(OP, query.id, query.topic, time.sql, columns, settings)

    def completed(self, definition: StandingCube, former: StandingCube | None, sampler: Sampler) -> StandingCube:
        """Return a definition whose bins have edges. The edges come from the former definition, or from a sample of
        records.
        """
        from broker.operators.cube.calibration import calibrated

        return calibrated(definition, former, sampler)

    def fold(self) -> Fold:
        """Return the computation by which workers fold records into cells."""
        from asc.operators.cube.task_fold import CubeFold

        return CubeFold()

    def folder(self, stream: FoldContext) -> Folder:
        """Return the folder of a stream's cubes, which commits the cells of batches. ``stream``: the parts of the
        stream that the folder needs.
        """
        from broker.operators.cube.folder import CubeFolder

        return CubeFolder(stream)

    def estimate(self, destination: FoldDestination, sample: FoldSample | str) -> FoldEstimate:
        """Return the numbers of cuboids, cells and bytes that a cube would have, estimated from a sample of records."""
        from broker.operators.cube.estimating import estimated

        return estimated(destination, sample)


CUBE = CubeKind()
"""The operator kind ``cube``."""
