"""Prints of secrets, for comparing them: the stream holds no secret itself."""

import re
from hashlib import blake2b
from os import urandom
from typing import NamedTuple

_KEY = urandom(16)  # of this program's life alone, so that a print tells nothing to anyone else


def fingerprint(text: str | bytes) -> bytes:
    """A keyed hash of a secret, which cannot be reversed."""
    return blake2b(text.encode() if isinstance(text, str) else text, digest_size=12, key=_KEY).digest()


# What a program writes anew when it sends the same payments again.
OF_MESSAGE = re.compile(rb"<((?:\w+:)?(?:MsgId|CreDtTm|PmtInfId))>[^<]*</\1>")


class FilePrints(NamedTuple):
    """Fingerprints of a bulk file: of all its bytes, and of its bytes but for ids and time of the message."""

    whole: bytes
    payments: bytes


def file_prints(content: bytes) -> FilePrints:
    return FilePrints(fingerprint(content), fingerprint(OF_MESSAGE.sub(b"", content)))
