"""Fault injection: tests that run a broker under random faults, and compare its deliveries with the deliveries that its
queries require.
"""
