"""Diagnosis of batches that fail or stall, and the quarantine of the queries at fault."""
