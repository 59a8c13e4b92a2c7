"""The text in which the matches of a row leave Python. For an array, a Pandas UDF would create Python objects.

The format is ``id`` BETWEEN_IDS ``id`` ..., and with topics ``topic`` AFTER_TOPIC ids, BETWEEN_TOPICS the next topic.
If shapes of joins accept the row, they come before the ids: ``query/shape`` BETWEEN_IDS ... AFTER_SHAPES. For
operators, a target AFTER_TARGET replaces the topic, and selections replace the ids. No id or topic may contain one of
these characters; none of them has a meaning in a regular expression.
"""

BETWEEN_IDS = "\x1f"
AFTER_TOPIC = "\x1e"
BETWEEN_TOPICS = "\x1d"
AFTER_SHAPES = "\x1c"
AFTER_TARGET = "\x1b"
"""The character that ends the name of an operator's target, which is in place of a topic."""
