"""For every rule a small client, that does wrong or does right; what is the same in both is said once."""

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

from tests.referee.actor import Actor, Flow

ANOTHER = "A7rQ2mXz9KpLwE4vTn6sYcB8dFgHjUo3iR5yWqZxC1V"
RS256, ES256 = "eyJhbGciOiJSUzI1NiJ9.e30.c2ln", "eyJhbGciOiJFUzI1NiJ9.e30.c2ln"
OLD = "2026-06-01"

Play = Callable[[Actor, bool], None]
PLAYS: dict[str, Play] = {}


def client_for(rule: str) -> Callable[[Play], Play]:
    def added(play: Play) -> Play:
        assert rule not in PLAYS
        PLAYS[rule] = play
        return play

    return added


@client_for("pkce-challenge-reused")
def _(tpp: Actor, wrong: bool) -> None:
    first = tpp.pay()
    tpp.pay(verifier=first.verifier if wrong else "")


@client_for("pkce-verifier-reused")
def _(tpp: Actor, wrong: bool) -> None:
    first, _ = tpp.paid()
    tpp.pay(verifier=first.verifier if wrong else "")


@client_for("pkce-plain")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.pay(method="plain" if wrong else "S256")


@client_for("pkce-weak")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.exchange(tpp.signed(verifier="secret" * 8 if wrong else ANOTHER))


@client_for("pkce-verifier-wrong")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.exchange(tpp.signed(), 3, **{"code_verifier": ANOTHER} if wrong else {})


@client_for("pkce-beside-token")
def _(tpp: Actor, wrong: bool) -> None:
    _, tokens = tpp.paid()
    tpp.pay(tokens["access_token"], challenged=wrong)


@client_for("state-missing")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.pay()
    tpp.approve(flow, None if wrong else "")
    tpp.status(flow)


@client_for("state-reused")
def _(tpp: Actor, wrong: bool) -> None:
    for state in ("the-state-of-today", "the-state-of-today" if wrong else "another-state"):
        flow = tpp.pay()
        tpp.approve(flow, state)
        tpp.status(flow)


@client_for("state-short")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.pay()
    tpp.approve(flow, "1" if wrong else "")
    tpp.status(flow)


@client_for("code-late")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.signed()
    tpp.advance("11m" if wrong else "9m")
    tpp.exchange(flow)


@client_for("code-twice")
def _(tpp: Actor, wrong: bool) -> None:
    flow, _ = tpp.paid()
    if wrong:
        assert tpp.exchange(flow).status_code == 401


@client_for("redirect-differs")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.exchange(tpp.signed(), 3, **{"redirect_uri": "http://127.0.0.1:9000/other"} if wrong else {})


@client_for("redirect-unregistered")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.post(redirect_uri="https://shop.example/back" if wrong else "http://127.0.0.1:9000/other")


@client_for("sca-opened-late")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.pay()
    tpp.advance("6m" if wrong else "4m")
    tpp.approve(flow)
    tpp.status(flow)


@client_for("token-replaced")
def _(tpp: Actor, wrong: bool) -> None:
    flow, old = tpp.paid()
    new = tpp.refresh(old).get_json()
    tpp.details(flow, (old if wrong else new)["access_token"])


@client_for("token-foreign")
def _(tpp: Actor, wrong: bool) -> None:
    flow, tokens = tpp.paid()
    if wrong:
        tpp.tpp.client_id = "other-tpp"
    tpp.details(flow, tokens["access_token"])


@client_for("token-expired-again")
def _(tpp: Actor, wrong: bool) -> None:
    flow, tokens = tpp.paid()
    tpp.advance("61m")
    for _ in range(2 if wrong else 1):
        assert tpp.details(flow, tokens["access_token"]).status_code == 401


@client_for("token-refresh-race")
def _(tpp: Actor, wrong: bool) -> None:
    """A second refresh goes out while the reply to the first one is on its way."""
    _, tokens = tpp.paid()
    tpp.fault("token", delay="0.1s") if wrong else None
    begun: list[float] = []

    def meanwhile(seconds: float) -> None:
        begun.append(seconds)
        if len(begun) == 1:
            assert tpp.refresh(tokens, environ_overrides={"sandbox.wait": meanwhile}).status_code == 401

    tpp.refresh(tokens, environ_overrides={"sandbox.wait": meanwhile})


