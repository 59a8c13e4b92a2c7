"""Client of a schema registry with Confluent's API: the schemas of writers, by id and by subject."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from broker.errors import SchemaAccessError, SchemaAnswerError, SchemaRegistryError
from broker.failure import one_line
from broker.formats.bounded_question import Line, answer_within

if TYPE_CHECKING:
    import ssl

    import httpx

_IDENTITY = "identity"

_ANSWER_BYTES = 4 << 20
"""The largest accepted answer of a schema registry, in bytes."""

_REFERENCES_MAX = 100
"""The largest number of schemas to which one schema may refer, directly or through others."""

_REFERENCES_BYTES_MAX = 2 << 20
"""The largest total text of the schemas to which one schema refers, in bytes. No format accepts more."""

_TIMEOUTS_A_SCHEMA_MAX = 6
"""The time for a schema with all its references, as a multiple of the timeout of one answer."""

_NOT_THERE = frozenset([40401, 40402, 40403])
"""Error codes of a registry for a subject, version or schema that does not exist."""

_SUBJECTS = "/subjects?offset=0&limit=1"
"""A request that reads stored data, but no particular schema. Older registries, and other products, answer with all
subjects despite the limit.
"""

_TYPES = "/schemas/types"
"""A request that uses no stored data, for callers who may not list subjects."""


@dataclass(frozen=True, slots=True)
class WrittenSchema:
    """A schema from the registry: its text, its type (AVRO, PROTOBUF, JSON), and the schemas that it refers to.

    A reference is the name that this schema uses and the text of the other schema. Each reference comes after the
    references that its own schema needs.
    """

    text: str
    kind: str = "AVRO"
    references: tuple[tuple[str, str], ...] = ()

    def digest(self) -> bytes:
        """Return a digest that is equal for equal schemas only."""
        return hashlib.sha256(repr((self.text, self.kind, self.references)).encode()).digest()


@dataclass(slots=True)
class _Asking:
    """The state of the requests for one schema: the addresses, beginning with the one that answered last, and the
    deadline by the monotonic clock.
    """

    urls: list[str]
    end_s: float


@dataclass(frozen=True, slots=True)
class SchemaRegistry:
    """The addresses and the login of a schema registry. Immutable; each request opens its own connections.

    ``urls``: addresses of the same registry, tried in order until one answers. ``username`` and ``password``, or
    ``token``, are sent with every request. Cost: some milliseconds per schema; callers cache the schemas.
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
        """Return the schema with an id. Return None if the registry says that no such schema exists or that the id is
        invalid.

        Raise SchemaRegistryError if the registry does not answer; then no schema is known. Raise SchemaAnswerError if
        it answers another request, but not this one.
        """
        try:
            return self._schema_at(f"/schemas/ids/{schema_id}")
        except SchemaRegistryError as error:
            if not self.answers():
                raise
            raise SchemaAnswerError("schema", schema_id, f"is not answered for: {error}", [schema_id]) from error

    def answers(self) -> bool:
        """Return whether the registry answers a request that reads its stored data, but no particular schema. After a
        failed request for a schema, the result shows whether only this schema is the cause.

        If the caller may not send that request, send a request for the registry's schema types.
        """
        asking = self._asking()
        try:
            try:
                self._asked(_SUBJECTS, _is_list, asking)
            except SchemaAccessError:
                self._asked(_TYPES, _is_list, asking)
        except SchemaRegistryError:
            return False
        return True

    def latest(self, subject: str) -> WrittenSchema | None:
        """Return the last version of a subject. Return None if the subject does not exist. Raise
        SchemaRegistryError.
        """
        return self._schema_at(f"/subjects/{quote(subject, safe='')}/versions/latest")

    def _schema_at(self, path: str) -> WrittenSchema | None:
        asking = self._asking()
        answer = self._asked(path, _object, asking)
        if answer is None:
            return None
        texts: dict[tuple[str, int, str], str] = {}
        self._refer(answer, texts, frozenset(), asking)
        references = tuple((name, text) for (_, _, name), text in texts.items())
        return WrittenSchema(_text(answer, "schema"), _text(answer, "schemaType", "AVRO"), references)

    def _refer(
        self,
        found: Mapping[str, Any],
        texts: dict[tuple[str, int, str], str],
        above: frozenset[tuple[str, int]],
        asking: _Asking,
    ) -> None:
        for subject, version, name in _references(found):
            # One version may be imported by several names. To a compiler, each name is a separate file.
            if (subject, version, name) in texts:
                continue
            if (subject, version) in above or len(above) + len(texts) >= _REFERENCES_MAX:
                raise SchemaRegistryError("schema registry", subject, "has references in a circle, or too many")
            inner = self._asked(f"/subjects/{quote(subject, safe='')}/versions/{version}", _object, asking)
            if inner is None:
                raise SchemaRegistryError("schema registry", subject, "is referred to and has no such version")
            self._refer(inner, texts, above | {(subject, version)}, asking)
            texts[subject, version, name] = _text(inner, "schema")
            if sum(len(text.encode()) for text in texts.values()) > _REFERENCES_BYTES_MAX:
                detail = f"is referred to, and makes more than {_REFERENCES_BYTES_MAX >> 20} MiB with the others"
                raise SchemaRegistryError("schema registry", subject, detail)

    def _asking(self) -> _Asking:
        return _Asking(list(self.urls), time.monotonic() + _TIMEOUTS_A_SCHEMA_MAX * self.timeout_s)

    def _asked(self, path: str, read: Callable[[str, httpx.Response], Any], asking: _Asking) -> Any:
        """Return the part of an answer that ``read`` extracts. Raise SchemaRegistryError if no address answers in
        time.
        """
        import httpx

        problem: SchemaRegistryError | None = None
        for url in tuple(asking.urls):
            whole_s = min(self.timeout_s, asking.end_s - time.monotonic())
            if whole_s <= 0:
                break
            ask = partial(self._answer, url, path, read, whole_s)
            try:
                answer = answer_within(whole_s, ask)
            except SchemaRegistryError as error:
                problem = problem or error
            except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
                said = one_line(error) or type(error).__name__
                problem = problem or SchemaRegistryError("schema registry", url, f"does not answer: {said}")
            else:
                if answer is not None:
                    asking.urls.remove(url)
                    asking.urls.insert(0, url)
                    return answer[0]
                said = f"does not answer: it takes over {whole_s:.3g} s for one answer"
                problem = problem or SchemaRegistryError("schema registry", url, said)
        if problem is None and self.urls:
            detail = f"takes over {_TIMEOUTS_A_SCHEMA_MAX} times its timeout for a schema and what it refers to"
            problem = SchemaRegistryError("schema registry", self.urls[0], detail)
        raise problem or SchemaRegistryError("schema registry", "without an address", "set schema_registry.url")

    def _answer(
        self, url: str, path: str, read: Callable[[str, httpx.Response], Any], whole_s: float, line: Line
    ) -> tuple[Any]:
        with (
            self._client(url, whole_s) as client,
            client.stream("GET", f"{url.rstrip('/')}{path}", extensions={"trace": line.traced}) as answer,
        ):
            encoding = answer.headers.get("Content-Encoding", _IDENTITY).strip().lower()
            if encoding != _IDENTITY:
                # A few bytes can inflate to any number of them.
                said = f"answers in the encoding '{encoding[:40]}', not asked for"
                raise SchemaRegistryError("schema registry", url, said)
            return (read(url, answer),)

    @contextmanager
    def _client(self, url: str, timeout_s: float) -> Iterator[httpx.Client]:
        import httpx

        accepted = "application/vnd.schemaregistry.v1+json, application/json"
        headers = {"Accept": accepted, "Accept-Encoding": _IDENTITY}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        auth = None if self.username is None else (self.username, self.password or "")
        verify = self.tls() if url.lower().startswith("https:") else True
        with httpx.Client(headers=headers, auth=auth, timeout=timeout_s, verify=verify) as client:
            yield client

    def tls(self) -> ssl.SSLContext:
        """Return the TLS context for connections. Raise OSError if one of its files cannot be used."""
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


