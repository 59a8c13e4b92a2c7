"""The body of an operator in the API: a union, by ``name``, of the bodies of all kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from broker.operators.kind_body import KindBody
from broker.operators.kinds import OPERATORS, ROUTE
from broker.operators.route_body import RouteBody


def bodies() -> Mapping[str, type[KindBody]]:
    """Return the body of each kind by its tag. The body of ``route`` comes first."""
    return {ROUTE: RouteBody, **{name: kind.body for name, kind in OPERATORS.items()}}


def operators_of(plain: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the operators that a body describes: one operator, or one for each combination of the values in the body's
    lists, such as a list of radii. Raise QueryError.
    """
    name = plain.get("name")
    body = bodies().get(name) if isinstance(name, str) else None
    return [plain] if body is None else [each for _, each in body.combinations("", plain)]


def _validated(plain: Any) -> KindBody:
    if isinstance(plain, KindBody):
        return plain
    if not isinstance(plain, Mapping):
        raise PydanticCustomError("model_type", "Give an object")
    name = plain.get("name")
    body = bodies().get(name) if isinstance(name, str) else None
    if body is None:
        known = {"known": ", ".join(bodies())}
        raise PydanticCustomError("union_tag_invalid", "name is no operator: give one of {known}", known)
    return body.model_validate(plain)


def _plain(body: KindBody) -> dict[str, Any]:
    # The computed field comes last.
    plain = body.model_dump(by_alias=True)
    return {**plain, "summary": plain.pop("summary")}


class _ByName:
    """The discriminated union of the bodies of all kinds. It is built from the table of kinds when pydantic validates a
    body or describes the field.
    """

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            _validated,
            serialization=core_schema.plain_serializer_function_ser_schema(_plain),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        choices = {name: body.__pydantic_core_schema__ for name, body in bodies().items()}
        described = handler(core_schema.tagged_union_schema(choices, discriminator="name"))
        return {**described, "description": "The operator of accepted records. None is the same as route."}


OperatorBody = Annotated[KindBody, _ByName]
"""An object of one of the models of :func:`bodies`."""
