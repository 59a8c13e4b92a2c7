"""Kafka: clients, topics, and the single node that the daemon starts where none is configured."""
