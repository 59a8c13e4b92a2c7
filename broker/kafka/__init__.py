"""Kafka: clients, topics, leader election, and the single node that the daemon starts if no Kafka is configured."""
