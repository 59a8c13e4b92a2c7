"""Options of functions that read and write documents."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from asc.predicate.expressions.expression import Expression


@pytest.mark.parametrize(
    "text",
    [
        "from_json(s, 'a INT', map('mode', 'PERMISSIVE', 'AllowComments', 'TRUE'))",
        "from_json(s, 'a TIMESTAMP', map('timestampFormat', 'dd/MM/yyyy', 'timeZone', 'Europe/Berlin'))",
        "to_json(place, map('pretty', 'true', 'dateFormat', 'QQQ'))",
        "from_csv(s, 'a INT', map('sep', '|', 'quote', '\"'))",
        "to_xml(place, map('rowTag', 'row'))",
    ],
)
def test_options_that_are_known(text: str, expression_of: Callable[[str], Expression]) -> None:
    assert "map(" in expression_of(text).sql


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("from_json(s, 'a INT', map('mode', 'FAILFAST'))", "'mode' of from_json: 'FAILFAST': is not one of its values"),
        ("from_json(s, 'a INT', map('primitivesAsString', 'yes'))", "is not one of its values"),
        ("from_json(s, 'a INT', map('nonsense', 'x'))", "from_json has no option 'nonsense' here"),
        ("from_json(s, 'a INT', map('encoding', 'UTF-8'))", "has no option 'encoding'"),
        ("from_json(s, 'a DATE', map('dateFormat', 'YYYY'))", "no letter Y"),
        ("from_json(s, 'a DATE', map('dateFormat', 'QQQ'))", "to read with has no letter Q"),
        ("from_json(s, 'a DATE', map('timeZone', 'nowhere'))", "is no time zone"),
        ("from_json(s, 'a INT', map('mode', t))", "must be constant strings"),
        ("from_json(s, 'a INT', map('mode', 'PERMISSIVE', 'MODE', 'PERMISSIVE'))", "must be constant strings"),
        ("from_json(s, 'a INT', map())", "must be constant strings"),
        ("from_json(s, 'a INT', labels)", "must be constant strings"),
        ("from_json(s, 'a INT', 'mode')", "not a map"),
        ("from_csv(s, 'a INT', map('sep', '||'))", "is not one of its values"),
        ("to_xml(place, map('rowTag', '<'))", "is not one of its values"),
    ],
)
def test_options_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)