@client_for("token-refresh-reused")
def _(tpp: Actor, wrong: bool) -> None:
    _, tokens = tpp.paid()
    new = tpp.refresh(tokens).get_json()
    tpp.refresh(tokens if wrong else new)


@client_for("token-refreshed-always")
def _(tpp: Actor, wrong: bool) -> None:
    _, tokens = tpp.paid()
    for _ in range(4):
        tokens = tpp.refresh(tokens).get_json()
        tpp.advance("1m" if wrong else "40m")


@client_for("scope-wrong")
def _(tpp: Actor, wrong: bool) -> None:
    flow, paying = tpp.paid()
    tpp.details(flow, (tpp.reader() if wrong else paying)["access_token"])


@client_for("scope-version")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.exchange(tpp.consent(), 2 if wrong else 3)


@client_for("secret-in-address")
def _(tpp: Actor, wrong: bool) -> None:
    flow, tokens = tpp.paid()
    tpp.tpp.status(f"{flow.id}")
    query = f"access_token={tokens['access_token']}" if wrong else "paymentIdType=INTERNAL"
    tpp.tpp.call("GET", f"/payments/sepa-credit-transfers/{flow.id}/status?{query}")


@client_for("secret-on-redirection")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.pay()
    tpp.approve(flow, extra="&note=demo-secret" if wrong else "&note=none")
    tpp.status(flow)


@client_for("token-where-none")
def _(tpp: Actor, wrong: bool) -> None:
    _, tokens = tpp.paid()
    tpp.file_status(tpp.file(), authorization=f"Bearer {tokens['access_token']}" if wrong else None)


@client_for("token-chunked")
def _(tpp: Actor, wrong: bool) -> None:
    _, tokens = tpp.paid()
    tpp.refresh(tokens, headers={"Transfer-Encoding": "chunked"} if wrong else {})


@client_for("token-fields-mixed")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.exchange(tpp.signed(), 3, **{"refresh_token": "x"} if wrong else {"audience": "x"})


@client_for("credentials-again")
def _(tpp: Actor, wrong: bool) -> None:
    _, tokens = tpp.paid()
    tpp.refresh(tokens, secret="wrong")
    tpp.refresh(tokens, secret="wrong" if wrong else "")


@client_for("token-gone-initiation")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.post("no-token-of-this-bank")
    tpp.post("no-token-of-this-bank" if wrong else None)


@client_for("request-id-constant")
def _(tpp: Actor, wrong: bool) -> None:
    flow, same = tpp.pay(), str(uuid4())
    for _ in range(2):
        tpp.status(flow, request_id=same if wrong else str(uuid4()))


@client_for("request-id-reused")
def _(tpp: Actor, wrong: bool) -> None:
    flow, first = tpp.pay(), str(uuid4())
    for name in (first, str(uuid4()), first if wrong else str(uuid4())):
        tpp.status(flow, request_id=name)


@client_for("request-id-wrong")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.status(tpp.pay(), request_id="7" if wrong else str(uuid4()))


@client_for("version-old")
def _(tpp: Actor, wrong: bool) -> None:
    number = 1 if wrong else 2
    tpp.status(tpp.pay(), accept=f"application/vnd.service.api+json; version={number}")


@client_for("language-unknown")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.pay(accept_language="fr, klingon;q=0.5" if wrong else "nl-BE, fr;q=0.9, *;q=0.1")


@client_for("language-without-screens")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.pay(accept_language="en" if wrong else "en, nl;q=0.5")


@client_for("signature-missing")
def _(tpp: Actor, wrong: bool) -> None:
    if wrong:
        clients = tpp.bank.clients
        clients["demo-tpp"] = replace(clients["demo-tpp"], keys=("{}",))
    tpp.pay()


@client_for("digest-missing")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.post(Signature=ES256, **{} if wrong else {"Digest": "SHA-256=x", "Date": "2027-03-01T09:00:00+01:00"})


@client_for("signature-algorithm")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.post(Signature=RS256 if wrong else ES256, Digest="SHA-256=x", Date="2027-03-01T09:00:00+01:00")


