"""Who gets in, how long, and where to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from broker.access.access import Access
from broker.access.audit import Audit
from broker.config.config import parse_config
from broker.config.sections import ApiConfig
from broker.daemon.daemon import Daemon
from broker.http.app import create_app

OWN = "http://broker:8080"
Browser = Callable[..., TestClient]


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    """A browser that is not logged in, at the console of a daemon that has not started."""
    config = parse_config(
        {
            "spark": {"checkpoint_dir": str(tmp_path)},
            "streams": {"s": {"topic": "s", "format": "json", "schema": "n INT"}},
        }
    )

    def of(token: str | None = "secret", url: str = OWN) -> TestClient:
        app = create_app(Daemon(config), Access(token), ApiConfig(), Audit())
        return TestClient(app, base_url=url, headers={"Origin": url}, follow_redirects=False)

    return of


def log_in(client: TestClient, token: str = "secret", **form: str) -> tuple[int, str | None]:
    answer = client.post("/console/login", data={"token": token, **form})
    return answer.status_code, answer.headers.get("location")


def test_one_who_is_not_logged_in_is_sent_to_the_login_and_back(browser: Browser) -> None:
    client = browser()
    answer = client.get("/console/queries?text=late&stream=s")
    assert answer.status_code == 303
    where = answer.headers["location"]
    assert where == "/console/login?next=%2Fconsole%2Fqueries%3Ftext%3Dlate%26stream%3Ds"
    page = client.get(where)
    assert page.status_code == 200
    assert 'name="next" value="/console/queries?text=late&amp;stream=s"' in page.text
    assert log_in(client, next="/console/queries?text=late&stream=s") == (303, "/console/queries?text=late&stream=s")
    assert client.get("/console/").status_code == 200
    assert client.get("/").headers["location"] == "/console/"


@pytest.mark.parametrize("token", ["wrong", "", "secret2", "sécret"])
def test_a_wrong_token_is_told_and_opens_nothing(browser: Browser, token: str) -> None:
    client = browser()
    answer = client.post("/console/login", data={"token": token})
    assert answer.status_code == 401
    assert "token: is wrong, or was taken back" in answer.text
    assert "set-cookie" not in answer.headers
    assert client.get("/console/").status_code == 303


@pytest.mark.parametrize(
    "wanted",
    [
        "//elsewhere/console/",
        "https://elsewhere/console/",
        "/console/../metrics",
        "/console/\\\\x",
        "/console/\r\nX: y",
    ],
    ids=["slashes", "host", "dots", "backslash", "line"],
)
def test_a_login_leads_to_the_console_alone(browser: Browser, wanted: str) -> None:
    assert log_in(browser(), next=wanted) == (303, "/console/")


def test_the_cookie_is_for_this_browser_and_no_script(browser: Browser) -> None:
    for url, is_secure in ((OWN, False), ("https://broker:8080", True)):
        answer = browser(url=url).post("/console/login", data={"token": "secret"})
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        # How long it is idle counts, and not how old it is.
        assert "max-age" not in cookie
        assert "expires" not in cookie
        assert ("; secure" in cookie) == is_secure
        assert "secret" not in cookie.replace("; secure", "")


def test_a_session_is_for_the_pages_alone(browser: Browser) -> None:
    client = browser()
    log_in(client)
    for path in ("/v1/queries", "/v1/plan", "/metrics", "/docs", "/openapi.json"):
        assert client.get(path).status_code == 401
    assert client.post("/v1/queries", json={"where": "n > 1"}).status_code == 401
    # And the API's header opens a page as well: who has a token may look.
    other = browser()
    assert other.get("/console/", headers={"Authorization": "Bearer secret"}).status_code == 200
    assert other.get("/console/", headers={"Authorization": "Bearer wrong"}).status_code == 303


def test_logging_out_ends_it(browser: Browser) -> None:
    client = browser()
    log_in(client)
    cookie = client.cookies["asc_session_8080"]
    assert client.post("/console/logout", data={"x": ""}).headers["location"] == "/console/login"
    client.cookies.set("asc_session_8080", cookie)
    assert client.get("/console/").status_code == 303


@pytest.mark.parametrize("origin", [None, "null", "http://elsewhere", "https://broker:8080.elsewhere", "http://["])
def test_a_form_of_another_page_changes_nothing(browser: Browser, origin: str | None) -> None:
    client = browser()
    log_in(client)
    for path in ("/console/logout", "/console/query/new", "/console/dead-letters/replay", "/console/login"):
        headers = {} if origin is None else {"Origin": origin}
        if origin is None:
            client.headers.pop("origin", None)
        answer = client.post(path, data={"token": "secret"}, headers=headers)
        assert answer.status_code == 403, path
        assert "header Origin" in answer.text
    assert client.get("/console/").status_code == 200


def test_what_is_refused_is_told_on_a_page(browser: Browser) -> None:
    client = browser()
    over = client.post("/console/query/pause/late", data={"paused": "yes"})
    log_in(client)
    wrong = client.get("/console/plan/s/abc")
    unlike = client.post("/console/query/new", json={"where": "n > 1"})
    for answer, status, said in ((over, 401, "log in at"), (wrong, 400, "number"), (unlike, 415, "Content-Type")):
        assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
        assert said in answer.text
        assert "To the overview" in answer.text
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    # The API is no browser's.
    assert client.post("/v1/check", json={"where": "n > 1"}).json()["error"]["subject"] == "bearer token"


FOREIGN = {"Sec-Fetch-Site": "cross-site"}
PICTURE = {**FOREIGN, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
WINDOW = {**FOREIGN, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/console/trace/records", PICTURE, 403),
        ("/console/", PICTURE, 403),
        ("/console/", {**WINDOW, "Sec-Fetch-Dest": "iframe"}, 403),
        ("/console/trace?source=s-0-1", WINDOW, 403),
        ("/console/", WINDOW, 200),
        ("/", WINDOW, 303),
        ("/console/trace", {**WINDOW, "Sec-Fetch-Site": "same-origin"}, 503),
        ("/console/trace", {**WINDOW, "Sec-Fetch-Site": "none"}, 503),
        ("/console/trace", {}, 503),
    ],
)
def test_where_no_token_is_asked_for_another_site_opens_the_first_page_alone(
    browser: Browser, path: str, headers: dict[str, str], status: int
) -> None:
    answer = browser(None, "http://127.0.0.1:8080").get(path, headers=headers)
    assert answer.status_code == status
    assert ("Sec-Fetch-Site" in answer.text) == (status == 403)


def test_a_form_is_no_json(browser: Browser) -> None:
    client = browser()
    log_in(client)
    assert client.post("/console/query/new", json={"where": "n > 1"}).status_code == 415


def test_a_part_of_a_page_has_the_browser_go_to_the_login(browser: Browser) -> None:
    answer = browser().get("/console/live", headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["hx-redirect"]) == (401, "/console/login")


def test_where_no_token_is_asked_for_nobody_logs_in(browser: Browser) -> None:
    client = browser(None, "http://127.0.0.1:8080")
    assert client.get("/console/login").headers["location"] == "/console/"
    page = client.get("/console/")
    assert page.status_code == 200
    assert "Log out" not in page.text
    # A name that was made to mean this machine is none.
    assert browser(None, OWN).get("/console/").status_code == 403


def test_a_login_at_one_port_leaves_that_at_another(browser: Browser) -> None:
    one, other = browser(url="http://broker:8080"), browser(url="http://broker:8081")
    for client in (one, other):
        log_in(client)
    # A browser keeps the cookies of a host together.
    together = "; ".join(f"{name}={value}" for client in (one, other) for name, value in client.cookies.items())
    for client in (one, other):
        client.cookies.clear()
        assert client.get("/console/", headers={"Cookie": together}).status_code == 200
