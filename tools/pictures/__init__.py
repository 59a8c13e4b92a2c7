"""Pictures that are drawn from the code itself, of the standard library alone."""
