"""The base class of request bodies, which checks their fields. A client may send an answer of the API back as a
body.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer, StrictFloat, StrictStr, model_validator
from pydantic_core import PydanticCustomError


def _encodable(text: str) -> str:
    # JSON can spell half of a surrogate pair, which no encoding can write.
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair: write whole characters") from None
    return text


def _plain_number(number: float) -> float:
    # As definitions have them: 30 seconds are 30 and not 30.0.
    return int(number) if float(number).is_integer() else number


Number = Annotated[StrictFloat, PlainSerializer(_plain_number, return_type=int | float)]
"""A finite number. A numeric text is not accepted. A whole number is serialised without a fraction."""

Text = Annotated[StrictStr, AfterValidator(_encodable)]


class Body(BaseModel):
    """A body that refuses unknown fields, and ignores the fields that only answers have (``answered_too``)."""

    model_config = ConfigDict(extra="forbid")
    answered_too: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, plain: Any) -> Any:
        # Checked first, because a misspelt field may be the reason why another field is missing.
        known = [field.alias or name for name, field in cls.model_fields.items()]
        if not isinstance(plain, dict) or plain.keys() <= {*known}:
            return plain
        unknown = [name for name in plain if name not in known and name not in cls.answered_too]
        if unknown:
            field = unknown[0].encode("utf-8", "replace").decode()[:200]
            raise PydanticCustomError("unknown_field", "unknown field", {"field": field, "known": known})
        return {name: value for name, value in plain.items() if name in known}
