"""Bulk files: bytes in, a report of findings out (service 2.3, choice 7)."""
