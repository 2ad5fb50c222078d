"""One bank and all that can happen in it: registers, ledger, timeline, payments, orders, files, consents.

It knows no HTTP, no thread, no file and no machine time; chance comes from its mint.
"""
