"""The bank's own pages for PSUs, in French and Dutch: log in, pick, sign, consent, channel (choice 1)."""
