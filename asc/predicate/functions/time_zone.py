"""Names of time zones that Spark accepts: regions, the short names of Java, and offsets."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo

_OFFSET = re.compile(
    r"(?:UTC|GMT|UT)?[+-](?:"
    r"(?:\d|0\d|1[0-7])(?::[0-5]\d(?::[0-5]\d)?|:\d)?"
    r"|(?:0\d|1[0-7])[0-5]\d(?:[0-5]\d)?"
    r"|18(?::0|:00(?::00)?|00(?:00)?)?"
    r")\Z",
    re.ASCII,
)
_SHORT_LIST = """
ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT EST HST IET IST JST MIT MST NET NST PLT PNT PRT PST SST VST
"""
_OTHER_LIST = """
CET CST6CDT Cuba EET EST5EDT Egypt Eire GB GB-Eire GMT GMT0 Greenwich Hongkong Iceland Iran Israel Jamaica Japan
Kwajalein Libya MET MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROK Singapore Turkey UCT UT UTC Universal
W-SU WET Z Zulu
"""
_NAMES = frozenset((*_SHORT_LIST.split(), *_OTHER_LIST.split()))
_NOT_JAVAS = ("posix/", "right/", "America/Coyhaique")
"""Names of time zones, and prefixes of names, that the operating system's table has and Java's table may lack. They are
refused.
"""


def is_time_zone(name: str) -> bool:
    """Return whether Spark knows a time zone by this name.

    Spark throws for an unknown constant time zone, even in a call that is rewritten to give NULL on failure.

    >>> is_time_zone("Europe/Berlin"), is_time_zone("CET"), is_time_zone("+1:00"), is_time_zone("UTC+8")
    (True, True, True, True)
    >>> is_time_zone("Europe/Nowhere"), is_time_zone("+19:00"), is_time_zone("../UTC"), is_time_zone("")
    (False, False, False, False)
    """
    if name in _NAMES or _OFFSET.match(name):
        return True
    if "/" not in name or name.startswith(_NOT_JAVAS):
        return False
    try:
        return bool(ZoneInfo(name).key)
    except (ValueError, OSError, LookupError):
        return False
