"""What the broker runs on: Java, the jars of Spark's Kafka connector and of the embedded Kafka, both of them started."""
