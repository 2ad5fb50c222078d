"""A test PKI that lives: certificates made on the spot, right or wrong on purpose, and what is believed of them."""
