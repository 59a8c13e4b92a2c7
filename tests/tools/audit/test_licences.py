"""Names, addresses and texts of licences become SPDX expressions, or nothing where they may be several."""

from __future__ import annotations

import pytest

from tools.audit.licences import alternatives, from_choice, from_expression, from_name, from_text

MIT = """Copyright (c) someone

Permission is hereby granted, free of charge, to any person obtaining a copy of this software, to deal in it without
restriction, provided that the above copyright notice and this permission notice are included in all copies."""
BSD2 = """Redistribution and use in source and binary forms are permitted.
THIS SOFTWARE IS PROVIDED BY THE AUTHOR"""


@pytest.mark.parametrize(
    ("name", "licence"),
    [
        ("Apache License, Version 2.0", "Apache-2.0"),
        ("The Apache  Software License, Version 2.0 ", "Apache-2.0"),
        ("http://www.apache.org/licenses/LICENSE-2.0.html;description=Apache 2.0 License", "Apache-2.0"),
        ("http://www.eclipse.org/org/documents/edl-v10.php", "BSD-3-Clause"),
        ("EPL-2.0", "EPL-2.0"),
        ("BSD", None),
        ("BSD License", None),
        ("MIT License or so", None),
        ("", None),
    ],
)
def test_names(name: str, licence: str | None) -> None:
    assert from_name(name) == licence


def test_expressions_are_spelled_as_spdx_does() -> None:
    assert from_expression("mit  AND (apache-2.0 or bsd-3-clause)") == "MIT AND (Apache-2.0 OR BSD-3-Clause)"
    assert from_expression("MIT OR Unheard-1.0") is None


def test_a_choice_with_an_unknown_name_is_unknown() -> None:
    assert from_choice(["MIT", "Apache 2.0"]) == "MIT OR Apache-2.0"
    assert from_choice(["MIT", "my own"]) is None
    assert from_choice([]) is None


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("\n     Apache License\n   Version 2.0, January 2004\n", "Apache-2.0"),
        ("/* ====\n * The Apache Software License, Version 1.1\n *", "Apache-1.1"),
        (MIT, "MIT"),
        (BSD2, "BSD-2-Clause"),
        (BSD2.replace("THIS", "Neither the name of the author may be used.\nTHIS"), "BSD-3-Clause"),
        ("All rights reserved.", None),
        ("x" * 4000 + MIT, None),
    ],
)
def test_texts(text: str, licence: str | None) -> None:
    assert from_text(text) == licence


def test_each_way_to_keep_to_an_expression() -> None:
    assert alternatives("MIT") == [frozenset({"MIT"})]
    assert set(alternatives("Apache-2.0 OR (MIT AND Zlib)")) == {frozenset({"Apache-2.0"}), frozenset({"MIT", "Zlib"})}
