"""The OpenAPI document of the API: FastAPI generates it, and this module corrects it."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

_REF_TEMPLATE = "#/components/schemas/{model}"
HEALTH = "health"
"""The tag, in the OpenAPI document, of endpoints that need no token."""


class DescribedApp(FastAPI):
    """A FastAPI application that corrects its OpenAPI document. FastAPI adds an answer with status 422 to each
    endpoint; the correction removes it, because no endpoint returns it. The correction adds the request bodies that
    endpoints parse without FastAPI.

    ``bodies``: the models of these bodies. ``asks_for_token``: whether every address, except those with the tag
    ``health``, requires a bearer token, which is checked before FastAPI sees the request.
    """

    def __init__(self, *, bodies: tuple[type[BaseModel], ...], asks_for_token: bool, **settings: Any) -> None:
        super().__init__(separate_input_output_schemas=False, **settings)
        self._bodies = bodies
        self._asks_for_token = asks_for_token

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document. The first call generates it."""
        if self.openapi_schema is None:
            self.openapi_schema = self._described()
        return self.openapi_schema

    def _described(self) -> dict[str, Any]:
        document = get_openapi(
            title=self.title,
            version=self.version,
            description=self.description,
            routes=self.routes,
            separate_input_output_schemas=self.separate_input_output_schemas,
        )
        components = document.setdefault("components", {})
        schemas = components.setdefault("schemas", {})
        for body in self._bodies:
            own = body.model_json_schema(ref_template=_REF_TEMPLATE)
            for name, schema in {**own.pop("$defs", {}), body.__name__: own}.items():
                schemas.setdefault(name, schema)
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        for operation in (one for path in document["paths"].values() for one in path.values()):
            operation["responses"].pop("422", None)
            if self._asks_for_token and HEALTH not in operation["tags"]:
                operation["security"] = [{"bearer": []}]
        if self._asks_for_token:
            components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
        return document


def reference(body: type[BaseModel]) -> dict[str, str]:
    """Return a JSON reference to the schema of a body, for a part of the OpenAPI document."""
    return {"$ref": _REF_TEMPLATE.format(model=body.__name__)}
