"""Dead letters looked at, and sent again, in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from fastapi.testclient import TestClient

from broker.errors import KafkaError
from broker.kafka.last_records import last_records
from tests.broker.http.console.page_text import page_text

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

Browse = Callable[[str], TestClient]


def test_dead_letters_are_shown_and_one_is_sent_again(
    browse: Browse, resting: Resting, send_to: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    client, name = browse("all"), resting.stream("json")
    stream = resting.streams()[name]
    source = stream.config.topic
    page = client.get("/console/dead-letters", params={"stream": name}).text
    assert f"The last ones in topic {stream.dead_letter_topic}" in page_text(page)
    (part,) = re.findall(r'hx-get="([^"]*)"', page)
    assert f"asc dead-letter list --stream {name}." in page_text(client.get(part).text)
    send_to(source, b"before")
    letter = send_to(
        stream.dead_letter_topic,
        b"<n>",
        key=b"k",
        headers=[("trace", b"1"), ("asc-error", b"value is <no> JSON"), ("asc-source", f"{source}-0-7".encode())],
    )
    excess = [("asc-error", b"record for topic late takes 2000000 bytes"), ("asc-source", f"{source}-0-8".encode())]
    cut = send_to(stream.dead_letter_topic, None, key=b"k", headers=excess)
    place, cut_place = (each.removeprefix(f"{stream.dead_letter_topic}-") for each in (letter, cut))
    page = client.get(part).text
    assert "value is &lt;no&gt; JSON" in page
    assert "&lt;n&gt;" in page
    assert f'<a href="/console/trace?source={source}-0-7">' in page
    # Of what is not there as a whole, nothing can be sent.
    assert re.findall(r'aria-label="Send ([0-9-]+) again"', page) == [place]

    def replay(token: str, at: str) -> tuple[int, str]:
        answer = browse(token).post("/console/dead-letters/replay", data={"stream": name, "place": at})
        return answer.status_code, answer.headers.get("location", answer.text)

    assert replay("all", place) == (303, f"/console/dead-letters?stream={name}&sent={place}")
    sent = last_records(resting.cluster.client, source, 10, most_bytes=1000, within_s=10)[-1]
    assert (sent.key, sent.value, [tuple(header) for header in sent.headers]) == (b"k", b"<n>", [("trace", b"1")])
    for at, said in ((cut_place, "is not there"), ("0-999999", "is not there"), ("x", "PARTITION-OFFSET")):
        status, text = replay("all", at)
        assert (status, said in text) == (400, True)
    caplog.set_level("INFO", "asc.audit")
    refused = {"reader": "may only read", "ops": "does not see", "column": "may not name", "elsewhere": "begin with"}
    for token, said in refused.items():
        caplog.clear()
        assert replay(token, place)[0] == 403
        (line,) = (json.loads(each.getMessage()) for each in caplog.records if each.name == "asc.audit")
        assert (line["verb"], line["dead_letter"], line["outcome"]) == ("replay", place, "refused")
        assert said in line["error"]
    assert browse("ops").get("/console/dead-letters").status_code == 403
    assert len(last_records(resting.cluster.client, source, 10, most_bytes=1000, within_s=10)) == 2
    assert browse("ops").get(part).status_code == 403
    for token in ("reader", "elsewhere"):
        assert "Send again" not in browse(token).get(part).text
    assert "was sent to the source topic again" in client.get(replay("all", place)[1]).text


def test_reasons_are_shown_while_kafka_is_down(
    browse: Browse, resting: Resting, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = resting.stream("json")

    def down(*_: object, **__: object) -> None:
        raise KafkaError("Kafka", "127.0.0.1:9", "does not answer")

    monkeypatch.setattr("broker.http.console.dead_letters.last_records", down)
    page = browse("all").get("/console/dead-letters", params={"stream": name})
    assert (page.status_code, "Reasons since the daemon began" in page.text) == (200, True)
    part = browse("all").get("/console/dead-letters/last", params={"stream": name}, headers={"HX-Request": "true"})
    assert "does not answer" in part.text
