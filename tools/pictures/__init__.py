"""Programs that draw pictures of the structure of the code, with only the standard library of Python."""
