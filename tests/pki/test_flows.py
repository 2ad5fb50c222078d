"""The reference client with a certificate: passed on by a proxy, in the handshake, and renewed when it ends."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from sandbox.app import assemble
from sandbox.client import Refused
from sandbox.pki.certificates import QWAC, CertificateRequest, Qualified
from sandbox.pki.folder import Folder, read_certificate
from sandbox.pki.trust import Trust
from sandbox.testing import Start
from sandbox.testing.start import beginning_of, world_of
from sandbox.web.api.certificates import TLS_KEY
from sandbox.worlds.registry import WorldRegistry
from tests.pki.conftest import DEMO, REAL, Issue
from tests.vary.flows_of_payments import pays
from tests.vary.line import bank_here

REFUSED = 495


class Passing:
    """What stands before the bank: it has the client's certificate from the handshake, and passes it on."""

    def __init__(self, app: Callable[..., Iterable[bytes]], by_header: bool) -> None:
        self.app, self.by_header = app, by_header
        self.certificate: Path | None = None

    def __call__(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        if self.certificate is not None and self.by_header:
            environ["HTTP_X_CLIENT_CERT"] = quote(self.certificate.read_text())
        elif self.certificate is not None:
            environ[TLS_KEY] = read_certificate(self.certificate).public_bytes(Encoding.DER)
        return self.app(environ, start)


def renewed(pki: Path) -> Path:
    """Of the year after that of the first."""
    said = Qualified(QWAC, ("PSP_PI", "PSP_AI"), "Authority", "BE-SBX")
    since, until = REAL + timedelta(days=300), REAL + timedelta(days=700)
    return Folder(pki).issue(CertificateRequest("renewed", DEMO, said, since, until, "ec"), None, REAL)


@pytest.mark.parametrize("where", ["off", "proxy", "tls"])
@pytest.mark.parametrize("clock", ["real", "bank"])
def test_the_reference_client_shows_its_certificate(pki: Path, issue: Issue, where: str, clock: str) -> None:
    """It pays where the bank asks for one, and only then; where time goes by, it renews the certificate."""
    worlds = WorldRegistry(beginning_of(Start()), REAL.timestamp)
    front = Passing(assemble(worlds, trust=Trust(pki)), where == "proxy")
    variants = {"client_certificates": where, "certificate_clock": clock}
    with bank_here(front) as (server, _), world_of(server, "w", Start(), variants) as bank:
        if where != "off":
            with pytest.raises(Refused) as refused:
                pays(bank)
            assert refused.value.status == REFUSED
        front.certificate = issue()
        pays(bank)
        bank.clock.advance("300d")
        if where != "off" and clock == "bank":
            with pytest.raises(Refused) as refused:
                pays(bank)
            assert refused.value.status == REFUSED
            front.certificate = renewed(pki)
        pays(bank)
