"""Back-tests: the evaluation of standing queries over files of past records, by Arrow or by Spark."""
