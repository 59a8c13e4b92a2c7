"""Event queries: enter, exit and lost events of objects that queries accept."""
