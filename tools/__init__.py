"""Programs for those who work on the broker; none of them is installed with it."""
