"""A TPP and its 30 tests, as `vary` meets them: `python -m bench.vary` runs them under every pair of values."""