@client_for("refused-body-again")
def _(tpp: Actor, wrong: bool) -> None:
    for amount in ("0.00", "0.00" if wrong else "0.01"):
        tpp.post(reference="INVOICE-1", instructed_amount__amount=amount)


@client_for("retry-after-ignored")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.pay()
    tpp.fault("payment_status", answer={"status": 503, "retry_after": 30})
    tpp.status(flow)
    tpp.tpp.control("DELETE", "/faults")
    tpp.advance("29s" if wrong else "30s")
    tpp.status(flow)


@client_for("retried-without-pause")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.pay()
    tpp.fault("payment_status", answer={"status": 500})
    for _ in range(3):
        tpp.status(flow)
        tpp.advance("0.1s" if wrong else "5s")


@client_for("initiation-doubled")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.pay(reference="INVOICE-1")
    tpp.advance("4m" if wrong else "6m")  # an outdated address is had anew by initiating again
    tpp.pay(reference="INVOICE-1")


@client_for("cancel-impossible")
def _(tpp: Actor, wrong: bool) -> None:
    if wrong:
        flow = tpp.signed()
    else:
        flow = tpp.pay(requested_execution_date="2027-03-20")
        tpp.approve(flow)
    tokens = tpp.tokens(flow)
    tpp.advance("61s")
    tpp.status(flow)
    assert tpp.cancel(flow, tokens["access_token"]).status_code == (403 if wrong else 204)


@client_for("status-too-fast")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.pay()
    for _ in range(4):
        tpp.status(flow)
        tpp.advance("0.2s" if wrong else "1s")


@client_for("status-after-final")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.signed()
    tpp.advance("61s")
    for _ in range(3 if wrong else 2):
        assert tpp.status(flow).get_json()["status"] == "ACSC"
        tpp.advance("5s")


@client_for("status-never-asked")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.pay()
    tpp.approve(flow)
    if not wrong:
        tpp.status(flow)


@client_for("outcome-unseen")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.signed()
    assert tpp.tpp.control("POST", f"/payments/{flow.id}/move", status="RJCT", reason="AC04").status_code == 200
    if not wrong:
        tpp.status(flow)


@client_for("sca-lost")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.pay()
    tpp.advance("6m")
    if not wrong:
        tpp.status(flow)


@client_for("details-polled")
def _(tpp: Actor, wrong: bool) -> None:
    flow, tokens = tpp.paid()
    for _ in range(4 if wrong else 3):
        tpp.details(flow, tokens["access_token"])
        tpp.advance("5s")


@client_for("bulk-polled-fast")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.file()
    for _ in range(3):
        tpp.file_status(flow)
        tpp.advance("1s" if wrong else "5s")


@client_for("bulk-file-again")
def _(tpp: Actor, wrong: bool) -> None:
    assert tpp.send(b"<Document>").status_code == 400
    assert tpp.send(b"<Document>" if wrong else b"<Document/>").status_code == (400 if wrong else 201)


@client_for("bulk-address-unused")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.file()
    tpp.advance("2m")
    tpp.file_status(flow)
    assert flow.address
    tpp.advance("6m")
    if not wrong:
        tpp.file_status(flow)


@client_for("paging-stopped")
def _(tpp: Actor, wrong: bool) -> None:
    tokens = tpp.reader()
    account = tpp.ids(tokens)[0]
    if wrong:
        tpp.page(tokens, account, {"date_from": "2026-12-10"})
    else:
        tpp.walk(tokens, account, {"date_from": "2026-12-10"})


@client_for("paging-filters-changed")
def _(tpp: Actor, wrong: bool) -> None:
    tokens = tpp.reader()
    account = tpp.ids(tokens)[0]
    key = tpp.page(tokens, account, {"pagesize": 50})
    assert key is not None
    tpp.walk(tokens, account, {"next": key, "pagesize": 25 if wrong else 50})


@client_for("paging-first-twice")
def _(tpp: Actor, wrong: bool) -> None:
    tokens = tpp.reader()
    account = tpp.ids(tokens)[0]
    tpp.page(tokens, account, {})
    tpp.advance("5s" if wrong else "61s")
    tpp.walk(tokens, account, {})


