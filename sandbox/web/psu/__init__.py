"""The bank's own pages for PSUs, in French and Dutch: to log in, choose accounts, sign and consent (choice 1).

The channel is the part of these pages that a customer opens without a TPP.
"""
