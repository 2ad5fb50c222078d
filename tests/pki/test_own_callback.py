"""The sandbox's own callback page is registered at the server's own addresses, whatever Host a caller sends."""

import json
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask

import sandbox
from sandbox.app import assemble, assemble_controls
from sandbox.server.server import serve_in_background
from sandbox.web.api.addresses import CALLBACK, CONTROLS, Hosts, read_public_url
from sandbox.web.controls.lock import Lock
from sandbox.worlds.registry import WorldRegistry
from tests.console.visitor import PROOF
from tests.pki.test_lock import refused_start
from tests.test_cli import ended, serving
from tests.tpp import SCT, Tpp, headers, payment, refused, version

PUBLIC = "https://bank.example:8443"


def bank(worlds: WorldRegistry, **hosts: Any) -> Tpp:
    return Tpp(assemble(worlds, lock=Lock(hosts=Hosts(**hosts))))


def initiate(port: int, host: str, uri: str) -> tuple[int, dict[str, Any]]:
    line = HTTPConnection("127.0.0.1", port, timeout=10)
    sent = headers(redirect_uri=uri) | {"Host": host, "Content-Type": "application/json"}
    line.request("POST", f"/payments/{SCT}", json.dumps(payment()), sent)
    reply = line.getresponse()
    body = json.loads(reply.read())
    line.close()
    return reply.status, body


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:444", "192.0.2.1", "evil", "evil.internal", "evil.test"]
)
@pytest.mark.parametrize("bound", ["127.0.0.1", "0.0.0.0", ""])
def test_a_host_that_a_caller_made_up_registers_nothing(worlds: WorldRegistry, host: str, bound: str) -> None:
    tpp = bank(worlds, bound=bound)
    for uri in (f"https://{host}{CALLBACK}", f"http://{host}{CALLBACK}", f"https://evil.example:444{CALLBACK}"):
        reply = tpp.initiate(host=host, redirect_uri=uri)
        assert refused(reply, 400, "GEN-1202-100001", "--public-url")
        consent = tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4), host=host, redirect_uri=uri)
        assert refused(consent, 400, "GEN-1202-100001", "--public-url")
        query = {"client_id": "demo-tpp", "redirect_uri": uri, "response_type": "code"}
        page = tpp.http.get("/_sandbox/authorize", query_string=query, headers={"Host": host})
        assert page.status_code in (400, 403)  # the controls do not answer under each of these names


@pytest.mark.parametrize(
    ("hosts", "uri"),
    [
        ({"listed": frozenset({"bank.example"})}, f"http://bank.example:81{CALLBACK}"),
        ({"listed": frozenset({".lab.example"})}, f"https://a.lab.example{CALLBACK}"),
        ({"public": read_public_url(PUBLIC)}, f"{PUBLIC}{CALLBACK}"),
        ({"public": read_public_url("https://bank.example")}, f"https://bank.example:443{CALLBACK}"),
        ({"public": read_public_url("http://[2001:db8::1]:80/")}, f"http://[2001:DB8:0::1]{CALLBACK}"),
        ({}, f"http://bank.localhost:8080{CALLBACK}"),
        ({}, f"http://127.0.0.2{CALLBACK}"),
    ],
)
def test_an_address_that_the_server_was_told_is_registered(
    worlds: WorldRegistry, hosts: dict[str, Any], uri: str
) -> None:
    tpp = bank(worlds, **hosts)
    for host in ("localhost", "evil.example"):
        assert tpp.initiate(host=host, redirect_uri=uri).status_code == 201
    parts = urlsplit(uri)
    for other in (f"{parts.scheme}://evil.example{CALLBACK}", f"{uri}/x", f"{uri}?a=1", f"{uri}#a", "https://[/"):
        assert tpp.initiate(redirect_uri=other).status_code == 400


