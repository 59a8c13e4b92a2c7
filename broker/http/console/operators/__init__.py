"""Pages of single kinds of operators, beside those of all queries: a module a kind, found by its name."""
