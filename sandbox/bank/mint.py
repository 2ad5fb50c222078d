"""Ids and secrets of a toy bank. Predictable on purpose: never use it outside a sandbox."""

from base64 import urlsafe_b64encode
from hashlib import blake2b


class Mint:
    """The bank's one source of chance: the seed and how often it was asked."""

    __slots__ = ("asked", "seed")

    def __init__(self, seed: int, asked: int = 0) -> None:
        self.seed = seed
        self.asked = asked

    def _draw(self, size: int) -> bytes:
        self.asked += 1
        return blake2b(f"{self.seed}/{self.asked}".encode(), digest_size=size).digest()

    def id(self) -> str:
        """A version 4 UUID."""
        drawn = bytearray(self._draw(16))
        drawn[6] = drawn[6] & 0x0F | 0x40
        drawn[8] = drawn[8] & 0x3F | 0x80
        text = drawn.hex()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def secret(self) -> str:
        """43 characters that a caller cannot guess from those it has seen."""
        return urlsafe_b64encode(self._draw(32)).decode().rstrip("=")

    def digits(self, count: int) -> str:
        """A short number, such as a card reader shows."""
        return str(int.from_bytes(self._draw(8)) % 10**count).zfill(count)

    def fraction(self) -> float:
        """A number from 0 up to 1."""
        return int.from_bytes(self._draw(7)) / 2**56
