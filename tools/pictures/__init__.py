"""Pictures generated from the code, with only the standard library."""
