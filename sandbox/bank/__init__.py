"""The model of one bank: registers, ledger, timeline, payments, orders, files and consents.

It knows no HTTP, no thread, no file and no machine time. All random values come from its mint.
"""
