"""deploy/compose.yaml and compose.shared.yaml against the published schema, the image, and the files for nginx."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from sandbox.cli import main
from tests.deploy.proxies import ROOT, free_port, made_pki
from tests.deploy.test_image import known, told
from tests.test_cli import PATIENCE, command, environment, serving
from tests.tools.schemas import check_file

FILE = ROOT / "deploy" / "compose.yaml"
SHARED_FILE = ROOT / "deploy" / "compose.shared.yaml"
SERVICES: dict[str, dict[str, Any]] = YAML(typ="safe").load(FILE.read_text())["services"]
VOLUMES = YAML(typ="safe").load(FILE.read_text())["volumes"]
SHARED: dict[str, dict[str, Any]] = YAML(typ="safe").load(SHARED_FILE.read_text())["services"]
BANKS = ("bank-1", "bank-2")


def filled_in(text: str, said: dict[str, str]) -> str:
    """With ${NAME:-default} as compose does it; ${NAME:?why} must be said, and not be empty."""

    def value(found: re.Match[str]) -> str:
        name, operator, default = found.groups()
        assert said.get(name) or operator == ":-", f"{name} must be given"
        return said.get(name) or default

    return re.sub(r"\$\{(\w+)(?:(:-|:\?)([^}]*))?\}", value, text)


def given(name: str, **said: str) -> dict[str, str]:
    """What a container is told."""
    service = SERVICES.get(name) or SHARED[name]
    return {key: filled_in(str(value), said) for key, value in service["environment"].items()}


@pytest.mark.parametrize("file", [FILE, SHARED_FILE], ids=lambda file: str(file.name))
def test_it_is_a_compose_file(file: Path, tmp_path: Path) -> None:
    done = check_file("compose-spec", file)
    assert done.exit_code == 0, done.output
    (tmp_path / "wrong.yaml").write_text(file.read_text().replace("depends_on:", "depends:"))
    assert check_file("compose-spec", tmp_path / "wrong.yaml").exit_code == 1


def test_every_variable_is_one_that_its_command_knows() -> None:
    assert set(SERVICES["bank"]["environment"]) <= set(known("serve"))
    assert set(SERVICES["pki"]["environment"]) == {"SANDBOX_PKI"}


def test_a_port_is_published_on_the_loopback_address_unless_the_user_says_another() -> None:
    for service in (*SERVICES.values(), *SHARED.values()):
        for port in service.get("ports", ()):
            assert port.startswith(("127.0.0.1:", "${BANK_ADDRESS:-127.0.0.1}:")), port


def test_a_volume_lies_where_the_image_has_a_folder_of_its_user() -> None:
    (owners,) = re.findall(r"os\.chown\(place, 10001, 10001\) for place in \((.*?)\)", " ".join(told("RUN")))
    owned = re.findall(r"'(.+?)'", owners)
    for service in ("pki", "bank"):
        for mount in SERVICES[service]["volumes"]:
            source, place = re.sub(r"\$\{[^}]*\}", ".", mount).split(":")[:2]
            assert place in owned if source in VOLUMES else place == "/scenarios"
    state, pki = (given("bank", SANDBOX_KEY="k")[name] for name in ("SANDBOX_STATE", "SANDBOX_PKI"))
    assert str(Path(state).parent) in owned and pki in owned


def test_what_it_mounts_is_there() -> None:
    assert (FILE.parent / "nginx.conf").is_file()
    assert (FILE.parent / SERVICES["bank"]["build"] / "Dockerfile").is_file()
    assert "/etc/nginx/conf.d/" in (FILE.parent / "nginx.conf").read_text()


def test_the_ports_are_those_of_the_shipped_nginx_conf() -> None:
    conf = (FILE.parent / "nginx.conf").read_text()
    assert SERVICES["bank"]["network_mode"] == "service:nginx"  # so the bank is on its loopback address
    assert given("bank", SANDBOX_KEY="k")["SANDBOX_HOST"] == "127.0.0.1"
    assert f"proxy_pass http://127.0.0.1:{known('serve')['SANDBOX_PORT'].default};" in conf
    inside = {port.rpartition(":")[2] for port in SERVICES["nginx"]["ports"]}
    assert inside == {*re.findall(r"listen (\d+) ssl;", conf), given("bank", SANDBOX_KEY="k")["SANDBOX_CONTROLS_PORT"]}


@pytest.mark.parametrize("key", [{}, {"SANDBOX_KEY": ""}], ids=["none", "empty"])
def test_without_a_key_it_is_not_begun(key: dict[str, str]) -> None:
    with pytest.raises(AssertionError, match="SANDBOX_KEY must be given"):
        given("bank", **key)


@pytest.mark.parametrize("name", ["postgres", *BANKS])
def test_without_a_password_no_database_is_shared(name: str) -> None:
    for password in ({}, {"POSTGRES_PASSWORD": ""}):
        with pytest.raises(AssertionError, match="POSTGRES_PASSWORD must be given"):
            given(name, SANDBOX_KEY="k", **password)
    told = given(name, SANDBOX_KEY="k", POSTGRES_PASSWORD="p")
    assert "trust" not in told.values() and "p" in (told.get("POSTGRES_PASSWORD"), told.get("PGPASSWORD"))


def test_what_ends_by_itself_is_started_again_but_the_making_of_certificates() -> None:
    for name, service in (SERVICES | SHARED).items():
        assert service.get("restart") == (None if name == "pki" else "unless-stopped"), name


def test_who_owns_a_network_outlives_who_joins_it() -> None:
    """A container that joined the network of another has none after the other was started again."""
    assert "network_mode" not in SERVICES["nginx"] and "ports" not in SERVICES["bank"]
    assert SERVICES["bank"]["depends_on"]["nginx"]["restart"] is True


def test_two_banks_share_one_database_behind_nginx() -> None:
    assert set(SHARED) == {"postgres", "balancer", *BANKS}
    conf = (ROOT / "deploy/nginx-shared.conf").read_text()
    for name in BANKS:
        told = given(name, SANDBOX_KEY="k", POSTGRES_PASSWORD="p")
        assert set(told) - {"PGPASSWORD"} <= set(known("serve"))
        assert "@postgres:5432/" in told["SANDBOX_STATE"] and f"server {name}:8080 resolve max_fails=0;" in conf
        assert SHARED[name]["networks"] == ["database", "front"]
    assert SHARED["postgres"]["networks"] == ["database"] and SHARED["balancer"]["networks"] == ["front"]
    assert "nginx-shared.conf:" in SHARED["balancer"]["volumes"][0]
    version = re.search(r"nginx:(\d+)\.(\d+)", SHARED["balancer"]["image"])
    assert version is not None and tuple(map(int, version.groups())) >= (1, 28)  # `resolve` came with 1.27.3


def test_its_certificates_are_made_once(tmp_path: Path) -> None:
    pki, words = str(tmp_path / "pki"), [filled_in(word, {}) for word in SERVICES["pki"]["command"]]
    for _ in range(2):
        done = subprocess.run(command(*words), env=environment(SANDBOX_PKI=pki), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert "is kept" in done.stdout


def test_its_bank_has_its_controls_on_a_port_of_their_own(tmp_path: Path) -> None:
    with team(tmp_path, made_pki(tmp_path / "pki")) as (port, controls):
        assert status(port, "/_sandbox/clock") == 404
        assert status(controls, "/_sandbox/clock") == 401
        assert status(controls, "/_sandbox/clock", **{"X-Sandbox-Key": "k"}) == 200
        told = given("bank", SANDBOX_KEY="k") | {"SANDBOX_CONTROLS_PORT": str(controls)}
        assert CliRunner().invoke(main, ["health"], env=told).exit_code == 0  # so nginx is started


@contextmanager
def team(folder: Path, pki: Path) -> Iterator[tuple[int, int]]:
    """The bank as the file starts it, with this machine's folders and ports: the bank's port, the controls'."""
    controls = free_port()
    here = {
        "SANDBOX_PKI": str(pki),
        "SANDBOX_STATE": str(folder / "bank.sqlite"),
        "SANDBOX_CONTROLS_PORT": str(controls),
        "SANDBOX_CONTROLS_HOST": "127.0.0.1",
        "SANDBOX_PORT": "0",
    }
    with serving(**given("bank", SANDBOX_KEY="k") | here) as (_, port):
        yield port, controls


def status(port: int, path: str, **headers: str) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()
