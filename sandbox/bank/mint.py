"""Generates the ids and secrets of a bank. The n-th value depends only on n, the seed, the secret and the salt. The
salt is empty, unless several servers share the world. Never use this module outside a sandbox.

Without a secret and a salt, anyone who knows the seed can compute every id and token, so a tester can know them in
advance. With a secret, the values come from a keyed hash, so nobody can compute further ids and tokens from those
already seen.
"""

from base64 import urlsafe_b64encode
from hashlib import blake2b


class Mint:
    """The bank's only source of random values. They are computed from the seed, the number of values drawn so far
    (`asked`), an optional salt and an optional secret (hexadecimal)."""

    __slots__ = ("_key", "asked", "salt", "seed")

    def __init__(self, seed: int, asked: int = 0, secret: str = "") -> None:
        self.seed = seed
        self.asked = asked
        # Changes from act to act where several servers share a log: an id that was given by an act which a failover
        # lost is never given again.
        self.salt = ""
        self._key = bytes.fromhex(secret)  # an empty key is none

    def _draw(self, size: int) -> bytes:
        self.asked += 1
        text = f"{self.seed}/{self.asked}/{self.salt}" if self.salt else f"{self.seed}/{self.asked}"
        return blake2b(text.encode(), key=self._key, digest_size=size).digest()

    def derive_key(self, purpose: str) -> bytes:
        """Returns the bank's key for a purpose. It depends only on the purpose, the seed and the secret. Draws no
        random value, so later ids and secrets stay the same."""
        return blake2b(f"{purpose}/{self.seed}".encode(), key=self._key, digest_size=32).digest()

    def draw_id(self) -> str:
        """Returns a version 4 UUID."""
        random_bytes = bytearray(self._draw(16))
        random_bytes[6] = random_bytes[6] & 0x0F | 0x40
        random_bytes[8] = random_bytes[8] & 0x3F | 0x80
        text = random_bytes.hex()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def draw_secret(self) -> str:
        """Returns a random text of 43 characters, such as a token."""
        return urlsafe_b64encode(self._draw(32)).decode().rstrip("=")

    def draw_digits(self, count: int) -> str:
        """Returns a random text of `count` digits, such as the code of a card reader."""
        return str(int.from_bytes(self._draw(8)) % 10**count).zfill(count)
