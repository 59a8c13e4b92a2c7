"""Environment variables that set keys of the configuration: ``ASC__API__PORT`` sets ``port`` of ``[api]``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from broker.config.text_file import read_text
from broker.errors import ConfigError
from broker.toml_text import parse_toml

PREFIX = "ASC__"
_FILE = "_FILE"
_NAMED, _OPTIONS = ("streams", "layers"), "options"
"""The sections whose tables have names that the user chooses, and the key under which a section has its table of
options.
"""


KeyPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overlay:
    """A parsed file after variables have replaced some of its values.

    ``origins``: for each key of the ``document`` that a variable set, the variable's name, by the key's path.
    ``faults``: errors of variables that name no key or whose file cannot be read; their values are not in the document.
    """

    document: dict[str, Any]
    origins: Mapping[KeyPath, str]
    faults: tuple[ConfigError, ...]


def has_variables(variables: Mapping[str, str]) -> bool:
    """Return whether any key is set by a variable.

    >>> has_variables({"ASC__API__PORT": "8751"}), has_variables({"ASC_TOKEN": "...", "ASC__API__PORT": ""})
    (True, False)
    """
    return any(name.startswith(PREFIX) and value for name, value in variables.items())


def overlaid(document: Mapping[str, Any], variables: Mapping[str, str], model: type[BaseModel]) -> Overlay:
    """Return a copy of a document in which variables with the prefix PREFIX replace keys. An empty variable counts as
    not set.

    ``model``: the sections and their keys. A text key takes the variable's value unchanged; any other key reads it as
    TOML. Values that are not valid TOML are left for the later check of the whole configuration.
    """
    merged = {name: _copied(table) for name, table in document.items()}
    origins: dict[KeyPath, str] = {}
    faults: list[ConfigError] = []
    for name in sorted(variables):
        if not name.startswith(PREFIX) or not variables[name]:
            continue
        try:
            for path, value in _settings(name, variables[name], merged, model):
                if path in origins:
                    raise ConfigError("variable", name, f"says the same as {origins[path]}: keep one of them")
                if _put(merged, path, value):
                    origins[path] = name
        except ConfigError as error:
            faults.append(error)
    return Overlay(merged, origins, tuple(faults))


def of_variables(fault: ConfigError, overlay: Overlay, location: KeyPath = ()) -> ConfigError:
    """Return a fault with the name of the variable that caused it. Return it unchanged if no variable caused it.

    ``location``: the path of the key, if known; otherwise the key is searched in the fault's subject.
    """
    for path, name in overlay.origins.items():
        if location:
            is_it = location[: len(path)] == path or path[: len(location)] == location
        else:
            is_it = any(re.match(rf"{re.escape(spelt)}(?!\w)", fault.subject) for spelt in _spelt(path))
        if is_it:
            return ConfigError(f"{name}: {fault.subject}", fault.value, fault.remedy)
    return fault


def _settings(
    name: str, value: str, document: Mapping[str, Any], model: type[BaseModel]
) -> Iterator[tuple[KeyPath, Any]]:
    """Yield the settings of one variable: one key with its value, or all keys of its table of options."""
    section, *rest = [part.lower() for part in name.removeprefix(PREFIX).split("__")]
    where: KeyPath
    keys: type[BaseModel] | None
    if section in _NAMED and rest:
        where = (section, _named(section, rest[0], document, name))
        keys, rest = _named_model(model, section), rest[1:]
    else:
        where, keys = (section,), _section_model(model, section)
    if not rest or not all(rest) or len(rest) > (2 if rest[0] == _OPTIONS else 1):
        remedy = f"names no key: {PREFIX}SECTION__KEY, {PREFIX}STREAMS__NAME__KEY, or either with __OPTIONS__NAME"
        raise ConfigError("variable", name, remedy)
    if len(rest) == 2:
        # Options are text, and named as Kafka names them: in small letters, with dots.
        path = (*where, _OPTIONS, rest[1].removesuffix(_FILE.lower()).replace("_", "."))
        yield path, _content(name, value) if rest[1].endswith(_FILE.lower()) else value
        return
    (key,) = rest
    known = {} if keys is None else {field.alias or own: field.annotation for own, field in keys.model_fields.items()}
    whole = key.removesuffix(_FILE.lower())
    if key not in known and key.endswith(_FILE.lower()) and whole in known:
        key, value = whole, _content(name, value)
    if key == _OPTIONS and key in known:
        table = _read(value)
        if not isinstance(table, dict):
            raise ConfigError("variable", name, 'is a table of TOML: {"its.name" = "value"}')
        yield from (((*where, key, option), text) for option, text in table.items())
        return
    yield (*where, key), value if _is_text(known.get(key, str)) else _read(value)


def _put(document: dict[str, Any], path: KeyPath, value: Any) -> bool:
    """Set a key, and return whether this was possible.

    The key cannot be set if the file has a value that is not a table on its path; the check of the file reports that.
    """
    table: Any = document
    for part in path[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            return False
    table[path[-1]] = value
    return True


def _copied(value: Any) -> Any:
    return {key: _copied(inner) for key, inner in value.items()} if isinstance(value, dict) else value


def _named(section: str, name: str, document: Mapping[str, Any], variable: str) -> str:
    """Return the name of the stream or layer that a variable means, as the file spells it. If the file has no such
    stream or layer, return the name in the variable.

    In the variable, ``_`` represents each character that names of variables cannot contain.
    """
    there = document.get(section)
    folded = [own for own in (there if isinstance(there, dict) else ()) if re.sub(r"[-.]", "_", own).lower() == name]
    if len(folded) > 1:
        remedy = f"may mean any of the {section} {', '.join(folded)}: set it in the file"
        raise ConfigError("variable", variable, remedy)
    return folded[0] if folded else name


def _section_model(model: type[BaseModel], section: str) -> type[BaseModel] | None:
    field = model.model_fields.get(section)
    annotation = None if field is None else field.annotation
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _named_model(model: type[BaseModel], section: str) -> type[BaseModel]:
    _, table = get_args(model.model_fields[section].annotation)
    found: type[BaseModel] = table
    return found


def _is_text(annotation: Any) -> bool:
    """Return whether a key takes a text: a name, a path, or one of several words."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return any(_is_text(part) for part in get_args(annotation) if part is not type(None))
    return annotation in (str, Path) or origin is Literal


def _read(value: str) -> Any:
    """Return the value of a TOML literal, or the text itself if it is not valid TOML."""
    try:
        document = parse_toml(f"value = {value}")
    except ValueError:
        return value
    return document["value"] if len(document) == 1 else value


def _content(name: str, path: str) -> str:
    """Return the content of a file without its final line break. Containers provide secrets as files."""
    text = read_text(f"{name}: file", Path(path)).rstrip("\r\n")
    if not text:
        raise ConfigError(f"{name}: file", path, "is empty: write the value into it")
    return text


def _spelt(path: KeyPath) -> tuple[str, ...]:
    """Return the path of a key as faults spell it: keys of options are quoted, or follow a dot."""
    dotted = ".".join(path)
    if len(path) > 2 and path[-2] == _OPTIONS:
        return dotted, f"{'.'.join(path[:-1])} '{path[-1]}'"
    return (dotted,)
