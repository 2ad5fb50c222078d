"""A test PKI. It makes certificates, some of them wrong on purpose, and checks the certificates of callers."""

PLACE = "/_sandbox/pki/"  # where a sandbox with --pki serves its public files
# The ways in which a certificate can be wrong on purpose, with an explanation of each.
FAULTS = {
    "expired": "it ended yesterday",
    "not-yet-valid": "it begins in 30 days",
    "revoked": "it is on the revocation list",
    "wrong-role": "it bears PSP_IC alone",
    "wrong-organisation": "it names another organisation",
    "unknown-issuer": "an authority that nobody knows has issued it",
    "broken-chain": "it names the right issuer, and another key has signed it",
    "weak-key": "its key is RSA of 1024 bits",
}
