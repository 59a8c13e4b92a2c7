"""What is raised is one line, and missing data is told from all else."""

from __future__ import annotations

import pytest

from asc.errors import AscError
from tools.audit.errors import AuditError, NoDataError


def test_missing_data_is_an_error_of_the_audit() -> None:
    with pytest.raises(AuditError, match=r"^OSV 'https://x': cannot be asked$") as raised:
        raise NoDataError("OSV", "https://x", "cannot be asked")
    assert isinstance(raised.value, AscError)
