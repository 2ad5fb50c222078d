"""Certificates and keys with something wrong in their bytes or their structure, for readers that must refuse them."""

import copy
import json
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

from asn1crypto import x509 as asn1
from asn1crypto.core import OctetBitString
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import strategies as st

from sandbox.pki.folder import Folder, read_certificate
from tests.pki.keys import PUBLIC

# Tags and lengths that DER gives a meaning: what a parser looks at first.
TELLING = st.sampled_from(
    [0x00, 0x01, 0x02, 0x03, 0x05, 0x06, 0x0C, 0x13, 0x17, 0x30, 0x31, 0x7F, 0x80, 0xA0, 0xA3, 0xFF]
)


@st.composite
def harmed(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with one to three places changed, taken out or cut off."""
    spoilt = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, max(0, len(spoilt) - 1)))
        match draw(st.sampled_from(["flip", "flip", "telling", "any", "without", "cut", "twice"])):
            case "flip" if spoilt:
                spoilt[place] ^= 1 << draw(st.integers(0, 7))
            case "telling" if spoilt:
                spoilt[place] = draw(TELLING)
            case "any":
                spoilt[place : place + 1] = draw(st.binary(max_size=4))
            case "without":
                del spoilt[place : place + draw(st.integers(1, 40))]
            case "cut":
                del spoilt[place:]
            case "twice":
                spoilt[place:place] = spoilt[place : place + draw(st.integers(1, 40))]
    return bytes(spoilt)


def der_of(place: Path) -> bytes:
    return read_certificate(place).public_bytes(Encoding.DER)


def content_of(der: bytes) -> bytes:
    """What the authority signs."""
    found: bytes = asn1.Certificate.load(der)["tbs_certificate"].dump()
    return found


def signed_again(der: bytes, content: bytes, pki: Path) -> bytes:
    """The content under a true signature of the authority, so that its chain holds and the rest is read too."""
    key = Folder(pki).read_issuing().key
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    proof = OctetBitString(key.sign(content, ec.ECDSA(hashes.SHA256())))
    inner = content + asn1.Certificate.load(der)["signature_algorithm"].dump() + proof.dump()
    whole: bytes = b"\x30\x82" + len(inner).to_bytes(2) + inner
    return whole


# JSON where a key or the header of a signature stands

ANY = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**80), 2**80), st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=12), st.sampled_from(["EC", "RSA", "oct", "P-256", "P-384", "AQAB", "AA", "", "ec-1"]),
        st.binary(min_size=1, max_size=40).map(lambda raw: urlsafe_b64encode(raw).decode().rstrip("=")),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["kty", "x", "k"]), inner, max_size=3),
    max_leaves=4,
)  # fmt: skip


@st.composite
def odd_keys(draw: st.DrawFn) -> dict[str, Any]:
    """A JWK of which one or two members are something else, or a letter of theirs is."""
    key: dict[str, Any] = copy.deepcopy(draw(st.sampled_from(PUBLIC)))
    for name in draw(st.lists(st.sampled_from([*key, "kty", "crv", "d", "use"]), min_size=1, max_size=2)):
        text = key.get(name)
        if isinstance(text, str) and text and draw(st.booleans()):
            place = draw(st.integers(0, len(text) - 1))
            key[name] = text[:place] + draw(st.sampled_from("AZaz09-_=+ é")) + text[place + 1 :]
        else:
            key[name] = draw(ANY)
    return key


HEADERS = st.dictionaries(
    st.sampled_from(["alg", "kid", "x5c", "x5u", "x5t", "typ", "cty", "jwk", "jku", "crit", "b64", "exp"]),
    ANY,
    max_size=4,
)


def part_of(header: dict[str, Any]) -> str:
    return urlsafe_b64encode(json.dumps(header).encode()).decode().rstrip("=")
