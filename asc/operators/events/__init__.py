"""Enter, exit and lost events of objects."""
