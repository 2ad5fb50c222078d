"""The bank's own interface: routes, header checks, body readers and reply writers (service 4)."""
