"""``asc query``: the commands that manage standing queries, and files of queries."""
