"""A world: a bank with its lock, clock, log, calls and faults; and the registry of all worlds of a server."""
