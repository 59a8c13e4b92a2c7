"""``python -m tools.fuzz``: fuzzing with hundreds of thousands of generated inputs, each in a watched process."""
