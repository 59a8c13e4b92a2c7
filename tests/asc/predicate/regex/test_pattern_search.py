"""Regular expressions in the spelling that Spark seeks them in."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

import pytest

from asc.predicate.regex.pattern_search import Search, Use, search
from asc.predicate.regex.pattern_tree import Anchor, Atom, Choice, Group, Look, Part, Repeat, Run
from asc.predicate.regex.regular_expression import regular_expression

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WHOLE = r"(?![\x{dc00}-\x{dfff}])"


@pytest.mark.parametrize(
    ("pattern", "test"),
    [
        ("error|warning", "error|warning"),
        ("foo\\s*=\\s*bar", "foo\\s*=\\s*bar"),
        ("[a-z]+b", "[a-z]b"),
        (".*foo.*", "foo"),
        ("\\s+$|^\\s+", "\\s$|^\\s"),
        ("((\\d+)?[a-z]+x)", "[a-z]x"),
        ("error.*timeout", f"(?<!.){WHOLE}(?>.*?error).*timeout"),
        ("(ab|c).+d{2,}.*e?f", f"(?<!.){WHOLE}(?>.*?(?:ab|c).)(?>.*?d{{2}}).*f"),
        ("id=(\\d+) .*x", f"(?<!.){WHOLE}(?>.*?id=\\d+ ).*x"),
        ("a[a-c]*b", "(?<![a-c])(?>[a-c]*?a)[a-c]*b"),
        ("^.*a.*b", "^(?>.*?a).*b"),
        ("^x?.*a.*b", "^x?(?>.*?a).*b"),
        ("^\\w+ .*a.*b", "^(?>\\w+ )(?>.*?a).*b"),
        ("a.*\\d*.*b", f"(?<!.){WHOLE}(?>.*?a).*b"),
        ("error.*?timeout", f"(?<!.){WHOLE}(?>.*?error).*timeout"),
        ("(?i)ab+?", "[aA][bB]+"),
        ("x{2,3}?y??z", "x{2,3}y?z"),
        ("(?<!\\d)[a-c](?=\\d|$)", "(?<!\\d)[a-c](?=\\d|$)"),
        ("^(?=.*a)(?!.*debug)", "^(?=.*a)(?!.*debug)"),
    ],
)
def test_whether_there_is_a_match(pattern: str, test: str) -> None:
    assert search(pattern, Use.TEST).pattern == test


def test_a_head_that_may_be_of_several_lines() -> None:
    inside, ends = "[\\x{61}-\\x{62}]", "[\\x{a}-\\x{a}]"
    start = "(?<![ab])(?>[ab]*?a"
    assert search("a[ab\\n][ab]*b", Use.TEST).pattern == f"{start}{inside})[ab]*b|a{ends}[ab]*b"
    assert search("x[ab\\n]+,[abx,]*b", Use.TEST).pattern == (
        f"(?<![abx,])(?>[abx,]*?x{inside}+,)[abx,]*b|x[ab\\n]*{ends}{inside}*,[abx,]*b"
    )
    assert search("https?://[^/]+/.*x", Use.TEST).steps < 50


@pytest.mark.parametrize(
    ("pattern", "use", "group", "sought"),
    [
        ("(\\d+)-x", Use.GROUP, 1, ("((?<!\\d)\\d+)-x", 1)),
        ("(\\d+)?([a-z]+)", Use.GROUP, 2, ("((?<!\\d)\\d+)?([a-z]+)", 2)),
        ("[^,]+;", Use.PLACE, 0, (f"(?<![^,]){WHOLE}[^,]+;", 0)),
        ("\\d+ ", Use.ALL, 0, ("(?<!\\d)\\d+ ", 0)),
        ("\\w+thy", Use.ALL, 0, ("(?:\\G|(?<!\\w))\\w+thy", 0)),
        ("^\\s+|\\s+$", Use.ALL, 0, ("^\\s+|(?<!\\s)\\s+$", 0)),
        ("id=(\\d) .*x=(\\d)", Use.GROUP, 2, (f"(?<!.){WHOLE}(?>.*?id=(\\d) ).*x=(\\d)", 2)),
        ("id=(\\d) .*x", Use.GROUP, 0, (f"(?<!.){WHOLE}(?>.*?(?=id=(?:\\d) ))((?>id=(?:\\d) ).*x)", 1)),
        ("^(.*)-(.*)$", Use.ALL, 0, ("^(?=.*$)(.*)-(.*)$", 0)),
        ("id=(.*?),", Use.GROUP, 1, (f"(?<!.){WHOLE}(?>.*?id=)(.*?),", 1)),
        ("([a-z]+?)b", Use.GROUP, 1, ("((?<![a-z])[a-z]+?)b", 1)),
        ('"[^"]{0,20}?"', Use.ALL, 0, ('"[^"]{0,20}?"', 0)),
    ],
)
def test_the_place_or_the_text_of_a_match(pattern: str, use: Use, group: int, sought: tuple[str, int]) -> None:
    found = search(pattern, use, group)
    assert (found.pattern, found.group) == sought


@pytest.mark.parametrize(
    ("pattern", "use", "group"),
    [
        ("error.*timeout", Use.ALL, 0),  # each head would have to be tried
        ("error.*timeout", Use.PLACE, 0),
        ("(abcd|bc).*x", Use.TEST, 0),  # the head that ends first is not the one that begins first
        ("a\\n.*b", Use.ALL, 0),
        ("user=[^,]+.*x", Use.TEST, 0),  # as many heads as there are up to a comma
        ("https?://[^/]+/.*x", Use.GROUP, 0),  # the head may be of several lines
        ("[ab]+c|b", Use.ALL, 0),  # a match may begin where another ended, in the same run
        ("\\w?\\d+x", Use.GROUP, 0),  # the loop may begin within a run
        ("(^|a+)(b+c)?", Use.ALL, 0),  # may match nothing
        ("[\u00e9-\uffff]+x", Use.TEST, 0),  # matches half a character alone
        ("[^,]+,", Use.ALL_FROM, 0),  # the place may be between two halves
        ("([ab]+c)?(?:(b)c){2}x", Use.ALL, 0),  # what was captured in vain is kept
        ("a(b)?c.*x", Use.GROUP, 1),
        ("[a-z]+(?=\\d)", Use.TEST, 0),
        ("a(?!.*b)", Use.TEST, 0),
        ("<.*?>", Use.ALL, 0),
    ],
)
def test_what_has_no_other_spelling_is_refused(pattern: str, use: Use, group: int) -> None:
    if pattern == "a\\n.*b":
        assert search(pattern, use, group).pattern == pattern  # nothing is read again
        return
    with pytest.raises(ValueError, match="read the text again"):
        search(pattern, use, group)


class _Maker:
    """Random regular expressions of the shapes that are spelled anew, and texts made to be matched in part."""

    ALPHABET = ("a", "b", "1", " ", ",", "\n", "\r\n", "\u00e9", "\U0001f600", "\u2028", "x")
    LITERALS = ("a", "b", "ab", "aba", "1", ",", "\\n", "\u00e9", " x")
    CLASSES = (".", "[a-z]", "\\d", "\\w", "\\s", "[^a]", "[^,]", "[ab]", "[ \\n]", "\\D", "a", "\U0001f600", "[a\\r]")

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def pattern(self) -> str:
        one = self._random.choice
        loop = one(self.CLASSES) + one(("*", "+", "{2,}")) + one(("", "", "?"))
        same = one(self.CLASSES)
        shapes = (
            loop + self._parts(3),
            f"({loop}){one(('', '?'))}{self._parts(2)}",
            one(self.LITERALS) + loop + one(self.LITERALS),
            f"{one(self.LITERALS)}{same}*{self._piece()}{same}+{self._piece()}",
            f"^{self._parts(3)}",
            f"^({loop}){one(self.LITERALS)}({same}*)$",
            f"{self._parts(2)}{one(('.*', '([^,]*)'))}{self._piece()}",
            f"{one(self.LITERALS)}{same}{one('*+')}{one(self.LITERALS)}.*{self._piece()}",
            f"{loop}{self._piece()}|{self._parts(2)}",
        )
        return one(shapes) + one(("", "", "", "$"))

    def _parts(self, most: int) -> str:
        return "".join(self._piece() for _ in range(self._random.randint(1, most)))

    def _piece(self) -> str:
        one = self._random.choice
        return one(
            (
                one(self.LITERALS),
                one(self.CLASSES),
                one(self.CLASSES) + one(("*", "+", "?", "{0,2}")) + one(("", "", "?")),
                one(("(?i:a)", "(?i:[^b-])", "(?s:.)", "(?!a)", "(?=[ab])", "(?<!,)", "(?<=^|a)", "")),
                f"({one(self.LITERALS)}|{one(self.CLASSES)}){one(('', '?', '{2}'))}",
            )
        )

    def text(self, part: Part) -> str:
        """A text with matches and broken matches of an expression."""
        return "".join(
            self._sample(part) if self._random.random() < 0.6 else self._random.choice(self.ALPHABET)
            for _ in range(self._random.randint(0, 5))
        )

    def _sample(self, part: Part) -> str:
        if isinstance(part, Atom):
            fitting = [
                character
                for character in self.ALPHABET
                if len(character) == 1 and any(a <= ord(character) <= b for a, b in part.characters.ranges)
            ]
            return self._random.choice(fitting or ["a"])
        if isinstance(part, Anchor | Look):
            return ""
        if isinstance(part, Group):
            return self._sample(part.part)
        if isinstance(part, Run):
            return "".join(map(self._sample, part.parts))
        if isinstance(part, Choice):
            return self._sample(self._random.choice(part.options))
        assert isinstance(part, Repeat)
        times = self._random.randint(part.low, part.low + 3 if part.high is None else part.high)
        return "".join(self._sample(part.part) for _ in range(times))


def made(count: int) -> Iterator[tuple[str, Use, int, Search, _Maker]]:
    """Expressions that are spelled anew."""
    maker = _Maker(7)
    while count:
        pattern = maker.pattern()
        use = maker._random.choice(list(Use))
        groups = pattern.count("(") - pattern.count("(?")
        group = maker._random.randint(0, groups) if use is Use.GROUP else 0
        try:
            found = search(pattern, use, group)
        except ValueError:
            continue
        if found.pattern != pattern:
            count -= 1
            yield pattern, use, group, found, maker


def _asked(use: Use, pattern: str, group: int) -> str:
    """What is asked of a search, as Spark SQL; braces and backslashes as the text of a constant."""
    text = "'" + pattern.replace("\\", "\\\\") + "'"
    return {
        Use.TEST: f"s RLIKE {text}",
        Use.GROUP: f"regexp_extract(s, {text}, {group})",
        Use.PLACE: f"regexp_instr(s, {text})",
        Use.ALL: f"regexp_replace(s, {text}, '<$0>')",
        Use.ALL_FROM: f"regexp_replace(s, {text}, '<$0>', 3)",
    }[use]


@pytest.mark.spark
def test_every_spelling_finds_what_the_expression_finds(spark: SparkSession) -> None:
    """Random expressions of each shape over random texts, in Spark itself."""
    cases = list(made(150))
    rows = [
        (number, maker.text(regular_expression(pattern)))
        for number, (pattern, *_, maker) in enumerate(cases)
        for _ in range(40)
    ]
    frame = spark.createDataFrame(rows, "i INT, s STRING").cache()
    for start in range(0, len(cases), 50):
        whens = " ".join(
            f"WHEN {number} THEN ({_asked(use, pattern, group)}) <=> ({_asked(use, found.pattern, found.group)})"
            for number, (pattern, use, group, found, _) in list(enumerate(cases))[start : start + 50]
        )
        differing = frame.where(f"NOT CASE i {whens} ELSE TRUE END").limit(3).collect()
        assert not differing, [(row.s, cases[row.i][:4]) for row in differing]
    frame.unpersist()


@pytest.mark.spark
def test_a_long_text_is_read_once(spark: SparkSession) -> None:
    """A hundred thousand characters made to be read again from each place: as they stand, most of these would take
    minutes each.
    """
    units = ("a", "ab", "error ", "id=1 ", "1", "\U0001f600", "a\U0001f600", " ", "\u00e9")
    frame = spark.createDataFrame([(unit * (100_000 // len(unit)),) for unit in units], "s STRING")
    asked = [
        _asked(use, found.pattern, found.group)
        for pattern in (
            "[a-z]+X",
            "(\\d+)?([A-Z]+)",
            "error.*timeout",
            "id=(\\d+) .*x=(\\d)",
            "\\s+$",
            "[^,]{3,}X",
            ".+X",
        )
        for use in Use
        for found in [_found(pattern, use)]
        if found is not None
    ]
    assert len(asked) > 20
    where = " AND ".join(f"({text}) IS NOT NULL" for text in asked)
    assert frame.where(where).count() == len(units)


def _found(pattern: str, use: Use) -> Search | None:
    try:
        return search(pattern, use, 0)
    except ValueError:
        return None
