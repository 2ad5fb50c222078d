"""What a TPP signs with, made by a library that is not the bank's."""

import json
from base64 import b64encode
from hashlib import sha256
from typing import Any

from jwcrypto.jwk import JWK
from jwcrypto.jws import JWS

ELLIPTIC = JWK.generate(kty="EC", crv="P-256", kid="ec-1")
RSA = JWK.generate(kty="RSA", size=2048, kid="rsa-1")
STRANGE = JWK.generate(kty="EC", crv="P-256", kid="ec-1")
KEY_OF = {"ES256": ELLIPTIC, "RS256": RSA, "PS256": RSA}
PUBLIC = [json.loads(key.export_public()) for key in (ELLIPTIC, RSA)]


def signed(body: bytes, algorithm: str = "ES256", key: Any = None, *, detached: bool = True, **protected: Any) -> str:
    """A compact JWS over the body."""
    key = key or KEY_OF[algorithm]
    header = {"alg": algorithm, "kid": key.get("kid"), **protected}
    made = JWS(body)
    made.allowed_algs = list(KEY_OF)
    made.add_signature(key, alg=algorithm, protected=json.dumps({k: v for k, v in header.items() if v is not None}))
    compact: str = made.serialize(compact=True)
    head, _, proof = compact.split(".")
    return f"{head}..{proof}" if detached else compact


def digest(body: bytes) -> str:
    return f"SHA-256={b64encode(sha256(body).digest()).decode()}"
