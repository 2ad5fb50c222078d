"""Fingerprints: keyed hashes by which the referee compares secrets and bodies without storing them."""

import re
from collections.abc import Iterator
from hashlib import blake2b
from os import urandom
from typing import NamedTuple

_KEY = urandom(16)  # of this process, so that a fingerprint is of no use elsewhere
# What a program writes anew when it sends the same payments again.
OF_MESSAGE = re.compile(rb"<((?:\w+:)?(?:MsgId|CreDtTm|PmtInfId))>[^<]*</\1>")
START_OF_ELEMENT = re.compile(rb"<[^/]")
PIECE = 200_000  # bytes: a search stops all other threads, for 6 ms with 1 MB


def compute_fingerprint(text: str | bytes) -> bytes:
    """Returns a keyed hash of a text, from which the text cannot be computed. Equal texts have equal fingerprints
    within this process. Another process has another key."""
    return blake2b(text.encode() if isinstance(text, str) else text, digest_size=12, key=_KEY).digest()


class FilePrints(NamedTuple):
    """Fingerprints of a bulk file: of all its bytes, and of its bytes without the ids and the time of the message."""

    whole: bytes
    payments: bytes


def compute_file_prints(content: bytes) -> FilePrints:
    payments = blake2b(digest_size=12, key=_KEY)
    for piece in split_file(content):
        payments.update(OF_MESSAGE.sub(b"", piece))
    return FilePrints(compute_fingerprint(content), payments.digest())


def split_file(content: bytes) -> Iterator[bytes]:
    """Yields the file in pieces of about PIECE bytes. Each piece ends just before an opening tag, so that no match of
    OF_MESSAGE is cut in two."""
    start = 0
    while start < len(content):
        element = START_OF_ELEMENT.search(content, start + PIECE)
        end = element.start() if element else len(content)
        yield content[start:end]
        start = end
