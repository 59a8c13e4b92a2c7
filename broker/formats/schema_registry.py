"""A schema registry, spoken to as Confluent's is: the schemas that records were written with, by id and by subject."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from broker.errors import SchemaAnswerError, SchemaRegistryError
from broker.failure import one_line

if TYPE_CHECKING:
    import ssl

    import httpx

_IDENTITY = "identity"

_ANSWER_BYTES = 4 << 20
"""The largest answer that is read."""

_REFERENCES_MAX = 100
"""Schemas that one schema may refer to, theirs among them."""

_NOT_THERE = frozenset([40401, 40402, 40403])
"""What a registry says of a subject, a version or a schema that it does not have."""

_OTHER_QUESTIONS = ("/schemas/types", "/subjects")
"""The paths that every healthy registry answers with a list; those before Confluent's 5.5 have no types."""


@dataclass(frozen=True, slots=True)
class WrittenSchema:
    """A schema as the registry has it: its text, its kind (AVRO, PROTOBUF, JSON), and the schemas that it refers to, by
    the name that it has for each and the text, each after those that it needs itself.
    """

    text: str
    kind: str = "AVRO"
    references: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SchemaRegistry:
    """Where a schema registry is, and how one is admitted. Immutable; each question has connections of its own.

    ``urls``: the same registry at several addresses, asked in their order until one answers. ``username`` and
    ``password``, or ``token``, go with every request. Cost: some milliseconds a schema; who asks remembers.
    """

    urls: tuple[str, ...]
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    timeout_s: float = 10

    def schema(self, schema_id: int) -> WrittenSchema | None:
        """The schema with an id; None where the registry says that it has none, or that the id is none.

        SchemaRegistryError where the registry does not answer: then nothing is known of any schema. SchemaAnswerError
        where it answers another question, but not this one.
        """
        try:
            found = self._get(f"/schemas/ids/{schema_id}")
            return None if found is None else self._written(found)
        except SchemaRegistryError as error:
            if not self.answers():
                raise
            raise SchemaAnswerError("schema", schema_id, f"is not answered for: {error}", [schema_id]) from error

    def answers(self) -> bool:
        """Return whether the registry answers a question that is about no schema."""
        for path in _OTHER_QUESTIONS:
            try:
                self._asked(path, list)
            except SchemaRegistryError:
                continue
            return True
        return False

    def latest(self, subject: str) -> WrittenSchema | None:
        """The last version of a subject; None where the registry has no such subject. SchemaRegistryError."""
        found = self._get(f"/subjects/{quote(subject, safe='')}/versions/latest")
        return None if found is None else self._written(found)

    def _written(self, found: Mapping[str, Any]) -> WrittenSchema:
        texts: dict[tuple[str, ...], tuple[str, str]] = {}
        self._refer(found, texts, frozenset())
        return WrittenSchema(_text(found), str(found.get("schemaType") or "AVRO"), tuple(texts.values()))

    def _refer(
        self, found: Mapping[str, Any], texts: dict[tuple[str, ...], tuple[str, str]], above: frozenset[Any]
    ) -> None:
        for reference in _references(found):
            place = (str(reference.get("subject")), str(reference.get("version")))
            # One version may be imported by several names, each a file of its own to a compiler.
            name = str(reference.get("name"))
            named = (*place, name)
            if named in texts:
                continue
            if place in above or len(above) + len(texts) >= _REFERENCES_MAX:
                raise SchemaRegistryError("schema registry", place[0], "has references in a circle, or too many")
            inner = self._get(f"/subjects/{quote(place[0], safe='')}/versions/{quote(place[1], safe='')}")
            if inner is None:
                raise SchemaRegistryError("schema registry", place[0], "is referred to and has no such version")
            self._refer(inner, texts, above | {place})
            texts[named] = (name, _text(inner))

    def _get(self, path: str) -> dict[str, Any] | None:
        """The object that a question is answered with; None where the registry does not have what is asked for."""
        found: dict[str, Any] | None = self._asked(path, dict)
        return found

    def _asked(self, path: str, kind: type) -> Any:
        """The answer to a question, of a kind; None where the registry does not have what is asked for."""
        import httpx

        problem: SchemaRegistryError | None = None
        for url in self.urls:
            try:
                with self._client(url) as client, client.stream("GET", f"{url.rstrip('/')}{path}") as answer:
                    return _answered(url, answer, kind, self.timeout_s)
            except SchemaRegistryError as error:
                problem = problem or error
            except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
                said = one_line(error) or type(error).__name__
                problem = problem or SchemaRegistryError("schema registry", url, f"does not answer: {said}")
        raise problem or SchemaRegistryError("schema registry", "without an address", "set schema_registry.url")

    @contextmanager
    def _client(self, url: str) -> Iterator[httpx.Client]:
        import httpx

        accepted = "application/vnd.schemaregistry.v1+json, application/json"
        headers = {"Accept": accepted, "Accept-Encoding": _IDENTITY}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        auth = None if self.username is None else (self.username, self.password or "")
        verify = self.tls() if url.lower().startswith("https:") else True
        with httpx.Client(headers=headers, auth=auth, timeout=self.timeout_s, verify=verify) as client:
            yield client

    def tls(self) -> ssl.SSLContext:
        """What TLS is spoken with; OSError where a file of it cannot be used."""
        import ssl

        import truststore

        context: ssl.SSLContext
        if self.ca_file is not None:
            context = ssl.create_default_context(cafile=str(self.ca_file))
        else:
            context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self.cert_file is not None:
            context.load_cert_chain(self.cert_file, self.key_file)
        return context


def _answered(url: str, answer: httpx.Response, kind: type, whole_s: float) -> Any:
    """Return the answer as JSON of a kind, None for what the registry does not have, or takes for no id or version.

    ``whole_s`` bounds the time for all.
    """
    encoding = answer.headers.get("Content-Encoding", _IDENTITY).strip().lower()
    if encoding != _IDENTITY:
        # A few bytes can inflate to any number of them.
        raise SchemaRegistryError("schema registry", url, f"answers in the encoding '{encoding[:40]}', not asked for")
    content, end_s = b"", time.monotonic() + whole_s
    for piece in answer.iter_raw():
        content += piece
        if time.monotonic() > end_s:
            raise SchemaRegistryError("schema registry", url, f"takes over {whole_s:g} s for one answer")
        if len(content) > _ANSWER_BYTES:
            raise SchemaRegistryError("schema registry", url, f"answers with more than {_ANSWER_BYTES >> 20} MiB")
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        said = None
    if answer.status_code == 200 and isinstance(said, kind):
        return said
    # A proxy that knows no such path says 404 too, and nothing of what the registry has.
    code = said.get("error_code") if isinstance(said, dict) else None
    if (answer.status_code == 404 and code in _NOT_THERE) or (answer.status_code == 422 and type(code) is int):
        return None
    if answer.status_code in (401, 403):
        remedy = f"refuses ({answer.status_code}): check username, password and token of [schema_registry]"
        raise SchemaRegistryError("schema registry", url, remedy)
    raise SchemaRegistryError(
        "schema registry", url, f"answers {answer.status_code}, and not as a schema registry does"
    )


def _references(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    references = found.get("references") or []
    if not isinstance(references, list) or not all(isinstance(one, dict) for one in references):
        shown = json.dumps(references)[:100]
        raise SchemaRegistryError("schema registry", shown, "is no list of references: is it a schema registry?")
    return references


def _text(found: Mapping[str, Any]) -> str:
    text = found.get("schema")
    if not isinstance(text, str):
        raise SchemaRegistryError("schema registry", "answer without a schema", "is it a schema registry?")
    return text
