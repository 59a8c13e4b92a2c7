"""Checks before a release: the wheel and the source archive are complete, and the wheel works without the
source tree.
"""
