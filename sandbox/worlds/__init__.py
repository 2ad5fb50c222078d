"""Worlds and the registry of all worlds of a server. A world is a bank with its lock, clock, log, calls and faults."""
