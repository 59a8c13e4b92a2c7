"""What a reader sees around a sentence of a page."""

from __future__ import annotations

import pytest

from tools.prose.surroundings import placed_passages

PAGE = """# Page

Text of `code`. It runs if:

- the first
  item. More
  - inside it

  a paragraph of the item
- the second

## Part one

1. alone

| key | | meaning `x` |
|---|---|---|
| a | b | It is c. |
| | d | [e](f.md) |

| other | of two |
|---|---|
| g | h |

### Deep

```
# no heading
```

## Part two

Last.
"""


def surroundings(text: str) -> tuple[str, ...]:
    (found,) = (
        placed.surroundings
        for placed in placed_passages(PAGE)
        if text in (sentence.text for sentence in placed.sentences)
    )
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Page", ()),
        ("Text of `code`.", ("Page",)),
        ("More", ("Page", "It runs if:")),
        ("inside it", ("Page", "More")),
        ("a paragraph of the item", ("Page",)),
        ("the second", ("Page", "It runs if:")),
        ("Part one", ("Page",)),
        ("alone", ("Page > Part one",)),
        ("key", ("Page > Part one", "key; meaning `x`")),
        ("It is c.", ("Page > Part one", "key: a; b; meaning `x`: It is c.")),
        ("e", ("Page > Part one", "d; meaning `x`: e")),
        ("h", ("Page > Part one", "other: g; of two: h")),
        ("Deep", ("Page > Part one",)),
        ("Part two", ("Page",)),
        ("Last.", ("Page > Part two",)),
    ],
)
def test_surroundings(text: str, expected: tuple[str, ...]) -> None:
    found = surroundings(text)
    assert tuple(" ".join(line.split()) for line in found) == expected
