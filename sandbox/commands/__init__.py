"""The commands of `bank-sandbox`, one file for each group. Most commands only call the controls."""
