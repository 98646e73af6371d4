"""A query that runs for two hours, is killed every ten minutes, and must not grow."""