@pytest.mark.parametrize(
    "uri",
    [
        f"http://bank.example:8443{CALLBACK}",
        f"https://bank.example:444{CALLBACK}",
        f"https://bank.example{CALLBACK}",
        f"https://bank.example:8443@evil.example{CALLBACK}",
        f"https://bank.example:8443.evil.example{CALLBACK}",
        f"https://bank.example:port{CALLBACK}",
        f"ftp://bank.example:8443{CALLBACK}",
        f"https://[::1].evil.example{CALLBACK}",
        f"https://sub.bank.example:8443{CALLBACK}",
    ],
)
def test_an_address_beside_the_public_one_is_not(worlds: WorldRegistry, uri: str) -> None:
    tpp = bank(worlds, public=read_public_url(PUBLIC))
    assert refused(tpp.initiate(host="bank.example:8443", redirect_uri=uri), 400, "GEN-1202-100001", "Redirect-URI")


def test_any_name_for_the_controls_is_no_address_of_the_callback_page(worlds: WorldRegistry) -> None:
    tpp = bank(worlds, listed=frozenset({"*"}))
    assert tpp.initiate(host="evil.example", redirect_uri=f"http://evil.example{CALLBACK}").status_code == 400


def test_another_client_and_another_path_are_told_what_they_were_told(tpp: Tpp) -> None:
    for uri, client in ((f"https://evil.example{CALLBACK}", "other-tpp"), ("https://evil.example/x", "demo-tpp")):
        text = tpp.initiate(redirect_uri=uri, client_id=client).get_json()["error_description"]
        assert "has not registered it" in text and "--public-url" not in text


def test_the_address_that_a_caller_connected_to_is_the_servers_own(app: Flask) -> None:
    """127.0.0.1 stands for an address of a network here: the client has no loopback pattern of its own."""
    tpp = Tpp(app)
    client = {"redirect_uris": ["https://tpp.example/back"]}
    assert tpp.http.put("/_sandbox/clients/demo-tpp", json=client).status_code == 200
    with serve_in_background(app) as address:
        port = urlsplit(address).port or 0
        assert initiate(port, f"127.0.0.1:{port}", f"{address}{CALLBACK}")[0] == 201
        assert initiate(port, "evil.example", f"{address}{CALLBACK}")[0] == 201
        status, body = initiate(port, f"evil.example:{port}", f"http://evil.example:{port}{CALLBACK}")
        assert (status, body["error_code"]) == (400, "GEN-1202-100001")


@pytest.mark.parametrize(
    ("listens", "uri", "is_own"),
    [
        ("http://10.0.0.7:8080", "http://10.0.0.7:8080", True),
        ("http://[::ffff:10.0.0.7]:8080", "http://10.0.0.7:8080", True),
        ("http://10.0.0.7:8080", "http://10.0.0.7:9000", False),
        ("http://10.0.0.7:8080", "https://10.0.0.7:8080", False),
        ("http://10.0.0.7:8080", "http://10.0.0.8:8080", False),
    ],
)
def test_an_address_of_the_network_counts_with_its_port(
    worlds: WorldRegistry, listens: str, uri: str, is_own: bool
) -> None:
    tpp = bank(worlds, bound="0.0.0.0")
    environ: Any = tpp.http.environ_base
    environ["sandbox.listens"] = lambda: listens
    assert (tpp.initiate(host="10.0.0.7:8080", redirect_uri=f"{uri}{CALLBACK}").status_code == 201) is is_own


@pytest.mark.parametrize("apart", ["http://0.0.0.0:9000", "http://10.0.0.7:9000"])
def test_controls_on_a_port_of_their_own_have_the_page_there(worlds: WorldRegistry, apart: str) -> None:
    tpp = bank(worlds, bound="0.0.0.0")
    environ: Any = tpp.http.environ_base
    environ["sandbox.listens"] = lambda: "http://10.0.0.7:8080"
    uri = f"http://10.0.0.7:9000{CALLBACK}"
    assert tpp.initiate(redirect_uri=uri).status_code == 400
    tpp.http.application.config[CONTROLS] = apart
    assert tpp.initiate(redirect_uri=uri).status_code == 201


