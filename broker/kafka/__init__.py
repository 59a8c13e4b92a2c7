"""Kafka: clients, topics, and the single node that the daemon starts if no Kafka is configured."""
