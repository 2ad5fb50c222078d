"""The signature of an initiation (service 5.8, choice 9): Digest, Date and a detached JWS."""

from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from hashlib import sha256
from typing import Any

ALGORITHM = "ES256"


class Signer:
    """A key of the TPP; the bank knows its public half. `now` tells the time for the header Date."""

    def __init__(self, now: Callable[[], datetime], key_id: str = "reference-client") -> None:
        from joserfc.jwk import ECKey  # with the cryptography that a client without a signature never needs

        self._now = now
        self._key = ECKey.generate_key("P-256", {"kid": key_id})
        self._header = {"alg": ALGORITHM, "kid": key_id}

    @property
    def public(self) -> dict[str, Any]:
        """The key as the bank registers it."""
        return self._key.as_dict(private=False)

    def headers(self, content: bytes, over: str = "body", request_id: str = "") -> dict[str, str]:
        """Digest, Date and Signature; `over` is what the bank's manual says that is signed."""
        from joserfc import jws

        digest = f"SHA-256={b64encode(sha256(content).digest()).decode()}"
        date = format_datetime(self._now().astimezone(UTC), usegmt=True)
        lines = f"request-id: {request_id}\ndigest: {digest}\ndate: {date}".encode()
        whole = jws.serialize_compact(self._header, lines if over == "headers" else content, self._key)
        head, _, signature = whole.split(".")
        proof = whole if over == "attached" else f"{head}..{signature}"
        return {"Digest": digest, "Date": date, "Signature": proof}
