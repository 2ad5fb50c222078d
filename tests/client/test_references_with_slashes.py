"""References of a TPP with `/` and dots, over a real line: the reference client and curl (choice 5)."""

import subprocess
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest
import requests
from flask import Flask

from sandbox.client import Client, PathKind, Reference, Refused
from sandbox.client.transport import segment
from sandbox.server.server import serve_in_background
from tests.conftest import HERE
from tests.spec.files import pain
from tests.tpp import version

REFERENCES = ("123/1", "ABC/060928/CCT001", "a//b", "/", ".", "..", "../x", "a?b+c d", "(1):2,3'4.")
SHORTENED = (".", "..")  # requests writes %2E as a dot, and then shortens the path
HEADERS = {"Accept": version(2), "Accept-Language": "fr", "Client-ID": "demo-tpp"}


@pytest.fixture
def tpp(http: httpx.Client) -> Client:
    return Client(HERE, http=http)


def send(tpp: Client, reference: str) -> Reference:
    """A file under that MsgId; the answer is how the bank calls it."""
    return tpp.send_file(pain(message_id=reference)).reference


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_client_finds_and_cancels_a_file_by_its_message_id(app: Flask, reference: str) -> None:
    with serve_in_background(app) as base, Client(base) as tpp:
        bank_id = send(tpp, reference).id
        own = Reference("pain.001", reference, PathKind.BULK, external=True)
        assert tpp.status(own).reply.body["payment_file_id"] == bank_id
        with pytest.raises(Refused, match="404"):
            tpp.status(Reference("pain.001", f"{reference}x", PathKind.BULK, external=True))
        assert tpp.cancel(own).status == 204


@pytest.mark.parametrize("reference", REFERENCES)
def test_curl_and_requests_find_it_too(app: Flask, reference: str) -> None:
    with serve_in_background(app) as base, Client(base) as tpp:
        bank_id = send(tpp, reference).id
        address = f"{base}/bulk-payments/pain.001/{segment(reference)}/status?paymentFileIdType=EXTERNAL"
        words = [word for name, value in HEADERS.items() for word in ("-H", f"{name}: {value}")]
        words += ["-H", f"Request-ID: {uuid4()}", "--path-as-is", "--silent", "--show-error", address]
        said = subprocess.run(["curl", *words], capture_output=True, text=True, timeout=30).stdout
        assert bank_id in said
        if reference not in SHORTENED:
            reply = requests.get(address, headers=HEADERS | {"Request-ID": str(uuid4())}, timeout=30)
            assert reply.json()["payment_file_id"] == bank_id


def test_a_reference_is_one_segment(tpp: Client) -> None:
    send(tpp, "123/1")
    for path in ("123/1", "123%252F1", "123"):
        with pytest.raises(Refused, match="404"):
            tpp.caller.call("GET", f"/bulk-payments/pain.001/{path}/status", 2, query={"paymentFileIdType": "EXTERNAL"})


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_segment_is_as_others_write_it_but_for_lone_dots(reference: str) -> None:
    if reference in SHORTENED:
        assert segment(reference) == "%2E" * len(reference)
    else:
        assert segment(reference) == quote(reference, safe="")
