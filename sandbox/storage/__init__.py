"""Stores the acts of worlds in memory, in a state file or in PostgreSQL. Checkpoints make loading fast, and marks,
which are checksums, show damage."""
