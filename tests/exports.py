"""Exports that a test changes on purpose."""

import json
from collections.abc import Sequence
from hashlib import sha256


def sealed(lines: Sequence[bytes]) -> bytes:
    """The lines as a file whose digest is theirs."""
    *before, last = lines or [b""]
    if b'"digest"' in last:
        digest = sha256(b"".join(line + b"\n" for line in before)).hexdigest()
        last = json.dumps(json.loads(last) | {"digest": digest}).encode()
    return b"\n".join([*before, last])
