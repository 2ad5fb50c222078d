"""The texts of the documentation; sandbox/web/docs/site.py says in which order they stand."""