def test_the_console_of_the_controls_port_pays_with_its_own_page(worlds: WorldRegistry) -> None:
    hosts = Hosts("0.0.0.0")
    http = assemble_controls(worlds, Lock(hosts=hosts), "http://0.0.0.0:8080").test_client()
    environ = {"sandbox.listens": lambda: "http://10.0.0.7:9000", "HTTP_HOST": "10.0.0.7:9000"}
    page = http.get("/_sandbox/console/new", environ_overrides=environ)
    proof = PROOF.search(page.text)
    assert proof is not None
    paid = http.post("/_sandbox/console/call/pay", data={"proof": proof[1]}, environ_overrides=environ)
    assert 'class="badge t-good">201' in paid.text


def test_calls_under_the_public_name_get_addresses_of_its_scheme(worlds: WorldRegistry) -> None:
    tpp = bank(worlds, public=read_public_url("https://bank.example"))
    for host, scheme in (("bank.example", "https"), ("BANK.example:443", "https"), ("other.example", "http")):
        address = tpp.initiate(host=host).headers["Location"]
        assert urlsplit(address).scheme == scheme and urlsplit(address).netloc.lower().startswith(host.lower()[:12])


@pytest.mark.parametrize(
    "text",
    ["bank.example", "ftp://bank.example", "https://bank.example/x", "https://a b", "https://u@b", "https://b:x"],
)
def test_a_public_address_that_is_none_is_told_before_anything_listens(text: str) -> None:
    told = " ".join(refused_start("--public-url", text).split())
    assert "--public-url" in told and "https://bank.example:8443" in told


def test_a_server_is_told_where_its_callers_reach_it() -> None:
    with serving("--port", "0", SANDBOX_PUBLIC_URL=PUBLIC, SANDBOX_ALLOWED_HOSTS="lab.example") as (server, port):
        assert initiate(port, "bank.example:8443", f"{PUBLIC}{CALLBACK}")[0] == 201
        assert initiate(port, "lab.example", f"https://lab.example{CALLBACK}")[0] == 201
        status, body = initiate(port, "evil.example", f"https://evil.example:444{CALLBACK}")
        assert (status, body["error_code"]) == (400, "GEN-1202-100001")
        line = HTTPConnection("127.0.0.1", port, timeout=10)
        line.request("GET", "/_sandbox/health", headers={"Host": "bank.example:8443"})
        assert line.getresponse().status == 200
        line.close()
        ended(server)


def test_an_application_for_another_server_is_told_too() -> None:
    tpp = Tpp(sandbox.create_app(public_url="https://bank.example"))
    assert tpp.initiate(redirect_uri=f"https://bank.example{CALLBACK}").status_code == 201
    assert tpp.initiate(host="evil.example", redirect_uri=f"https://evil.example{CALLBACK}").status_code == 400


@pytest.mark.parametrize("host", ["xn--", "xn--a", "a.xn--", "xn--80ak6aa92e.com", "XN--0:81"])
def test_a_host_is_written_as_the_caller_wrote_it(worlds: WorldRegistry, host: str) -> None:
    """Also what is no internationalized name, or one that reads like another."""
    app = assemble(worlds, lock=Lock(hosts=Hosts("0.0.0.0", frozenset({"*"}))))
    with serve_in_background(app) as address:
        port = urlsplit(address).port or 0
        status, body = initiate(port, host, "http://127.0.0.1:9000/callback")
        assert status == 201
        assert urlsplit(body["_links"]["sca_redirect"]["href"]).netloc == host.lower()
        for page in ("/", "/console/new", "/console/payments", "/docs", "/openapi.json"):
            line = HTTPConnection("127.0.0.1", port, timeout=10)
            line.request("GET", f"/_sandbox{page}", headers={"Host": host})
            assert line.getresponse().status == 200
            line.close()
