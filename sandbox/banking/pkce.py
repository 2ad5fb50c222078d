"""Proof key for code exchange (PKCE), by RFC 7636 and choice 2."""

import hmac
import re
from base64 import urlsafe_b64encode
from hashlib import sha256

METHODS = ("S256", "plain")
EXAMPLE_VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"  # RFC 7636, appendix B; everyone knows it
EXAMPLE_CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

CHALLENGES = {
    "S256": re.compile(r"[A-Za-z0-9._~-]{43}"),
    "plain": re.compile(r"[A-Za-z0-9._~-]{32,128}"),  # RFC 7636 begins at 43; choice 2 takes 32 too
}
# What is hashed keeps the length of the RFC: choice 2 shortens plain only.
VERIFIERS = {"S256": re.compile(r"[A-Za-z0-9._~-]{43,128}"), "plain": CHALLENGES["plain"]}


def is_challenge(method: str, challenge: str) -> bool:
    """Whether the method is known and the challenge has the form that this method demands."""
    return method in CHALLENGES and CHALLENGES[method].fullmatch(challenge) is not None


def matches(method: str, challenge: str, verifier: str) -> bool:
    """Whether the challenge was made from this verifier."""
    if not is_challenge(method, challenge) or not VERIFIERS[method].fullmatch(verifier):
        return False
    return hmac.compare_digest(compute_challenge(method, verifier), challenge)


def compute_challenge(method: str, verifier: str) -> str:
    """Returns the challenge of a verifier."""
    if method == "plain":
        return verifier
    return urlsafe_b64encode(sha256(verifier.encode("ascii")).digest()).rstrip(b"=").decode("ascii")


def is_same_secret(text: str, other: str) -> bool:
    """Whether two secrets are equal. Compares them in constant time."""
    return hmac.compare_digest(text.encode(), other.encode())
