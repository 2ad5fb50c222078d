"""The tables of facts: products, moves, errors, reasons, operations, decisions. Each row names the clause that it comes
from: a clause of the service (the description of the bank's interface), or a choice of the sandbox."""
