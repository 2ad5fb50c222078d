"""A test PKI: certificates made on the spot, right or wrong on purpose, and the checks of a caller's certificate."""

PLACE = "/_sandbox/pki/"  # where a sandbox with --pki serves its public files
