"""What a TPP's client does wrong, told without being asked: a table of rules over the stream of what it did."""
