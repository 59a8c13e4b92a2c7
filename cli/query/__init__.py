"""``asc query``: its commands, and files of queries."""
