"""Routes are matched on the path as its caller spelled it, and an id is decoded once, after that (choice 5)."""

import socket
from collections.abc import Callable
from functools import partial

import pytest
from flask import Flask, Request
from werkzeug.exceptions import HTTPException
from werkzeug.routing import MapAdapter
from werkzeug.test import EnvironBuilder

from sandbox.server.server import serve_in_background
from sandbox.web.api.app import has_dots, is_readable, read_raw_path
from tests.spec import files
from tests.tpp import SCT, Tpp, headers, refused, version

PATIENCE = 30
IDS = [
    ("123%2F1", "123/1"),
    ("a%2f%2fb", "a//b"),
    ("%2E%2E", ".."),
    ("..", ".."),
    (".", "."),
    ("a%252Fb", "a%2Fb"),
    ("caf%C3%A9", "café"),
]


@pytest.mark.parametrize(("sent", "named"), IDS)
def test_an_id_of_the_bank_is_decoded_once_after_routing(app: Flask, tpp: Tpp, sent: str, named: str) -> None:
    path = f"/payments/{SCT}/{sent}/status"
    found = app.url_map.bind("localhost").match(path)
    assert found == ("payment_status", {"product": SCT, "payment_id": named})
    assert refused(tpp.call("GET", path), 404, "SBX-0404")
    assert [(row["operation"], row["path"]) for row in tpp.listed("requests")] == [("payment_status", path)]


@pytest.mark.parametrize("message_id", ["123/1", "ABC/060928/CCT001"])
def test_a_reference_with_a_slash_is_found_by_its_path(tpp: Tpp, message_id: str) -> None:
    files.sent(tpp, files.pain(message_id=message_id))
    path = f"/bulk-payments/pain.001/{message_id.replace('/', '%2F')}/status?paymentFileIdType=EXTERNAL"
    assert tpp.call("GET", path, accept=version(2)).status_code == 200
    unencoded = path.replace("%2F", "/")
    assert refused(tpp.call("GET", unencoded, accept=version(2)), 404, "SBX-0404")


def test_a_server_hands_the_path_over_as_it_was_sent(app: Flask, tpp: Tpp) -> None:
    files.sent(tpp, files.pain(message_id="123/1"))
    given = "".join(f"{name}: {value}\r\n" for name, value in headers(accept=version(2)).items())
    path = "/bulk-payments/pain.001/123%2F1/status?paymentFileIdType=EXTERNAL"
    with serve_in_background(app) as url:
        address = url.removeprefix("http://")
        host, _, port = address.partition(":")
        for target in (path, f"http://{address}{path}"):
            with socket.create_connection((host, int(port)), PATIENCE) as line:
                head = f"GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{given}\r\n"
                line.sendall(head.encode())
                assert line.makefile("rb").readline() == b"HTTP/1.1 200 OK\r\n", target


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"REQUEST_URI": "/a%2Fb?c=/d", "PATH_INFO": "/a/b"}, "/a%2Fb"),  # waitress, werkzeug
        ({"REQUEST_URI": "/a%2Fb%20c", "PATH_INFO": "/a%2Fb c"}, "/a%2Fb%20c"),  # cheroot
        ({"REQUEST_URI": "//a/b", "PATH_INFO": "/a/b"}, "//a/b"),  # waitress
        ({"RAW_URI": "/%61", "PATH_INFO": "/a"}, "/%61"),  # gunicorn
        ({"REQUEST_URI": "http://b.example/a%2Fb", "PATH_INFO": "/a/b"}, "/a%2Fb"),
        ({"REQUEST_URI": "http://b.example", "PATH_INFO": "/"}, "/"),
        ({"REQUEST_URI": "/under/a%2Fb", "SCRIPT_NAME": "/under", "PATH_INFO": "/a/b"}, "/a%2Fb"),
        ({"REQUEST_URI": "/a", "PATH_INFO": "/b c"}, "/b%20c"),  # a middleware set another
        ({"PATH_INFO": "/a/\xc3\xa9%"}, "/a/%C3%A9%25"),  # a server that does not tell
        ({"PATH_INFO": ""}, ""),
    ],
)
def test_the_raw_path_is_found_on_every_server(environ: dict[str, str], path: str) -> None:
    assert read_raw_path(environ) == path


@pytest.mark.parametrize("path", ["/", "/a/", "/a/b;c=d,e/f.", "/a%20b", "/.well-known/x", "/...", "/é", "/<name>"])
def test_a_canonical_path_is_readable(path: str) -> None:
    assert is_readable(path) and not has_dots(path)


@pytest.mark.parametrize("path", ["//a", "/a//b", "/a//", "a", "*", "/a\\b", "/a%", "/a%2", "/a%zz", "/a\tb", "/a\x00"])
def test_another_path_is_not(path: str) -> None:
    assert not is_readable(path)


@pytest.mark.parametrize("path", ["/.", "/..", "/a/./b", "/a/../b", "/../a"])
def test_segments_that_lead_elsewhere_are_noticed(path: str) -> None:
    assert has_dots(path)


HOSTS = (
    "127.0.0.1:8080",
    "localhost",
    "bank.example:80",
    "bank.example:443",
    "BANK.example",
    "a..b",
    "[::1]:80",
    "x:0",
    "",
)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("path", ["/payments/a/b/status", "/", "/caf\xc3\xa9"])
def test_an_address_is_matched_as_the_framework_would(app: Flask, host: str, path: str) -> None:
    asked = EnvironBuilder(path="/", query_string="a=b").get_environ() | {"HTTP_HOST": host, "PATH_INFO": path}

    def facts_of(make: Callable[[Request], MapAdapter | None]) -> object:
        try:
            found = make(Request(dict(asked)))
        except HTTPException as error:
            return type(error)
        assert found is not None
        return {name: value for name, value in vars(found).items() if name != "map"}

    assert facts_of(app.create_url_adapter) == facts_of(partial(Flask.create_url_adapter, app))
