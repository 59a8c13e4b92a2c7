"""Faults made on purpose: a broker under random ones, and the ledger of its deliveries."""
