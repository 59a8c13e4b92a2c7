"""Unions of API models for a part of an answer, such as the state of a query. Each kind of operator has its own model,
which the field ``name`` selects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from broker.body import Body


@dataclass(frozen=True, slots=True)
class AnswerUnion:
    """An annotation of a field: the discriminated union of models. It is built from the table of kinds when pydantic
    validates a value or describes the field.

    ``models`` returns the models by the tags of their kinds. Answers omit the fields of a model that are not set.
    """

    models: Callable[[], Mapping[str, type[Body]]]
    description: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validated, serialization=core_schema.plain_serializer_function_ser_schema(_plain)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        choices = {name: model.__pydantic_core_schema__ for name, model in self.models().items()}
        described = handler(core_schema.tagged_union_schema(choices, discriminator="name"))
        return {**described, "description": self.description}

    def _validated(self, plain: Any) -> Body:
        if isinstance(plain, Body):
            return plain
        return self.models()[plain["name"]].model_validate(plain)


def _plain(body: Body) -> dict[str, Any]:
    return body.model_dump(exclude_unset=True)
