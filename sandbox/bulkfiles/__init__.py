"""Validation of bulk files: bytes are read into a report of findings (service 2.3, choice 7)."""
