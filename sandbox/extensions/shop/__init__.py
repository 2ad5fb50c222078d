"""A small shop that is paid by bank, and a viewer of accounts: what a third party (TPP) has to do, and nothing else.

Read `paying` for payments and `viewing` for accounts; both speak to the bank through `line`. `demo` alone knows that
the bank is a sandbox: a real third party has no such file.
"""
