"""The tokens file: the name, the hash and the scope of each token."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from broker.access.column_path import column_path
from broker.access.scope import Scope
from broker.errors import ConfigError
from broker.toml_text import parse_toml

RESERVED_NAMES = ("token", "daemon")
"""Names that no token of the file may have. In the audit log, ``token`` is the caller with the root token
(``api.root_token_file``), and ``daemon`` is the daemon itself.
"""

_NAME_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def _list(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError(f'write a list, as ["{value}"]')
    return value


def _digest(value: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{64}", value):
        raise ValueError("write the SHA-256 of a token as 64 hexadecimal digits, as 'asc token new' does")
    return value


def _column(value: str) -> str:
    column_path(value)
    return value


_Texts = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_list), Field(min_length=1)]


class TokenEntry(BaseModel):
    """The table of one token: its hash and its limits. A limit that is absent does not apply."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sha256: Annotated[str, AfterValidator(_digest)]
    read_only: bool = Field(default=False, strict=True)
    id_prefix: Annotated[str | None, Field(min_length=1)] = None
    streams: _Texts | None = None
    topic_prefixes: _Texts | None = None
    columns: Annotated[_Texts, AfterValidator(lambda names: tuple(map(_column, names)))] | None = None
    max_queries: int | None = Field(default=None, ge=0, strict=True)

    def scope(self, name: str) -> Scope:
        """Return the scope of a caller with this token."""
        return Scope(
            name,
            read_only=self.read_only,
            id_prefix=self.id_prefix or "",
            streams=None if self.streams is None else frozenset(self.streams),
            topic_prefixes=self.topic_prefixes,
            columns=None if self.columns is None else frozenset(map(column_path, self.columns)),
            max_queries=self.max_queries,
        )

    def toml(self, name: str) -> str:
        """Return the table of the token ``name`` as text for the tokens file."""
        plain = self.model_dump(mode="json", exclude_defaults=True)
        lines = [f"{key} = {_as_toml(value)}" for key, value in plain.items()]
        return "\n".join([f"[tokens.{_as_toml(name) if '.' in name else name}]", *lines, ""])


def check_token_name(name: str) -> None:
    """Raise ConfigError for a name that no token in the file may have."""
    if not _NAME_FORM.fullmatch(name):
        remedy = "use 1 to 100 of A-Z a-z 0-9 . _ -, a letter or digit first"
        raise ConfigError("token name", name[:200], remedy)
    if name in RESERVED_NAMES:
        raise ConfigError("token name", name, "is what the audit calls another: choose another name")


def parse_tokens(text: str, path: Path) -> dict[str, Scope]:
    r"""Return the scopes in a tokens file, keyed by the hash of their token.

    Raise ConfigError if the file is invalid in any way; the error contains no hash.

    >>> parse_tokens('[tokens.ops]\nsha256 = "' + 64 * "0" + '"\nread_only = true', Path("t"))["0" * 64].read_only
    True
    """
    try:
        document = parse_toml(text)
    except ValueError as error:
        raise ConfigError("tokens file", str(path), f"is not TOML: {error}") from None
    tables = document.get("tokens")
    if not isinstance(tables, dict) or not tables or document.keys() != {"tokens"}:
        remedy = "holds tables [tokens.NAME], one at least, and nothing else: 'asc token new NAME' makes one"
        raise ConfigError("tokens file", str(path), remedy)
    scopes: dict[str, Scope] = {}
    for name, table in tables.items():
        try:
            check_token_name(name)
        except ConfigError as error:
            raise ConfigError(f"tokens file '{path}': {error.subject}", error.value, error.remedy) from None
        entry = token_entry(name, table, f"tokens file '{path}': token")
        if entry.sha256 in scopes:
            remedy = f"has the token of '{scopes[entry.sha256].name}': make each its own"
            raise ConfigError(f"tokens file '{path}': token", name, remedy)
        scopes[entry.sha256] = entry.scope(name)
    return scopes


def _as_toml(value: Any) -> str:
    # JSON of texts, numbers, booleans and lists of texts is also TOML, except for the character DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def token_entry(name: str, table: Any, subject: str = "token") -> TokenEntry:
    """Return the checked table of the token ``name``. Raise ConfigError if the table is invalid. ``subject``: the
    subject of the error.
    """
    if not isinstance(table, Mapping):
        raise ConfigError(subject, name, "is no table: write [tokens.NAME]")
    try:
        return TokenEntry.model_validate(dict(table))
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
    key = ".".join(map(str, detail["loc"]))
    message = str(detail["msg"]).removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        message = f"is unknown: use {', '.join(TokenEntry.model_fields)}"
    if detail["type"] == "missing":
        message = "is missing: 'asc token new NAME' prints it"
    raise ConfigError(subject, name, f"{key}: {message[:1].lower()}{message[1:]}")
