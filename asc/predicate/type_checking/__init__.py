"""Type checking: a syntax tree to typed expressions, by the rules of Spark with ANSI mode off."""
