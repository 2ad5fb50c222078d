"""The client as a TPP holds it: one set of credentials at one bank."""

import httpx

from sandbox.client.accounts import Accounts
from sandbox.client.initiations import Initiations
from sandbox.client.signing import Signer
from sandbox.client.transport import Connection, HttpCaller, Manual


class Client(Connection, Initiations, Accounts):
    """A correct TPP. It retries only an initiation whose reply was lost."""

    def __init__(
        self,
        base_url: str,
        client_id: str = "demo-tpp",
        secret: str = "demo-secret",
        redirect_uri: str = "http://127.0.0.1:9999/callback",
        language: str = "fr",
        vendor: str = "service",
        http: httpx.Client | None = None,
        manual: Manual | None = None,
        signer: Signer | None = None,
    ) -> None:
        """`manual` says how the bank does what the service leaves open; with a `signer` initiations are signed."""
        super().__init__(http, base_url)
        manual = manual or Manual(vendor)
        self.caller = HttpCaller(
            self.http, base_url.rstrip("/"), client_id, secret, redirect_uri, language, manual, signer
        )
