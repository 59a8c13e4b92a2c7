"""Back-tests: standing queries over files, by Arrow or by Spark."""
