"""Figures of the sandbox bank beside their floors, taken in one run: `python -m bench`."""
