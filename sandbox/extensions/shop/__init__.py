"""A small shop that is paid by bank, and a viewer of accounts: what a third party (TPP) has to do, and nothing else.

Read `payments` and `accounts`; both call the bank through `bank_client`. Only `demo` knows that the bank is a sandbox.
"""
