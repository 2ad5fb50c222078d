"""The tables of facts: products, moves, errors, reasons, operations, decisions. Each row names its clause (service or
choice)."""
