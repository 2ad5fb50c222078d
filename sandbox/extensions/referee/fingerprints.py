"""Fingerprints of secrets, by which observations compare secrets without storing them."""

import re
from hashlib import blake2b
from os import urandom
from typing import NamedTuple

_KEY = urandom(16)  # of this process, so that a fingerprint is of no use elsewhere
# What a program writes anew when it sends the same payments again.
OF_MESSAGE = re.compile(rb"<((?:\w+:)?(?:MsgId|CreDtTm|PmtInfId))>[^<]*</\1>")


def fingerprint(text: str | bytes) -> bytes:
    """Returns a keyed hash of a secret, which cannot be reversed. Equal secrets have equal fingerprints."""
    return blake2b(text.encode() if isinstance(text, str) else text, digest_size=12, key=_KEY).digest()


class FilePrints(NamedTuple):
    """Fingerprints of a bulk file: of all its bytes, and of its bytes without the ids and the time of the message."""

    whole: bytes
    payments: bytes


def file_prints(content: bytes) -> FilePrints:
    return FilePrints(fingerprint(content), fingerprint(OF_MESSAGE.sub(b"", content)))
