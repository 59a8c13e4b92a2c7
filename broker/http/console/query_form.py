"""The form that adds or changes a query: the fields that it shows, and the conversion of the fields that a browser
sends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from broker.errors import QueryError
from broker.http.models import changed_body, new_query
from broker.queries.change import Alter
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import unknown_query

FIELDS = ("id", "stream", "where", "topic", "labels", "version", "layer")


def shown_fields(query: RegisteredQuery) -> dict[str, str]:
    """Return the fields of a standing query as the form shows them.

    They include the version of the query. If another change comes after the form was opened, the version differs, and
    the form's change is refused. They include the layer of a join, because its predicate is validated with the layer.
    """
    return {
        "id": query.id,
        "stream": query.stream,
        "where": query.where,
        "topic": query.topic,
        "labels": _labels_text(query.labels),
        "version": str(query.version),
        "layer": "" if query.join is None else query.join.layer,
    }


def new_fields(form: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a new query, in the form of a request body, from the fields of a form. Raise QueryError for
    invalid labels.
    """
    fields: dict[str, Any] = {"id": form.get("id", ""), "where": form.get("where", ""), "labels": _labels(form)}
    return {**fields, **{name: form[name] for name in ("stream", "topic") if form.get(name)}}


def altered(query_id: str, form: Mapping[str, str]) -> Alter:
    """Return the change of a standing query that a form requests.

    When the change is applied, it is refused if the version of the query differs from the version that the form showed.
    """

    def changed(standing: RegisteredQuery) -> dict[str, Any]:
        if form.get("version", "") != str(standing.version):
            remedy = "was changed by another since this form was opened: open it anew, and change that"
            raise QueryError("query", query_id[:250], remedy)
        # Browsers change the ends of lines, so texts are compared with equal line ends. A field that the user did not
        # edit stays unchanged.
        fields: dict[str, Any] = {}
        if _lines(form.get("where", "")) != _lines(standing.where):
            fields["where"] = form.get("where", "")
        if "topic" in form:
            fields["topic"] = form["topic"] or None
        if _lines(form.get("labels", "")) != _lines(_labels_text(standing.labels)):
            if len(_lines(_labels_text(standing.labels)).split("\n")) > max(1, len(standing.labels)):
                raise QueryError("labels", None, "have one that takes several lines: change them with 'asc query add'")
            fields["labels"] = _labels(form)
        return fields

    return alteration(query_id, changed)


def alteration(query_id: str, changed: Callable[[RegisteredQuery], Mapping[str, Any]]) -> Alter:
    """Return a change of some fields of a standing query. ``changed``: a function that gets the current query when the
    change is applied, and returns the new values of these fields.
    """

    def made(standing: RegisteredQuery | None) -> RegisteredQuery:
        if standing is None:
            raise unknown_query(query_id)
        if standing.unreadable is not None:
            raise QueryError("query", query_id[:250], f"cannot be changed here: {standing.unreadable}")
        return new_query(changed_body(standing, changed(standing)), standing.stream)

    return Alter(query_id, made)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _labels_text(labels: Mapping[str, str]) -> str:
    return "\n".join(f"{key}={value}" for key, value in labels.items())


def _labels(form: Mapping[str, str]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for line in _lines(form.get("labels", "")).split("\n"):
        key, equals, value = line.partition("=")
        if line.strip() and not (equals and key.strip()):
            raise QueryError("label", line.strip()[:200], "write key=value, one a line")
        if line.strip():
            labels[key] = value
    return labels
