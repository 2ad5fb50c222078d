"""The tables: products, moves, errors, operations, settings; each row with its clause (service or choice)."""
