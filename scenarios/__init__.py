"""The stories that a bank can be started with."""
