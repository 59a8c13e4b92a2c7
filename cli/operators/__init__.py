"""The commands and options of operators."""
