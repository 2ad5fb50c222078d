"""Fingerprints: hashes by which the referee compares secrets and bodies without storing them.

The hashes use no secret key, because a key would protect nothing. The referee's memories outlive a process and are
shared by servers. So a key would have to be stored beside them, in a store that has the bank's tokens and payments
anyway.
"""

import re
from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

# What a program writes anew when it sends the same payments again.
OF_MESSAGE = re.compile(rb"<((?:\w+:)?(?:MsgId|CreDtTm|PmtInfId))>[^<]*</\1>")
START_OF_ELEMENT = re.compile(rb"<[^/]")
PIECE = 200_000  # bytes: a search stops all other threads, for 6 ms with 1 MB


def compute_fingerprint(text: str | bytes) -> bytes:
    """Returns a hash of a text. Equal texts have equal fingerprints in every process."""
    return blake2b(text.encode() if isinstance(text, str) else text, digest_size=12).digest()


class FilePrints(NamedTuple):
    """Fingerprints of a bulk file: of all its bytes, and of its bytes without the ids and the time of the message."""

    whole: bytes
    payments: bytes


def compute_file_prints(content: bytes) -> FilePrints:
    payments = blake2b(digest_size=12)
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
