"""What the shipped proxy files must say, whether or not the programs are here."""

import pytest

from sandbox.server.bounded_waitress import is_behind_tls
from tests.deploy.proxies import ROOT


def test_both_overwrite_the_header_that_the_bank_believes() -> None:
    assert "proxy_set_header X-Client-Cert $ssl_client_escaped_cert;" in (ROOT / "deploy/nginx.conf").read_text()
    assert "header_up X-Client-Cert {http.request.tls" in (ROOT / "deploy/Caddyfile").read_text()


def test_both_ask_for_a_certificate_and_leave_the_judgement_to_the_bank() -> None:
    assert "ssl_verify_client optional_no_ca;" in (ROOT / "deploy/nginx.conf").read_text()
    assert "mode request" in (ROOT / "deploy/Caddyfile").read_text()


@pytest.mark.parametrize(
    "scheme, sender, believed",
    [
        ("https", "127.0.0.1", True),
        ("https", "::1", True),
        ("https", "192.0.2.1", False),
        ("http", "127.0.0.1", False),
        ("https,http", "127.0.0.1", False),
        (None, "127.0.0.1", False),
    ],
)
def test_a_proxy_on_this_machine_says_that_it_ended_the_tls(scheme: str | None, sender: str, believed: bool) -> None:
    environ = {"REMOTE_ADDR": sender} | ({} if scheme is None else {"HTTP_X_FORWARDED_PROTO": scheme})
    assert is_behind_tls(environ) is believed
