"""The parts of a stream: its schema, its predicates, its job and its metrics."""
