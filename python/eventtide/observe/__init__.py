"""Observation of queries: progress, blame, plans, checkpoints, state, late rows."""
