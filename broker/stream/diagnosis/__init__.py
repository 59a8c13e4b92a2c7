"""Diagnosis of batches that fail or take too long, and the quarantine of the queries that cause this."""
