"""Comments of a file: joined over lines, without those for tools, and none in strings."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

import pytest

import tools
from tools.prose.comments import comments

ROOT = Path(tools.__file__).parents[1]
SOURCE = r"""#!/usr/bin/env python3
# A sentence on
# two lines.
x = 1  # After code.
y = 2  # After other code,
#        in a column, and an indented line.
z = [  # type: ignore
    # Another column.
    "# no comment", '''
# None either, and a quote: "
''', r"\\", f"{x!r} # none"  # noqa: E501
]

# A paragraph.
#
# noqa: E501
# | a | row |
# one   two   three
# Last
"""


def test_consecutive_lines_of_one_column_are_one_comment() -> None:
    found = [(comment.line, comment.text) for comment in comments(SOURCE) if comment.text]
    assert found == [
        (1, "\nA sentence on\ntwo lines."),
        (4, "After code."),
        (5, "After other code,"),
        (6, "       in a column, and an indented line."),
        (8, "Another column."),
        (14, "A paragraph.\n\n\n\n\nLast"),
    ]


@pytest.mark.parametrize("folder", ["asc/predicate", "broker/stream", "tools"])
def test_the_comments_are_those_of_the_tokenizer(folder: str) -> None:
    for file in (ROOT / folder).rglob("*.py"):
        source = file.read_text("utf-8")
        expected = [
            token.start
            for token in tokenize.generate_tokens(io.StringIO(source).readline)
            if token.type == tokenize.COMMENT
        ]
        assert [
            (comment.line + number, comment.column)
            for comment in comments(source)
            for number in range(len(comment.lines))
        ] == expected, file


def test_a_string_of_any_form_holds_no_comment() -> None:
    source = "\n".join(
        ["''", '""', "'''#'''", r"'\'#'", r'"\\"', '"""a"" # \\""" # """', "'\\\n#'", "b'#'", 'rf"#{x}"', '""""#"""']
    )
    ast.parse(source)
    assert list(comments(source + "  # One.")) == list(comments("\n" * source.count("\n") + " " * 8 + "  # One."))
