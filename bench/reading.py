"""Reading accounts: one account, and pages of a young and of an old one, the first and the last."""

import http.client
import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit
from uuid import uuid4

from bench.load import Load
from bench.measures import Turn, beside, rates
from bench.servers import CALLBACK, VENDOR, VERIFIER, Server, bank, floor, written
from bench.table import Figure

YOUNG, OLD = "alice", "bakkerij"  # 11 months and 10 years of history


@dataclass(frozen=True)
class Access:
    """What a consent of a customer gave."""

    token: str
    sca_token: str
    logical_id: str

    def lines(self) -> tuple[str, ...]:
        return (
            "Host: 127.0.0.1",
            "Request-ID: @ID@",
            f"Accept: {VENDOR}2",
            "Accept-Language: fr",
            "Client-ID: demo-tpp",
            f"Authorization: Bearer {self.token}",
            f"SCA-Token: {self.sca_token}",
        )

    def account(self) -> str:
        return written("GET", f"/accounts/{self.logical_id}", *self.lines())

    def page(self, key: str | None) -> str:
        more = "" if key is None else f"?next={quote(key)}"
        return written("GET", f"/accounts/{self.logical_id}/transactions{more}", *self.lines())


def called(server: Server, method: str, path: str, body: str | None = None, **headers: str) -> Any:
    """One call of the bank."""
    line = http.client.HTTPConnection("127.0.0.1", server.port)
    sent = {"Request-ID": str(uuid4())} | {name.replace("_", "-"): value for name, value in headers.items()}
    line.request(method, path, body, sent)
    reply = line.getresponse()
    answer = json.loads(reply.read())
    assert reply.status == 200, answer
    line.close()
    return answer


def access(server: Server, customer: str) -> Access:
    """From a consent address to a token and the customer's first account."""
    caller = {"Accept_Language": "fr", "Client_ID": "demo-tpp"}
    pkce = {"Code_Challenge_Method": "plain", "Code_Challenge": VERIFIER}
    (entry,) = called(
        server, "GET", "/consent-uris?scope=AIS", Accept=f"{VENDOR}4", Redirect_URI=CALLBACK, **caller, **pkce
    )
    callback = server.ask("POST", "/psu/approve", address=entry["consent_uri"], customer=customer)["redirect"]
    form = {
        "grant_type": "authorization_code",
        "code": dict(parse_qsl(urlsplit(callback).query))["code"],
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
    }
    basic = f"Basic {b64encode(b'demo-tpp:demo-secret').decode()}"
    media = "application/x-www-form-urlencoded"
    given = called(
        server, "POST", "/token", urlencode(form), Accept=f"{VENDOR}3", Authorization=basic, Content_Type=media
    )
    token = f"Bearer {given['access_token']}"
    listed = called(server, "GET", "/accounts", Accept=f"{VENDOR}2", Authorization=token, **caller)
    first = listed["_embedded"]["accounts"][0]["logical_id"]
    return Access(given["access_token"], given["sca_token"], first)


def last_full_page(server: Server, reader: Access) -> str:
    """The key of the last page that holds as many lines as the first."""
    key: str | None = None
    keys: list[str] = []
    while True:
        more = "" if key is None else f"?next={quote(key)}"
        found = called(
            server,
            "GET",
            f"/accounts/{reader.logical_id}/transactions{more}",
            Accept=f"{VENDOR}2",
            Accept_Language="fr",
            Client_ID="demo-tpp",
            Authorization=f"Bearer {reader.token}",
            SCA_Token=reader.sca_token,
        )["_embedded"]
        if "next_page_key" not in found:
            return keys[-1] if len(found["transactions"]) == 50 else keys[-2]
        key = found["next_page_key"]
        keys.append(key)


def reading(load: Load, threads: int, seconds: float, rounds: int, connections: int) -> Iterator[Figure]:
    with floor("flask", threads) as bare, bank(threads) as server:
        young, old = access(server, YOUNG), access(server, OLD)

        def round_of(aim: Server, request: str) -> Turn:
            return lambda: load.run(aim.port, request, 200, connections=connections, seconds=seconds)

        got = rates(
            {
                "bare": round_of(bare, young.account()),
                "bare page": round_of(bare, young.page(None)),
                "account": round_of(server, young.account()),
                "young": round_of(server, young.page(None)),
                "old": round_of(server, old.page(None)),
                "last": round_of(server, old.page(last_full_page(server, old))),
            },
            rounds,
        )
        yield beside("GET account, to bare Flask", got["account"], got["bare"], least=0.4)
        yield beside("a page of 50, to one of bare Flask", got["young"], got["bare page"], least=0.6)
        yield beside("a page of 10 years, to a young account's", got["old"], got["young"], least=0.9)
        yield beside("the last full page, to the first", got["last"], got["old"], least=0.9)