def _object(url: str, answer: httpx.Response) -> dict[str, Any] | None:
    """Return the JSON object of an answer. Return None if the registry lacks the object, or the id or version is
    invalid.
    """
    content = b""
    for piece in answer.iter_raw():
        content += piece
        if len(content) > _ANSWER_BYTES:
            raise SchemaRegistryError("schema registry", url, f"answers with more than {_ANSWER_BYTES >> 20} MiB")
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        said = None
    if answer.status_code == 200 and isinstance(said, dict):
        return said
    # A proxy that knows no such path says 404 too, and nothing of what the registry has.
    code = said.get("error_code") if isinstance(said, dict) else None
    if (answer.status_code == 404 and code in _NOT_THERE) or (answer.status_code == 422 and type(code) is int):
        return None
    raise _no_answer(url, answer)


def _is_list(url: str, answer: httpx.Response) -> bool:
    """Return whether the answer is a list. Only its beginning is read, because a list may have any length."""
    if answer.status_code == 200 and next(answer.iter_raw(), b"").lstrip().startswith(b"["):
        return True
    raise _no_answer(url, answer)


def _no_answer(url: str, answer: httpx.Response) -> SchemaRegistryError:
    if answer.status_code in (401, 403):
        remedy = f"refuses ({answer.status_code}): check username, password and token of [schema_registry]"
        return SchemaAccessError("schema registry", url, remedy)
    return SchemaRegistryError(
        "schema registry", url, f"answers {answer.status_code}, and not as a schema registry does"
    )


def _references(found: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    """Yield the subject, the version and the name of each reference."""
    references = found.get("references") or []
    wrong = SchemaRegistryError(
        "schema registry",
        "references",
        "is no list of references with name, subject, version: is it a schema registry?",
    )
    if not isinstance(references, list):
        raise wrong
    for one in references:
        if not isinstance(one, dict) or type(one.get("version")) is not int:
            raise wrong
        if not (_is_text(one.get("subject")) and _is_text(one.get("name"))):
            raise wrong
        yield one["subject"], one["version"], one["name"]


def _text(found: Mapping[str, Any], key: str, default: str | None = None) -> str:
    text = found.get(key)
    if not text and default is not None:
        text = default
    if not _is_text(text):
        raise SchemaRegistryError("schema registry", f"answer without a {key}", "is it a schema registry?")
    return str(text)


def _is_text(value: object) -> bool:
    """Return whether a value is a text without lone surrogates, which JSON can spell."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False