@client_for("paging-small")
def _(tpp: Actor, wrong: bool) -> None:
    tokens = tpp.reader()
    tpp.walk(tokens, tpp.ids(tokens)[0], {"pagesize": 10 if wrong else 50})


@client_for("history-without-sca")
def _(tpp: Actor, wrong: bool) -> None:
    tokens = tpp.reader()
    tpp.walk(tokens, tpp.ids(tokens)[0], {"date_from": OLD}, sca=not wrong)


@client_for("sca-token-old")
def _(tpp: Actor, wrong: bool) -> None:
    tokens = tpp.reader()
    tpp.advance("61m" if wrong else "50m")
    tokens |= tpp.refresh(tokens).get_json()
    tpp.walk(tokens, tpp.ids(tokens)[0], {"date_from": OLD}, sca=True)


@client_for("sca-required-retried")
def _(tpp: Actor, wrong: bool) -> None:
    tokens = tpp.reader()
    account = tpp.ids(tokens)[0]
    tpp.advance("91d")
    tokens = tpp.refresh(tokens).get_json()
    reply = tpp.get(f"/accounts/{account}/transactions?date_from=2027-05-31", tokens)
    assert reply.get_json()["error"] == "SCA_REQUIRED"
    if not wrong:
        address = f"{reply.get_json()['_links']['sca_redirect']['href']}?state=a-state-of-its-own"
        assert tpp.tpp.control("POST", "/psu/approve", address=address).status_code == 200
    tpp.get(f"/accounts/{account}/transactions?date_from=2027-05-31", tokens)


@client_for("consent-anew")
def _(tpp: Actor, wrong: bool) -> None:
    for _ in range(3):
        tpp.reader()
        if not wrong:
            tpp.tpp.control("POST", "/psu/withdraw", client_id="demo-tpp", customer="alice", scope="AIS")


@client_for("consent-ended-used")
def _(tpp: Actor, wrong: bool) -> None:
    tokens = tpp.reader()
    tpp.tpp.control("POST", "/psu/withdraw", client_id="demo-tpp", customer="alice", scope="AIS")
    for _ in range(2 if wrong else 1):
        assert tpp.get("/accounts", tokens).status_code == 403


@client_for("logical-id-stale")
def _(tpp: Actor, wrong: bool) -> None:
    account = tpp.ids(tpp.reader())[0]
    tpp.tpp.control("POST", "/psu/withdraw", client_id="demo-tpp", customer="alice", scope="AIS")
    second = tpp.reader()
    account = account if wrong else tpp.ids(second)[0]
    assert tpp.get(f"/accounts/{account}", second).status_code == (401 if wrong else 200)


@client_for("account-of-another-psu")
def _(tpp: Actor, wrong: bool) -> None:
    first, second = tpp.reader(), tpp.reader("bram")
    account = tpp.ids(first if wrong else second)[0]
    assert tpp.get(f"/accounts/{account}", second).status_code == (401 if wrong else 200)


@client_for("payment-again-after-doubt")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.fault("payment_initiation", answer={"status": 504})
    request_id = str(uuid4())
    tpp.post(reference="INVOICE-1", verifier=ANOTHER, request_id=request_id)
    tpp.tpp.control("DELETE", "/faults")
    if wrong:
        tpp.pay(reference="INVOICE-1-BIS")
    else:
        assert tpp.post(reference="INVOICE-1", verifier=ANOTHER, request_id=request_id).status_code == 201


@client_for("payment-again-while-recycled")
def _(tpp: Actor, wrong: bool) -> None:
    for amount, day in (("900000.00", 2), ("900000.00" if wrong else "800000.00", 4)):
        flow = tpp.pay(instructed_amount__amount=amount, requested_execution_date=f"2027-03-0{day}")
        assert tpp.approve(flow).status_code == 200
        tpp.advance("1d")
        tpp.status(flow)


@client_for("reference-constant")
def _(tpp: Actor, wrong: bool) -> None:
    for number in range(2):
        flow = tpp.pay(reference="NOTPROVIDED" if wrong else f"INVOICE-{number}")
        tpp.approve(flow)
        tpp.advance("1h")
        tpp.status(flow)


