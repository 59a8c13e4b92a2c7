"""Metrics of a stream: counts, rates, lag, latency, phases of batches, and the progress of event time."""
