"""One reader for scenarios and fixtures: YAML or JSON as a tree with lines and columns, and shapes that read it."""