@client_for("request-id-foretold")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.pay()
    for number in range(3):
        tpp.advance("2s")
        tpp.status(flow, request_id=f"6b4cf9c1-6e0c-4a5e-9a5c-{number:012}" if wrong else str(uuid4()))


@client_for("client-secret-in-form")
def _(tpp: Actor, wrong: bool) -> None:
    tpp.exchange(tpp.signed(), 3, **{"client_secret": "demo-secret"} if wrong else {})


@client_for("code-never-came")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.pay()
    tpp.tpp.control("POST", "/psu/refuse", address=flow.address + "?state=the-state-of-today", customer="alice")
    tpp.status(flow)
    if wrong:
        flow.code = "undefined"
        assert tpp.exchange(flow).status_code == 401


@client_for("token-refreshed-late")
def _(tpp: Actor, wrong: bool) -> None:
    tokens = tpp.reader()
    for _ in range(3):
        tpp.advance("61m" if wrong else "59m")
        assert tpp.get("/accounts", tokens).status_code == (401 if wrong else 200)
        tokens = tpp.refresh(tokens).get_json()


@client_for("unattended-too-often")
def _(tpp: Actor, wrong: bool) -> None:
    tokens = tpp.reader()
    account = tpp.ids(tokens)[0]
    for _ in range(5 if wrong else 4):
        tpp.advance("5m")
        tpp.page(tokens, account, {})


@client_for("psu-involved-always")
def _(tpp: Actor, wrong: bool) -> None:
    tokens = tpp.reader()
    account = tpp.ids(tokens)[0]
    tpp.advance("17h")  # two o'clock
    for _ in range(3):
        tokens = tpp.refresh(tokens).get_json()
        tpp.page(tokens, account, {"psu_involved": "true"} if wrong else {})
        tpp.advance("1d")


@client_for("final-by-callback")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.pay()
    tpp.tpp.control("POST", "/psu/refuse", address=flow.address + "?state=the-state-of-today", customer="alice")
    if not wrong:
        tpp.status(flow)


@client_for("status-before-its-day")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.pay(requested_execution_date="2027-03-20")
    tpp.approve(flow)
    for _ in range(30):
        tpp.advance("30m" if wrong else "4h")
        tpp.status(flow)


@client_for("status-polled-long")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.pay(requested_execution_date="2027-03-20")
    for number in range(62):
        tpp.status(flow)
        tpp.advance("1s" if wrong or number < 30 else "5s")


@client_for("code-never-exchanged")
def _(tpp: Actor, wrong: bool) -> None:
    flow = tpp.consent()
    if not wrong:
        tpp.tokens(flow)
    tpp.advance("11m")


@client_for("bulk-file-doubled")
def _(tpp: Actor, wrong: bool) -> None:
    content = tpp.content()
    again = content.replace(b"<EndToEndId>", b"<EndToEndId>B-") if not wrong else content
    for sent in (content, again.replace(b"<MsgId>", b"<MsgId>B-")):
        assert tpp.send(sent).status_code == 201


@client_for("not-found-again")
def _(tpp: Actor, wrong: bool) -> None:
    for _ in range(3):
        flow = Flow("8c8ee7a5-4f0f-4d3f-9f57-1a6f1a6e2d11" if wrong else str(uuid4()), "", "")
        assert tpp.status(flow).status_code == 404
        tpp.advance("1m")


@client_for("refused-for-psu-again")
def _(tpp: Actor, wrong: bool) -> None:
    account = tpp.tpp.iban_of("poor")
    for _ in range(5 if wrong else 4):
        reply = tpp.post(debtor_account={"iban": account}, instructed_amount__amount="900.00")
        assert reply.get_json()["error"] == "INSUFFICIENT_FUNDS"
        tpp.advance("1m")


@client_for("payment-of-another-psu")
def _(tpp: Actor, wrong: bool) -> None:
    _, tokens = tpp.paid()
    token = tokens["access_token"] if wrong else None
    reply = tpp.post(token, debtor_account={"iban": tpp.tpp.iban_of("bram")}, instructed_amount__amount="7.00")
    assert reply.status_code == (403 if wrong else 201)
