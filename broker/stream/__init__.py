"""Streams: the schema, the analyser of predicates, the Spark job and the metrics of each stream."""
