"""The runtime of the broker: Java, the jars of the Kafka connector and of the embedded Kafka, and the Spark session."""
