"""What probably went wrong when a Digest, a Date or a Signature is refused: the end of a sentence, or nothing."""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from email.utils import parsedate, parsedate_to_datetime
from hashlib import sha256
from itertools import product
from typing import Any

from sandbox.banking.calendar import why_no_date
from sandbox.web.api.body_reader import read_strict

OLDER_KIND = re.compile(r'(?:^|,\s*)(?:keyId|headers|signature)="', re.IGNORECASE)  # draft-cavage-http-signatures
NEWER_KIND = re.compile(r"^[a-z*][a-z0-9_.*-]*=:[A-Za-z0-9+/=]+:")  # RFC 9421
KEYS_SORTED, ESCAPED = ", its keys sorted", ", its letters beyond ASCII as \\u escapes"
JWT_CLAIMS = frozenset({"iat", "exp", "nbf", "jti", "iss", "aud", "sub"})


def variants(body: bytes) -> Iterator[tuple[str, bytes]]:
    """What people sign instead of the bytes that they send."""
    yield "an empty body", b""
    yield "the body without the white space at its ends", body.strip()
    yield "the body with a newline at its end", body + b"\n"
    try:
        content = read_strict(body)
    except ValueError:
        return
    layouts = (((",", ":"), "without blanks"), ((", ", ": "), "with a blank after : and ,"))
    for sort, (separators, named), escaped in product((False, True), layouts, (False, True)):
        text = json.dumps(content, separators=separators, sort_keys=sort, ensure_ascii=escaped)
        ends = f"{KEYS_SORTED if sort else ''}{ESCAPED if escaped else ''}"
        yield f"the same JSON {named}{ends}", text.encode()


def variant(body: bytes, holds: Callable[[bytes], bool]) -> str | None:
    """The name of the first that holds; the body itself is none."""
    return next((name for name, other in variants(body) if other != body and holds(other)), None)


def for_digest(found: str, body: bytes) -> str:
    raw = sha256(body).digest()
    if found.startswith(":") and found.endswith(":"):
        return "; the colons are those of Content-Digest (RFC 9530), and a Digest has none"
    if found.lower() == raw.hex():
        return "; the value is in hexadecimal, and Base64 is needed"
    if found.rstrip("=") in (urlsafe_b64encode(raw).decode().rstrip("="), b64encode(raw).decode().rstrip("=")):
        return "; the value is not in Base64 with + and / and its padding"
    other = variant(body, lambda bytes_: b64encode(sha256(bytes_).digest()).decode() == found)
    return f"; it is that of {other}" if other else ""


def for_date(header: str) -> str:
    """A day that the calendar does not have. Dates of mail have a numeric zone, and -0000 is what some languages write
    for UTC."""
    parts = parsedate(header)  # checks no day
    why = why_no_date(header if parts is None else "{:04}-{:02}-{:02}".format(*parts))
    if why:
        return f"; {why}"
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        parsedate_to_datetime(header)
        if re.search(r" [+-][0-9]{4}\Z", header):
            return f"; a date of HTTP ends in GMT, and {header[-5:]} is the zone of a mail's date"
    return ""


def for_shape(header: str) -> str:
    """A Signature that is no compact JWS."""
    if OLDER_KIND.search(header):
        return "; this is a signature over headers of the older HTTP kind (keyId, headers, signature): sign the body"
    if NEWER_KIND.match(header):
        return "; this is an HTTP message signature (RFC 9421): sign the body"
    return ""


def for_payload(payload: bytes, body: bytes) -> str:
    other = variant(body, lambda bytes_: bytes_ == payload)
    if other:
        return f"; it is {other}"
    added = sorted(_claims_added(payload, body))
    if added:
        return f"; a library of JWTs has added {', '.join(added)}: sign the bytes of the body by a function for JWS"
    return ""


def _claims_added(payload: bytes, body: bytes) -> set[str]:
    contents: list[Any] = []
    for text in (payload, body):
        with suppress(ValueError):
            contents.append(read_strict(text))
    if len(contents) < 2 or not all(isinstance(content, dict) for content in contents):
        return set()
    signed, sent = contents
    more = set(signed) - set(sent)
    return more if more <= JWT_CLAIMS and {name: signed[name] for name in sent if name in signed} == sent else set()


def for_signature(signature: bytes, algorithm: str, body: bytes, verifies: Callable[[bytes], bool]) -> str:
    if algorithm == "ES256" and len(signature) != 64:
        der = ", as DER is; r and s of 32 bytes each are needed" if signature[:1] == b"\x30" else ", and 64 are needed"
        return f"; the signature has {len(signature)} bytes{der}"
    other = variant(body, verifies)
    return f"; it verifies over {other}" if other else ""
