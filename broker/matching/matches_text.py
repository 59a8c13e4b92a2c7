"""The text in which the matches of a row leave Python. It is not an array, because a Pandas UDF would create Python
objects for an array.

The format without topics is ``id`` BETWEEN_IDS ``id`` .... The format with topics is ``topic`` AFTER_TOPIC ids
BETWEEN_TOPICS ``topic`` AFTER_TOPIC ids .... If shapes of joins accept the row, they come before the ids:
``query/shape`` BETWEEN_IDS ... AFTER_SHAPES. For operators, ``target`` AFTER_TARGET replaces the topic, and selections
replace the ids. No id or topic may contain one of these characters; none of them has a meaning in a regular expression.
"""

BETWEEN_IDS = "\x1f"
AFTER_TOPIC = "\x1e"
BETWEEN_TOPICS = "\x1d"
AFTER_SHAPES = "\x1c"
AFTER_TARGET = "\x1b"
"""The character that ends the name of an operator's target. The target replaces a topic in the text."""
