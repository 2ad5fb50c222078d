"""The model of one bank: registers, ledger, timeline, payments, orders, files and consents.

It uses no HTTP, threads, files or machine time. All its random values come from one generator, its `Mint`.
"""
