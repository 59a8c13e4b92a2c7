"""The pictures of how it works are what the engine makes of that page."""

from __future__ import annotations

import re
from pathlib import Path

from tools.release.explained import IMAGES, PAGE, main, pictures


def label(text: str) -> str:
    found = re.search(r'aria-label="([^"]*)"', text)
    assert found is not None
    return found[1]


def test_the_pictures_are_those_of_the_page() -> None:
    drawn = pictures(PAGE.read_text("utf-8"))
    assert set(drawn) == {"constructs.svg", "way-t1.svg", "way-t2.svg"}
    for name, text in drawn.items():
        assert (IMAGES / name).read_text("utf-8") == text, "run python -m tools.release.explained"


def test_they_say_what_the_page_says() -> None:
    drawn = pictures(PAGE.read_text("utf-8"))
    assert label(drawn["way-t1.svg"]) == (
        "after A1 = 40: 1101; after A2 = 40: 1000; after A3 = 20: 0000. t1 is dropped: nothing is left"
    )
    assert label(drawn["way-t2.svg"]).endswith("after A4 = 80: 0001. t2 is accepted by q4")
    assert drawn["constructs.svg"].count("<rect x=") == 4 * 6 * (1 + 4)


def test_another_page_has_other_pictures() -> None:
    page = "| q1 | `A1 > 5` |\n| t9 | 6 | 0 | 0 | 0 |\n"
    assert label(pictures(page)["way-t9.svg"]) == "after A1 = 6: 1. t9 is accepted by q1"


def test_they_are_written_where_one_says(tmp_path: Path) -> None:
    assert main(["--out", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"constructs.svg", "way-t1.svg", "way-t2.svg"}
