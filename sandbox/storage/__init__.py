"""Where a world's acts are kept: in memory or in a state file, with checkpoints, marks and upgrades."""
