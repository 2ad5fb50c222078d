"""deploy/Caddyfile with a real Caddy: 495 in the bank's body for every certificate failure (choice 9)."""

from pathlib import Path

from tests.deploy.proxies import bank_for, behind, free_port, hold, made_pki, told


def test_the_shipped_file_passes_every_certificate_on(tmp_path: Path) -> None:
    pki, port = made_pki(tmp_path / "pki"), free_port()
    with bank_for(pki) as (_, bank):
        conf = tmp_path / "Caddyfile"
        conf.write_text(told("Caddyfile", pki, bank, port))
        with behind(["caddy", "run", "--adapter", "caddyfile", "--config", str(conf)], port):
            hold(port, pki)
