"""What a query does and has done: progress, blame, plans, checkpoints, state, late rows."""
