"""Checks the headers Digest, Date and Signature of initiations (service 5.8, choice 9).

A refusal says what was expected. It also names what probably went wrong, if a usual mistake explains the value.
"""

import json
import re
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from email.utils import parsedate, parsedate_to_datetime
from hashlib import sha256
from itertools import product
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey
from joserfc.jws import JWSRegistry, deserialize_compact
from werkzeug.http import parse_date

from sandbox.banking.calendar import explain_wrong_date
from sandbox.banking.durations import bound_instant
from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.body_schemas import read_strict

OLDER_KIND = re.compile(r'(?:^|,\s*)(?:keyId|headers|signature)="', re.IGNORECASE)  # draft-cavage-http-signatures
NEWER_KIND = re.compile(r"^[a-z*][a-z0-9_.*-]*=:[A-Za-z0-9+/=]+:")  # RFC 9421
KEYS_SORTED, ESCAPED = ", its keys sorted", ", its letters beyond ASCII as \\u escapes"
JWT_CLAIMS = frozenset({"iat", "exp", "nbf", "jti", "iss", "aud", "sub"})


def list_mistaken_texts(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Yields texts that clients sign by mistake instead of the body, each with a name for the hint."""
    yield "an empty body", b""
    yield "the body without the white space at its ends", body.strip()
    yield "the body with a newline at its end", body + b"\n"
    try:
        content = read_strict(body)
    except ValueError:
        return
    layouts = (((",", ":"), "without blanks"), ((", ", ": "), "with a blank after : and ,"))
    for sort, (separators, layout_name), escaped in product((False, True), layouts, (False, True)):
        text = json.dumps(content, separators=separators, sort_keys=sort, ensure_ascii=escaped)
        ends = f"{KEYS_SORTED if sort else ''}{ESCAPED if escaped else ''}"
        yield f"the same JSON {layout_name}{ends}", text.encode()


def name_mistaken_text(body: bytes, holds: Callable[[bytes], bool]) -> str | None:
    """Clients sometimes sign another text than the body by mistake. Returns the name of the first such text for which
    `holds` is true, or None if there is none."""
    return next((name for name, other in list_mistaken_texts(body) if other != body and holds(other)), None)


def explain_digest(digest: str, body: bytes) -> str:
    raw = sha256(body).digest()
    if digest.startswith(":") and digest.endswith(":"):
        return "; the colons are those of Content-Digest (RFC 9530), and a Digest has none"
    if digest.lower() == raw.hex():
        return "; the value is in hexadecimal, and Base64 is needed"
    if digest.rstrip("=") in (urlsafe_b64encode(raw).decode().rstrip("="), b64encode(raw).decode().rstrip("=")):
        return "; the value is not in Base64 with + and / and its padding"
    other = name_mistaken_text(body, lambda bytes_: b64encode(sha256(bytes_).digest()).decode() == digest)
    return f"; it is that of {other}" if other else ""


def explain_date(header: str) -> str:
    """Returns a hint about a wrong Date: its day does not exist, or it ends in a numeric zone, as dates of mail do.
    Returns an empty text for any other fault."""
    parts = parsedate(header)  # checks no day
    reason = explain_wrong_date(header if parts is None else "{:04}-{:02}-{:02}".format(*parts))
    if reason:
        return f"; {reason}"
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        parsedate_to_datetime(header)
        if re.search(r" [+-][0-9]{4}\Z", header):
            return f"; a date of HTTP ends in GMT, and {header[-5:]} is the zone of a mail's date"
    return ""


def explain_shape(header: str) -> str:
    """Returns a hint for a Signature that is not a compact JWS. Returns an empty text if it is no known kind of
    signature."""
    if OLDER_KIND.search(header):
        return "; this is a signature over headers of the older HTTP kind (keyId, headers, signature): sign the body"
    if NEWER_KIND.match(header):
        return "; this is an HTTP message signature (RFC 9421): sign the body"
    return ""


def explain_payload(payload: bytes, body: bytes) -> str:
    other = name_mistaken_text(body, lambda bytes_: bytes_ == payload)
    if other:
        return f"; it is {other}"
    added_claims = sorted(_list_added_claims(payload, body))
    if added_claims:
        return (
            f"; a library of JWTs has added {', '.join(added_claims)}: sign the bytes of the body by a function for JWS"
        )
    return ""


def _list_added_claims(payload: bytes, body: bytes) -> set[str]:
    contents: list[Any] = []
    for text in (payload, body):
        with suppress(ValueError):
            contents.append(read_strict(text))
    if len(contents) < 2 or not all(isinstance(content, dict) for content in contents):
        return set()
    signed, sent = contents
    more = set(signed) - set(sent)
    return more if more <= JWT_CLAIMS and {name: signed[name] for name in sent if name in signed} == sent else set()


def explain_signature(signature: bytes, algorithm: str, body: bytes, verifies: Callable[[bytes], bool]) -> str:
    if algorithm == "ES256" and len(signature) != 64:
        der = ", as DER is; r and s of 32 bytes each are needed" if signature[:1] == b"\x30" else ", and 64 are needed"
        return f"; the signature has {len(signature)} bytes{der}"
    other = name_mistaken_text(body, verifies)
    return f"; it verifies over {other}" if other else ""


Key = ECKey | RSAKey

ALGORITHMS = {"ES256": "EC", "RS256": "RSA", "PS256": "RSA"}
IMF_FIXDATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT\Z")
BASE64URL = re.compile(r"[A-Za-z0-9_-]*\Z")
CERTIFICATES_MAX = 5
# Headers of a JWS that this library does not know are the TPP's business; `crit` is ours to refuse.
REGISTRY = JWSRegistry(algorithms=list(ALGORITHMS), strict_check_header=False)
REGISTRY.max_header_length = 32_768
REGISTRY.max_payload_length = 100_000_000
REGISTRY.max_signature_length = 1024


def make_refusal(header: str, reason: str, decided_by: Mapping[str, object] | None = None) -> Refusal:
    error = Error.SECURITY_PROOF_REFUSED if header == "Signature" else Error.SECURITY_INPUT_REFUSED
    return Refusal(error, input=header, why=reason, clause="choice 9", decided_by=decided_by)


# Digest


def demand_digest(header: str, body: bytes) -> None:
    """Refuses a header Digest without the SHA-256 of the body. The header may have other digests too."""
    digests = dict(part.strip().partition("=")[::2] for part in header.split(","))
    digest = next((value for name, value in digests.items() if name.upper() == "SHA-256"), "")
    if not digest:
        raise make_refusal("Digest", f"it must be SHA-256= and Base64, and it is {header[:100]!a}")
    right_digest = b64encode(sha256(body).digest()).decode()
    if digest != right_digest:
        raise make_refusal(
            "Digest",
            f"it says {digest[:100]!a}, and the SHA-256 of the {len(body)} bytes received is {right_digest}"
            f"{explain_digest(digest, body)}",
        )


# Date


def demand_date(header: str, bank: datetime, real_time: Callable[[], datetime], tolerance: timedelta) -> None:
    """Refuses a Date that is neither an IMF-fixdate nor ISO 8601, or that has no time zone. Also refuses a Date that
    differs by more than `tolerance` both from the bank's time and from real time."""
    sent_date = _read_date(header)
    if abs(sent_date - bank) > tolerance and abs(sent_date - (real := real_time())) > tolerance:
        try:
            sent_date = bound_instant(sent_date)
        except ValueError as error:
            raise make_refusal("Date", f"it is {header[:60]!a}, and {error}") from None
        minutes = f"{tolerance.total_seconds() / 60:g}"
        raise make_refusal(
            "Date",
            f"{header[:60]!a} is more than {minutes} minutes from the bank's time {_write_iso(bank)} and from real "
            f"time {_write_iso(real)}",
            {
                "given": sent_date,
                "bank_time": bank,
                "real_time": real,
                "seconds_allowed": int(tolerance.total_seconds()),
            },
        )


def _read_date(header: str) -> datetime:
    date = parse_date(header) if IMF_FIXDATE.match(header) else None
    if date is None:
        with suppress(ValueError):
            date = datetime.fromisoformat(header)
    if date is None:
        hint = explain_date(header)
        raise make_refusal("Date", f"{header[:60]!a} is neither like Mon, 01 Mar 2027 08:00:00 GMT nor ISO 8601{hint}")
    if date.tzinfo is None:
        raise make_refusal("Date", f"{header[:60]!a} has no time zone")
    return date


def _write_iso(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


# Signature


def demand_signature(header: str, body: bytes, keys: tuple[str, ...], certified: Callable[[bytes], Key]) -> None:
    """Refuses a Signature that is not a valid compact JWS over the body. The JWS may contain the body (attached) or
    leave it out (detached). `keys` are the client's registered keys. `certified` returns the key of a certificate, and
    refuses a certificate that is not a trusted QSealC."""
    parts = header.split(".")
    if len(parts) != 3:
        hint = explain_shape(header)
        raise make_refusal(
            "Signature", f"a compact JWS is header.payload.signature, and it has {len(parts)} parts{hint}"
        )
    protected = _read_protected(parts[0])
    algorithm: str = protected["alg"]
    plain = protected.get("b64", True) is False
    if plain and parts[1]:
        raise make_refusal("Signature", "b64 is false, and its payload part is not empty: that form is detached")
    _demand_payload(parts[1], body)
    key, key_name = _find_key(protected, keys, certified)
    if key.key_type != ALGORITHMS[algorithm]:
        raise make_refusal(
            "Signature", f"its alg {algorithm} does not go with {key_name}, whose type is {key.key_type}"
        )
    signature = _decode(parts[2], "signature part")
    if not _is_right(parts, body, key, algorithm, plain):
        over = "BASE64URL(header).body" if plain else "BASE64URL(header).BASE64URL(body)"
        signed = f"{over}, the body being the {len(body)} bytes received"
        hint = explain_signature(
            signature, algorithm, body, lambda other: _is_right(parts, other, key, algorithm, plain)
        )
        raise make_refusal("Signature", f"{algorithm} with {key_name} does not verify over {signed}{hint}")


def demand_form(header: str, over: str) -> None:
    """Refuses an attached signature if the bank takes only detached signatures, and a detached signature if it takes
    only attached ones. `over` is the value of the axis `signature_over`. With its values `body` and `headers`, the bank
    takes both kinds."""
    payload = header.split(".")[1:2]
    if over == "detached" and any(payload):
        raise make_refusal("Signature", "its payload part is not empty: this bank takes detached signatures")
    if over == "attached" and not any(payload):
        raise make_refusal("Signature", "its payload part is empty: this bank takes the body there")


def write_header_lines(request_id: str, digest: str | None, date: str | None) -> bytes:
    """Returns the text that is signed in the place of the body if the axis `signature_over` is `headers`. The text has
    a line for each of Request-ID, Digest and Date that was sent."""
    rows = (("request-id", request_id), ("digest", digest), ("date", date))
    return "\n".join(f"{name}: {value}" for name, value in rows if value is not None).encode()


def _decode(part: str, name: str) -> bytes:
    if BASE64URL.match(part) is None or len(part) % 4 == 1:
        raise make_refusal("Signature", f"its {name} is not BASE64URL without padding")
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _read_protected(part: str) -> dict[str, Any]:
    try:
        protected = read_strict(_decode(part, "header part"))
    except ValueError as error:
        raise make_refusal("Signature", f"its header part cannot be read: {error}") from None
    if not isinstance(protected, dict):
        raise make_refusal("Signature", "its header part is no JSON object")
    # Of what a header calls critical, the bank knows b64 (RFC 7797), which in turn has to be called so.
    critical, b64 = protected.get("crit", []), protected.get("b64", True)
    if critical not in ([], ["b64"]) or ("crit" in protected and not critical):
        raise make_refusal("Signature", f"its crit is {str(critical)[:60]!a}, and this bank understands ['b64'] alone")
    if not isinstance(b64, bool) or (critical and "b64" not in protected):
        raise make_refusal("Signature", "its b64 is neither true nor false")
    if b64 is False and not critical:
        raise make_refusal("Signature", "its b64 is false, and RFC 7797 wants crit: ['b64'] beside that")
    algorithm = protected.get("alg")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise make_refusal("Signature", f"its alg is {str(algorithm)[:40]!a}, and it must be {', '.join(ALGORITHMS)}")
    return protected


def _demand_payload(part: str, body: bytes) -> None:
    """Refuses a payload that differs from the body. An empty payload is accepted, because the signature is then
    detached."""
    if not part:
        return
    payload = _decode(part, "payload part")
    if payload == body:
        return
    first = next((place for place, pair in enumerate(zip(payload, body, strict=False)) if pair[0] != pair[1]), None)
    place = f"they differ at byte {first}" if first is not None else "one is the beginning of the other"
    hint = explain_payload(payload, body)
    raise make_refusal(
        "Signature",
        f"its payload of {len(payload)} bytes is not the body of {len(body)} bytes as it came: {place}{hint}",
    )


def _find_key(protected: dict[str, Any], keys: tuple[str, ...], certified: Callable[[bytes], Key]) -> tuple[Key, str]:
    """Returns the key of a signature, and a name of the key for errors. It is the client's registered key that `kid`
    names. If there is none, it is the key of the certificate in `x5c`. Refuses a signature that has neither."""
    kid = protected.get("kid")
    by_id = {row["kid"]: row for row in map(json.loads, keys)}
    if isinstance(kid, str) and kid in by_id:
        return read_key(by_id[kid]), f"the key {kid!a}"
    if "x5c" in protected:
        chain = protected["x5c"]
        if not isinstance(chain, list) or not 1 <= len(chain) <= CERTIFICATES_MAX or not isinstance(chain[0], str):
            raise make_refusal("Signature", f"its x5c is not a list of 1 to {CERTIFICATES_MAX} certificates")
        try:
            certificate = b64decode(chain[0], validate=True)
        except (Base64Error, ValueError):
            raise make_refusal("Signature", "the first certificate of its x5c is not DER in Base64") from None
        return certified(certificate), "the key of the certificate in x5c"
    registered = f"registered are {', '.join(by_id)}" if by_id else "the client has registered no key"
    if kid is None:
        raise make_refusal("Signature", f"its header names no key, by kid or x5c; {registered}")
    raise make_refusal("Signature", f"the key {str(kid)[:100]!a} is not known; {registered}")


def _is_right(parts: list[str], body: bytes, key: Key, algorithm: str, plain: bool) -> bool:
    """Whether the signature is right. If `plain`, the signature must be over the bytes of the body (RFC 7797), else
    over the body in BASE64URL."""
    if plain:
        signature = _decode(parts[2], "signature part")
        return bool(REGISTRY.get_alg(algorithm).verify(parts[0].encode() + b"." + body, signature, key))
    whole = f"{parts[0]}.{urlsafe_b64encode(body).rstrip(b'=').decode()}.{parts[2]}"
    try:
        deserialize_compact(whole, key, list(ALGORITHMS), REGISTRY)
    except (JoseError, ValueError, TypeError):
        return False
    return True


# Keys

PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
MEMBERS = {"EC": ("crv", "kty", "x", "y"), "RSA": ("e", "kty", "n")}


def read_key(jwk: dict[str, Any]) -> Key:
    """Reads a public key of a client. Raises ValueError if it is no public key, or a key of a wrong type or size."""
    kind = jwk.get("kty")
    if not isinstance(kind, str) or kind not in MEMBERS:
        raise ValueError("its kty must be EC or RSA")
    if PRIVATE & set(jwk):
        raise ValueError("it holds a private key: register the public part only")
    if any(not isinstance(jwk.get(name), str) for name in MEMBERS[kind]):
        raise ValueError(f"it needs {', '.join(MEMBERS[kind])}")
    if kind == "EC" and jwk["crv"] != "P-256":
        raise ValueError("its crv must be P-256")
    if kind == "RSA" and not 2048 <= _count_bits(jwk["n"]) <= 8192:
        raise ValueError("an RSA key has 2048 to 8192 bits")
    public = {name: jwk[name] for name in MEMBERS[kind]}
    try:
        key: Key = ECKey.import_key(public) if kind == "EC" else RSAKey.import_key(public)
    except (JoseError, ValueError, TypeError, OverflowError):
        raise ValueError("it cannot be read as a key") from None
    return key


def _count_bits(modulus: str) -> int:
    """Returns the number of bits of a key's modulus, or 0 if the text is not BASE64URL."""
    try:
        return int.from_bytes(_decode(modulus, "n")).bit_length()
    except Refusal:
        return 0
