"""The state of a query in the API: a union, by ``name``, of the models of all kinds that keep states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from broker.operators.kept_body import KeptBody
from broker.operators.kinds import kept_bodies


def _validated(plain: Any) -> KeptBody:
    if isinstance(plain, KeptBody):
        return plain
    return kept_bodies()[plain["name"]].model_validate(plain)


def _plain(body: KeptBody) -> dict[str, Any]:
    return body.model_dump(exclude_unset=True)


class _ByName:
    """The discriminated union of the states of all kinds, built from the table of kinds at validation or
    description.
    """

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            _validated, serialization=core_schema.plain_serializer_function_ser_schema(_plain)
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        choices = {name: kept.__pydantic_core_schema__ for name, kept in kept_bodies().items()}
        described = handler(core_schema.tagged_union_schema(choices, discriminator="name"))
        return {**described, "description": "What is kept for the operator of a query."}


KeptState = Annotated[KeptBody, _ByName]
"""An object of one of the models :attr:`OperatorKind.kept`."""


def kept_state(name: str, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a query in the form of answers. ``name``: the name of the query's operator. ``kept``: the
    state, as a folder or the feed reports it.
    """
    return {"name": name, **kept}
