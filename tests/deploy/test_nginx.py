"""deploy/nginx.conf with a real nginx: 495 in the bank's body for every certificate failure (choice 9)."""

from pathlib import Path

from sandbox.client import Controls
from tests.deploy.proxies import bank_for, behind, free_port, hold, made_pki, pay, told
from tests.deploy.test_compose import team

MAIN = """
pid nginx.pid;
error_log stderr;
daemon off;
events {{ }}
http {{
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    {server}
}}
"""


def test_the_shipped_file_passes_every_certificate_on(tmp_path: Path) -> None:
    pki, port = made_pki(tmp_path / "pki"), free_port()
    with bank_for(pki) as (_, bank):
        conf = tmp_path / "nginx.conf"
        conf.write_text(MAIN.format(server=told("nginx.conf", pki, bank, port)))
        with behind(["nginx", "-p", str(tmp_path), "-c", str(conf)], port):
            hold(port, pki)


def test_behind_it_the_team_of_the_compose_file_pays_and_signs(tmp_path: Path) -> None:
    pki, port = made_pki(tmp_path / "pki"), free_port()
    with team(tmp_path, pki) as (bank, controls), Controls(f"http://127.0.0.1:{controls}", key="k") as tester:
        conf = tmp_path / "nginx.conf"
        conf.write_text(MAIN.format(server=told("nginx.conf", pki, bank, port)))
        with behind(["nginx", "-p", str(tmp_path), "-c", str(conf)], port):
            hold(port, pki)
            tester.psu.approve(pay(port, pki), customer="alice")
            *_, signed = tester.call("GET", "/payments").body["payments"]
            assert signed["customer"] == "alice" and signed["status"] in ("PDNG", "ACSP", "ACSC")
