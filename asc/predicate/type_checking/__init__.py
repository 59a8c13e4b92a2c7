"""Type checking: a syntax tree becomes typed expressions, by the rules of Spark with ANSI mode off."""
