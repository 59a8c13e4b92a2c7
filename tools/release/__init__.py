"""Release checks: wheel and source archive are complete, and the wheel works without other files of the project."""
