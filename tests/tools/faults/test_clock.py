"""The clock of a process that is set back: both of Python's clocks, and what is compared with them."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import os, time
from datetime import datetime, timedelta, timezone
from broker.http.models import QueryBody, new_query
from broker.queries.query_set import QuerySet
from broker.queries import query_state
from broker.queries.query_state import _now
from tools.faults.clock import set_back

set_back(0.1, 3600.0)
truly = os.stat(__import__("tempfile").mkstemp()[1]).st_mtime
deadline = time.monotonic() + 30
while time.time() > truly - 1800 and time.monotonic() < deadline:
    time.sleep(0.01)
print(round((truly - time.time()) / 3600), round((truly - _now().timestamp()) / 3600))
expires_at = datetime.fromtimestamp(truly - 60, timezone.utc).isoformat()
body = QueryBody.model_validate({"id": "q", "where": "TRUE", "expires_at": expires_at})
query = new_query(body, "s")
print(isinstance(query.expires_at, query_state.datetime), QuerySet({"q": query}).expired(_now()))
print(QuerySet({"q": query}).expired(_now() + timedelta(hours=1)))
"""


def test_what_has_expired_has_not_once_the_clock_is_set_back() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False)
    assert ended.stderr == "the clock was set back\n"
    assert ended.stdout.splitlines() == ["1 1", "True []", "['q']"]
