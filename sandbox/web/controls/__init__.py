"""The controls under `/_sandbox`: the tester's interface, which is no part of the bank (choice 10)."""
