"""Hostile YAML, SQL, requests over Spark Connect and checkpoints, made with Hypothesis."""
