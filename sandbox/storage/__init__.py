"""Stores the acts of worlds: in memory, in a state file or in PostgreSQL, with checkpoints and marks."""
