"""A world: a bank with its lock, clock, log, calls and faults. And the registry of all worlds of a server."""
