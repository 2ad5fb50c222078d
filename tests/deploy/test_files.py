"""What the shipped proxy files must say, whether or not the programs are here."""

from tests.deploy.proxies import ROOT


def test_both_overwrite_the_header_that_the_bank_believes() -> None:
    assert "proxy_set_header X-Client-Cert $ssl_client_escaped_cert;" in (ROOT / "deploy/nginx.conf").read_text()
    assert "header_up X-Client-Cert {http.request.tls" in (ROOT / "deploy/Caddyfile").read_text()


def test_both_ask_for_a_certificate_and_leave_the_judgement_to_the_bank() -> None:
    assert "ssl_verify_client optional_no_ca;" in (ROOT / "deploy/nginx.conf").read_text()
    assert "mode request" in (ROOT / "deploy/Caddyfile").read_text()
