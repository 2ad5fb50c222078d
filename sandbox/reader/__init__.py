"""Reads scenarios and fixtures: YAML or JSON becomes a tree with lines and columns, which shapes turn into values."""
