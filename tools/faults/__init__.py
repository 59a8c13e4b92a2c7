"""Fault injection: a broker under random faults, and the ledger of its deliveries."""
