"""The console: every section and every button, in-process (choice 10)."""

import re
from base64 import b64encode
from hashlib import sha256
from html import unescape
from time import thread_time
from urllib.parse import unquote, urlsplit

import orjson
import pytest
from flask import Flask

from sandbox.app import assemble, make_first_beginning
from sandbox.bank.records import METHODS
from sandbox.banking.durations import read_instant
from sandbox.web.console.actions import ACTIONS
from sandbox.web.console.formats import LABELS
from sandbox.web.console.templating import MENU
from sandbox.web.controls.lock import Lock
from sandbox.web.controls.rows import CONTROLS
from sandbox.worlds.faults import CALLBACKS, CHANGES, CONNECTIONS, CUTS, EDGES
from sandbox.worlds.holds import PLACES
from sandbox.worlds.registry import WorldRegistry
from tests import contracts
from tests.console.visitor import Visitor
from tests.spec import files
from tests.tpp import ISCT, SCT, Tpp, payment, version

NASTY = "<script>alert(1)</script>\"'&"


@pytest.fixture
def visitor(app: Flask) -> Visitor:
    return Visitor(app)


@pytest.fixture
def busy(tpp: Tpp) -> str:
    """A world with something of everything; the answer is a payment that waits."""
    tpp.signed(tpp.initiate(), "alice")
    contracts.active(tpp, contracts.contract())
    files.sent(tpp, files.pain())
    tpp.initiate(SCT, {"nonsense": 1})
    tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4))
    tpp.control("POST", "/faults", when={"operation": "payment_status", "nth": 9}, answer={"status": 503})
    return tpp.initiated()


def settled(tpp: Tpp) -> str:
    begun = tpp.initiate(ISCT)
    tpp.signed(begun, "alice")
    tpp.advance("10s")
    return str(begun.get_json()["payment_id"])


@pytest.mark.parametrize("path, called", [(row.path, row.called) for row in MENU])
def test_every_section_is_seen_full_and_empty(path: str, called: str, app: Flask, visitor: Visitor, busy: str) -> None:
    for prefix in ("", "/worlds/empty"):
        page = visitor.open(f"{prefix}/_sandbox{path}")
        assert page.status_code == 200
        assert f"<h1>{called}" in unescape(page.text) and 'aria-current="page"' in page.text


def test_every_page_shows_the_time_of_brussels() -> None:
    """The bank's time and the machine's are 18:44 in Brussels, which is 16:44 in UTC."""
    evening = read_instant("2027-07-01T18:44:00+02:00")
    app = assemble(WorldRegistry(make_first_beginning(seed=7, at=evening, rate=0), evening.timestamp))
    tpp, visitor = Tpp(app), Visitor(app)
    payment_id = tpp.initiated()
    tpp.signed(tpp.initiate(), "alice")
    tpp.initiate(SCT, {"nonsense": 1})
    paths = [row.path for row in MENU] + [f"/console/payments/{payment_id}", "/console/calls/1", "/console/calls/3"]
    for path in paths:
        page = visitor.open(f"/_sandbox{path}").text
        assert "18:4" in page and "16:4" not in page and "UTC" not in page and "+00:00" not in page, path


@pytest.mark.parametrize("path, called", [(row.path, row.called) for row in MENU])
def test_no_section_needs_anything_from_outside(path: str, called: str, visitor: Visitor, busy: str) -> None:
    page = visitor.open(f"/_sandbox{path}")
    assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', page.text.replace("http://localhost/", "/"))
    assert "style=" not in page.text and not re.search(r"<script(?! src)", page.text)
    policy = page.headers["Content-Security-Policy"]
    assert "unsafe" not in policy and "frame-ancestors 'none'" in policy and page.headers["X-Frame-Options"] == "DENY"
    styles = re.findall(r"<style>(.*?)</style>", page.text, re.DOTALL)
    assert len(styles) == 1 and "url(" not in styles[0] and "@import" not in styles[0]
    assert f"style-src 'sha256-{b64encode(sha256(styles[0].encode()).digest()).decode()}';" in policy


@pytest.mark.parametrize("path, called", [(row.path, row.called) for row in MENU])
def test_no_secret_is_shown(
    path: str, called: str, worlds: WorldRegistry, tpp: Tpp, visitor: Visitor, busy: str
) -> None:
    tpp.token_for("alice")
    bank = worlds.get("default").bank
    secrets = [*bank.access_tokens, *bank.refresh_tokens, *bank.codes, "demo-secret", "other-secret", *bank.sca_tokens]
    text = visitor.open(f"/_sandbox{path}").text
    assert not [secret for secret in secrets if secret in text]


def test_a_payment_shows_its_way_with_the_taken_path_lit(tpp: Tpp, visitor: Visitor) -> None:
    reply = tpp.initiate()
    tpp.signed(reply, "alice")
    tpp.advance("2m")
    text = visitor.open(f"/_sandbox/console/payments/{reply.get_json()['payment_id']}").text
    lit = re.findall(r'class="edge lit".*?<title>(.*?)</title>', text)
    assert len(lit) == 4 and "signed (choice 5)" in " ".join(lit)
    assert "09:00:00" in text and "09:01:00" in text
    assert re.search(r'class="node been now n-ACSC"', text)
    assert not re.search(r'class="node been[^"]*n-CANC"', text)


def test_orders_and_files_have_their_pictures_too(tpp: Tpp, visitor: Visitor) -> None:
    order, file = contracts.active(tpp, contracts.contract()), files.sent(tpp, files.pain())
    tpp.advance("3m")
    of_order = visitor.open(f"/_sandbox/console/standing-orders/{order}").text
    assert "n-ACWP" in of_order and "2027-04-01" in of_order
    of_file = visitor.open(f"/_sandbox/console/bulk-payments/{file}").text
    assert of_file.count('<svg class="states"') == 2 and "Bulk 1" in of_file


def test_the_page_of_a_validated_file_leads_to_its_report(tpp: Tpp, visitor: Visitor) -> None:
    file = files.sent(tpp, files.pain())
    report = f"/_sandbox/bulk-payments/{file}/report"
    page = f"/_sandbox/console/bulk-payments/{file}"
    assert report not in visitor.open(page).text
    tpp.advance("3m")
    assert f'href="{report}" download' in visitor.open(page).text
    assert visitor.open(report).content_type == "application/xml"


def test_an_account_shows_a_curve_that_ends_at_its_balance(tpp: Tpp, visitor: Visitor) -> None:
    balance = tpp.listed("accounts")[0]["balances"][0]["balance"]
    for span in ("30d", "90d", "1y", "all", "nonsense"):
        text = visitor.open(f"/_sandbox/console/accounts/{contracts.ALICE}?range={span}").text
        assert f"ends at {balance:,.2f}\u00a0EUR" in text


def test_a_call_is_explained(tpp: Tpp, visitor: Visitor) -> None:
    tpp.initiate(SCT, payment(instructed_amount__amount="0"))
    text = visitor.open("/_sandbox/console/calls").text
    assert "POST" in text and "400" in text and "is not above 0" in text and "choice 5" in text
    single = visitor.open("/_sandbox/console/calls/1").text
    assert "AMOUNT_NOT_POSITIVE" in single and "/_sandbox/explain/" in single
    assert visitor.open("/_sandbox/console/calls/2").status_code == 404


@pytest.mark.parametrize(
    "path", ["/console/payments/none", "/console/accounts/BE00", "/console/bulk-payments/x/y", "/console/nothing"]
)
def test_what_is_not_there_is_not_found(path: str, visitor: Visitor) -> None:
    assert visitor.open(f"/_sandbox{path}").status_code == 404


def test_what_tpps_sent_is_escaped(tpp: Tpp, visitor: Visitor) -> None:
    payment_id = tpp.initiated(creditor_name=NASTY)
    tpp.call("GET", f"/{NASTY}", client_id=NASTY, accept=NASTY)
    paths = ["/", "/console/payments", f"/console/payments/{payment_id}", "/console/inbox", "/console/calls"]
    for path in [*paths, "/console/calls/2", "/console/coming", f"/console/payments?q={NASTY}"]:
        text = visitor.open(f"/_sandbox{path}").text
        assert "<script>alert" not in text and "\"'&" not in text, path
        assert "alert(1)" in text, path


BUTTONS: dict[str, dict[str, str]] = {
    "advance": {"advance": "61m"},
    "set": {"set": "2027-03-02T09:00:00+01:00"},
    "freeze": {},
    "run": {"rate": "60"},
    "reset": {},
    "make": {
        "name": "other",
        "scenario": "default",
        "seed": "5",
        "at": "2027-05-01T09:00",
        "frozen": "1",
        "replace": "1",
    },
    "drop": {"name": "other"},
    "fork": {"name": "default", "as": "other", "replace": "1"},
    "rewind": {"name": "default", "at": "2027-03-01T09:00"},
    "approve": {"address": "SCA", "customer": "alice"},
    "refuse": {"address": "SCA"},
    "sign": {"payment_id": "COSIGNED", "customer": "griet"},
    "withdraw": {"client_id": "demo-tpp", "customer": "alice", "scope": "AIS"},
    "move": {"payment_id": "PAYMENT", "status": "CANC", "reason": "TEST"},
    "return": {"payment_id": "SETTLED", "reason": "AC04"},
    "recall": {"payment_id": "SETTLED", "reason": "FOCR"},
    "await": {"payment_id": "PAYMENT", "status": "CANC", "within": "2h"},
    "book": {"iban": contracts.ALICE, "currency": "EUR", "amount": "2500.00", "counterparty": "Employer NV"},
    "load": {"name": "default"},
    "load own": {"yaml": "scenario: Mine\nclock: {at: 2027-03-01T09:00, frozen: true}\n"},
    "fault": {
        "operation": "token",
        "nth": "2, 3",
        "times": "2",
        "status": "502",
        "body": "<p>",
        "content_type": "text/html",
    },
    "drop faults": {},
    "register": {"client_id": "my-tpp", "secret": "my-secret", "PIS": "1", "redirect_uris": "http://127.0.0.1:*/*"},
    "amend": {"client_id": "idle-tpp", "name": "Awake", "active": "yes", "PIS": "1", "AIS": "1"},
    "add customer": {"customer": "zoe", "name": "Zoé", "kind": "private", "language": "fr", "limit_day": "90.00"},
    "change customer": {"customer": "alice", "channel_blocked": "yes", "countries": "BE FR", "app": "1"},
    "add account": {"customer": "alice", "balance": "1000.00", "signatures_required": "1"},
    "change account": {"iban": contracts.ALICE, "closed": "yes", "overdraft": "500.00", "signers": "alice bram"},
    "waive": {"waives": "pkce-plain: an old app", "rule": "state-missing", "reason": "there is none in this test"},
    "unwaive": {"waives": "pkce-plain: an old app\nstate-missing: none", "rule": "pkce-plain"},
    "settings": {"was:page_size": "50", "page_size": "20", "was:life": "off", "life": "off"},
    "hold": {"at": "before_act", "operation": "payment_status", "as": "question", "nth": "1"},
    "release": {"name": "kept"},
    "release all": {},
}


def test_every_action_has_a_test() -> None:
    assert set(BUTTONS) == set(ACTIONS)


# A whole world comes as a file of many megabytes: `bank-sandbox import` sends it.
# The others only ask.
NO_BUTTON = {("POST", path) for path in ("/import", "/requests/count", "/requests/verify", "/payee-checks")}


def test_every_control_that_changes_something_has_a_button() -> None:
    asks = [action.ask(BUTTONS[name]) for name, action in ACTIONS.items()]
    changing = {(method, path) for method, path, *_ in CONTROLS if method != "GET"}
    assert {(ask.row.method, ask.row.path) for ask in asks} == changing - NO_BUTTON


def test_every_button_stands_on_a_page(tpp: Tpp, visitor: Visitor, busy: str) -> None:
    consent = tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4)).get_json()[0]["consent_uri"]
    tpp.control("POST", "/psu/approve", address=consent, customer="alice")
    tpp.signed(tpp.initiate(SCT, payment(debtor_account={"iban": files.NOTARIS})), "notaris")
    tpp.control("PATCH", "/settings", referee_waives=["state-missing: none here"])
    tpp.control("POST", "/holds", at="after_act", when={"operation": "token"})
    shown = [f"/console/payments/{payment_id}" for payment_id in (busy, settled(tpp))]
    paths = [row.path for row in MENU] + [*shown, f"/console/accounts/{contracts.ALICE}"]
    pages = [visitor.open(f"/_sandbox{path}").text for path in paths]
    asked = {unquote(name) for text in pages for name in re.findall(r'action="/_sandbox/console/do/([^"]+)"', text)}
    assert asked == set(ACTIONS)


@pytest.mark.parametrize("action", BUTTONS)
def test_a_button_does_what_its_curl_line_says(action: str, app: Flask, tpp: Tpp, visitor: Visitor) -> None:
    app.test_client().put("/_sandbox/worlds/other", json={})
    consent = tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4)).get_json()[0]["consent_uri"]
    tpp.control("POST", "/psu/approve", address=consent, customer="alice")
    cosigned = tpp.initiate(SCT, payment(debtor_account={"iban": files.NOTARIS}))
    tpp.signed(cosigned, "notaris")
    tpp.control("POST", "/holds", at="after_act", when={"operation": "token"}, **{"as": "kept"})
    begun = tpp.initiate()
    known = {"SCA": begun.headers["Location"], "PAYMENT": begun.get_json()["payment_id"]}
    known |= {"COSIGNED": cosigned.get_json()["payment_id"], "SETTLED": settled(tpp)}
    fields = {name: known.get(value, value) for name, value in BUTTONS[action].items()}
    visitor.open("/_sandbox/")
    page = visitor.press(action, **fields)
    assert page.status_code == 200 and "<b>Done.</b>" in page.text, page.text
    assert "curl -X" in page.text


def test_a_payment_that_came_back_has_no_button_for_that(tpp: Tpp, visitor: Visitor) -> None:
    payment_id = settled(tpp)
    place = f"/_sandbox/console/payments/{payment_id}"
    assert ">Return</button>" in visitor.open(place).text and ">Recall</button>" in visitor.page.text
    visitor.press("return", payment_id=payment_id, reason="MD07")
    assert tpp.control("GET", f"/payments/{payment_id}").get_json()["history"][-1]["reason"] == "MD07"
    assert ">Return</button>" not in visitor.open(place).text
    assert "It has come to its end." in visitor.page.text


def test_a_further_signer_refuses_by_a_button(tpp: Tpp, visitor: Visitor) -> None:
    begun = tpp.initiate(SCT, payment(debtor_account={"iban": files.NOTARIS}))
    tpp.signed(begun, "notaris")
    payment_id = begun.get_json()["payment_id"]
    for path in ("/_sandbox/console/inbox", f"/_sandbox/console/payments/{payment_id}"):
        assert "Refuse as griet" in visitor.open(path).text
    assert "<b>Done.</b>" in visitor.press("refuse", payment_id=payment_id, customer="griet").text
    assert tpp.control("GET", f"/payments/{payment_id}").get_json()["reason"] == "PSU_REFUSED"


def test_the_controls_feel_a_button(tpp: Tpp, visitor: Visitor) -> None:
    payment_id = tpp.initiated()
    visitor.open("/_sandbox/")
    visitor.press("advance", advance="61m", back="/console/payments")
    assert visitor.page.request.path == "/_sandbox/console/payments"
    assert tpp.control("GET", "/clock").get_json()["now"] == "2027-03-01T10:01:00+01:00"
    assert tpp.control("GET", f"/payments/{payment_id}").get_json()["reason"] == "TIME_OUT"
    assert (
        """curl -X POST http://localhost/_sandbox/clock --json &#39;{&#34;advance&#34;:&#34;61m&#34;}&#39;"""
        in visitor.page.text
    )


@pytest.mark.parametrize(
    "action, fields, why",
    [
        ("advance", {"advance": "soon"}, "a duration is written like"),
        ("set", {"set": "2020-01-01T00:00"}, "does not go back"),
        ("make", {"name": "no/name"}, "letters, digits"),
        ("approve", {"address": "x"}, "'address' was not found"),
        ("load own", {"yaml": "nonsense: ["}, "scenario"),
        ("load own", {"yaml": "steps: [{status: rent}]"}, "nothing was captured as 'rent' before this step"),
        ("register", {"client_id": "my-tpp", "secret": "with a blank"}, "1 to 256"),
        ("amend", {"client_id": "demo-tpp", "keys": "no JSON"}, "it is a list"),
        ("amend", {"client_id": "nobody", "active": "no"}, "client"),
        ("waive", {"rule": "pkce-plain", "reason": ""}, "wrong form"),
        ("fault", {"chance": "2", "status": "503"}, "chance"),
    ],
)
def test_a_refused_button_says_why(action: str, fields: dict[str, str], why: str, visitor: Visitor) -> None:
    visitor.open("/_sandbox/")
    page = visitor.press(action, **fields)
    assert "<b>Refused.</b>" in page.text and why in unescape(page.text)


def test_a_form_without_our_proof_moves_nothing(tpp: Tpp, visitor: Visitor) -> None:
    visitor.open("/_sandbox/")
    assert visitor.press("advance", proof="0" * 48, advance="1d").status_code == 403
    assert tpp.http.post("/_sandbox/console/do/advance", data={"advance": "1d"}).status_code == 403
    assert tpp.control("GET", "/clock").get_json()["now"] == "2027-03-01T09:00:00+01:00"


def test_the_proof_of_one_browser_is_none_of_another(app: Flask, visitor: Visitor) -> None:
    visitor.open("/_sandbox/")
    stranger = Visitor(app)
    stranger.open("/_sandbox/")
    assert stranger.press("advance", proof=visitor.proof, advance="1d").status_code == 403


@pytest.mark.parametrize("back", ["//evil.example/", "https://evil.example/", "\\\\evil.example", "/a\r\nX: y"])
def test_a_form_leads_nowhere_else(back: str, visitor: Visitor) -> None:
    visitor.open("/_sandbox/")
    reply = visitor.post("advance", advance="1s", back=back)
    assert reply.status_code == 303 and reply.headers["Location"].startswith("/_sandbox/")


def test_a_notice_is_for_the_browser_that_pressed(app: Flask, visitor: Visitor) -> None:
    visitor.open("/_sandbox/")
    visitor.press("advance", advance="1s")
    assert "Done." not in Visitor(app).open("/_sandbox/?notice=1").text


def test_the_code_of_a_callback_is_not_shown(tpp: Tpp, visitor: Visitor) -> None:
    address = tpp.initiate().headers["Location"]
    visitor.open("/_sandbox/")
    text = visitor.press("approve", address=address, customer="alice").text
    assert "called back at http://127.0.0.1:9000/callback." in text and "code=" not in text


def test_each_world_has_a_console_of_its_own(app: Flask, visitor: Visitor) -> None:
    other = Tpp(app, "b")
    other.initiated(creditor_name="Only There")
    assert "Only There" in visitor.open("/worlds/b/_sandbox/").text
    assert "Only There" not in visitor.open("/_sandbox/").text
    assert 'href="/worlds/b/_sandbox/"' in visitor.open("/_sandbox/console/worlds").text
    visitor.open("/worlds/b/_sandbox/console/worlds")
    reply = visitor.post("drop", name="b", back="/console/worlds", sure="yes")
    assert urlsplit(reply.headers["Location"]).path == "/_sandbox/console/worlds"


def test_the_live_mark_changes_with_what_is_seen_and_with_nothing_else(tpp: Tpp, visitor: Visitor) -> None:
    def mark() -> str:
        return str(visitor.open("/_sandbox/console/live").get_json()["mark"])

    def change_a_setting() -> None:
        tpp.control("PATCH", "/settings", code_life="1m")

    before = mark()
    assert mark() == before
    for change in (tpp.initiated, lambda: tpp.advance("1s"), lambda: tpp.call("GET", "/x"), change_a_setting):
        change()
        after = mark()
        assert after != before
        before = after


def test_with_a_key_the_console_asks_for_it_first(worlds: WorldRegistry) -> None:
    app = assemble(worlds, lock=Lock("sesame & co"))
    visitor = Visitor(app)
    for path in ("/", "/console/payments", "/console/live"):
        page = visitor.open(f"/_sandbox{path}")
        assert page.status_code == 401 and "Key of this sandbox" in page.text and "Overview</a>" not in page.text
    assert visitor.post("advance", advance="1d").status_code == 401
    wrong = visitor.http.post("/_sandbox/console/key", data={"proof": visitor.proof, "key": "sesam"})
    assert wrong.status_code == 401
    right = visitor.http.post("/_sandbox/console/key", data={"proof": visitor.proof, "key": "sesame & co"})
    assert right.status_code == 303 and "sesame" not in str(right.headers)
    page = visitor.open("/_sandbox/")
    assert page.status_code == 200 and "sesame" not in page.text and "$SANDBOX_KEY" in page.text
    assert "Done." in visitor.press("advance", advance="1s").text
    assert visitor.open("/_sandbox/docs").status_code < 400  # what it links to
    assert visitor.http.post("/_sandbox/clock", json={"advance": "1s"}).status_code == 401


def test_the_key_may_also_come_as_a_header(worlds: WorldRegistry) -> None:
    http = assemble(worlds, lock=Lock("sesame")).test_client()
    assert http.get("/_sandbox/", headers={"X-Sandbox-Key": "sesame"}).status_code == 200
    assert http.get("/_sandbox/", headers={"X-Sandbox-Key": "other"}).status_code == 401


def test_lists_are_paged_and_sought(tpp: Tpp, visitor: Visitor) -> None:
    for number in range(52):
        tpp.initiated(endtoend_identification=f"REF-{number}")
    text = visitor.open("/_sandbox/console/payments").text
    assert "REF-51<" in text and "REF-2<" in text and "REF-1<" not in text and "Older →</a>" in text
    text = visitor.open("/_sandbox/console/payments?page=2").text
    assert "REF-1<" in text and "REF-2<" not in text and "← Newer</a>" in text
    text = visitor.open("/_sandbox/console/payments?q=ref-33&status=RCVD").text
    assert "REF-33<" in text and "REF-34<" not in text
    assert "Nothing fits." in visitor.open("/_sandbox/console/payments?status=ACSC").text
    for odd in ("0", "-1", "x", "99999999999999"):
        assert visitor.open(f"/_sandbox/console/payments?page={odd}").status_code == 200


@pytest.mark.parametrize("sought", ["sought far", "ref-33", "1234.56", "BE16 5391 0000 1774", "Alice", "REQUEST"])
def test_the_search_looks_at_everything(sought: str, tpp: Tpp, visitor: Visitor) -> None:
    id = "0f5a3c1e-58a5-4d7c-9d0e-3f1b8f6f2a11"
    changes = {
        "creditor_name": "Sought Far",
        "endtoend_identification": "REF-33",
        "instructed_amount__amount": "1234.56",
    }
    tpp.initiate(SCT, payment(**changes), request_id=id)
    text = visitor.open(f"/_sandbox/console/search?q={id if sought == 'REQUEST' else sought}").text
    assert ("/console/payments/" in text) is (sought in ("sought far", "ref-33", "1234.56"))
    assert ("/console/accounts/BE16539100001774" in text) is (sought in ("BE16 5391 0000 1774", "Alice"))
    assert ("/console/calls/1" in text) is (sought == "REQUEST")


def test_a_search_for_nothing_finds_nothing(tpp: Tpp, visitor: Visitor) -> None:
    tpp.initiated()
    assert "Type a part of" in visitor.open("/_sandbox/console/search?q=+").text
    assert "Nothing fits." in visitor.open("/_sandbox/console/search?q=no-such-thing").text


def test_background_events_are_shown_on_request(tpp: Tpp, visitor: Visitor) -> None:
    tpp.control("PATCH", "/settings", life="on")
    tpp.initiated()
    assert ">habit<" not in visitor.open("/_sandbox/").text
    folded = visitor.open("/_sandbox/console/coming").text
    assert "expires" in folded and ">habit<" not in folded and "Show background events" in folded
    shown = visitor.open("/_sandbox/console/coming?background=1").text
    assert ">habit<" in shown and "Hide background events" in shown


def test_the_overview_shows_errors_first_and_the_findings(tpp: Tpp, visitor: Visitor) -> None:
    assert "The referee looks at every call" in visitor.open("/_sandbox/").text
    tpp.status("x", request_id="no-uuid")
    tpp.initiated()
    text = visitor.open("/_sandbox/").text
    assert text.index("/console/calls/1") < text.index("/console/calls/2")
    assert "/console/referee?rule=" in text


def test_a_call_becomes_a_fault(tpp: Tpp, visitor: Visitor) -> None:
    tpp.initiate(SCT, payment(instructed_amount__amount="0"))
    link = re.search(
        r'href="([^"]*)#h-add">Make a fault from this call', visitor.open("/_sandbox/console/calls/1").text
    )
    assert link is not None
    text = visitor.open(unescape(link[1])).text
    assert (
        '<option value="payment_initiation" selected>Payment initiation (payment_initiation)' in text
        and 'name="status" value="400"' in text
    )
    assert 'name="client" size="9" value="demo-tpp"' in text


@pytest.mark.parametrize("title", ["503 twice, then fine", "Times out after execution", "Callback twice"])
def test_a_fault_that_is_ready_is_added(title: str, tpp: Tpp, visitor: Visitor) -> None:
    text = visitor.open("/_sandbox/console/scenario").text
    form = next(one for one in re.findall(r"<form.*?</form>", text, re.DOTALL) if f">{title}</button>" in one)
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))
    assert "<b>Done.</b>" in visitor.press("fault", **fields).text
    assert [row["title"] for row in tpp.listed("faults")] == [title]


def test_a_page_stays_small_with_ten_thousand_payments(worlds: WorldRegistry, tpp: Tpp, visitor: Visitor) -> None:
    first = tpp.initiated()
    bank = worlds.get("default").bank
    for number in range(10_000):
        bank.payments[f"copy-{number}"] = bank.payments[first]
    visitor.open("/_sandbox/")
    for path in ("/", "/console/payments", "/console/payments?page=200", "/console/calls", "/console/journal"):
        began = thread_time()
        page = visitor.open(f"/_sandbox{path}")
        assert page.status_code == 200 and len(page.data) < 100_000
        assert thread_time() - began < 1
    assert "10,001 in this world" in visitor.open("/_sandbox/console/payments").text


@pytest.mark.parametrize("name", ["console.js", "console.svg"])
def test_its_files_are_its_own_and_cached(name: str, app: Flask) -> None:
    http = app.test_client()
    named = re.search(rf'"(/_sandbox/static/{name}\?v=[0-9a-f]+)"', http.get("/_sandbox/").text)
    assert named is not None and "immutable" in http.get(named[1]).headers["Cache-Control"]
    for other in ("", "?v=", "?v=0123456789abcdef"):
        assert http.get(f"/_sandbox/static/{name}{other}").headers["Cache-Control"] == "no-cache"
    first = http.get(f"/_sandbox/static/{name}")
    assert first.status_code == 200 and first.headers["X-Content-Type-Options"] == "nosniff"
    again = http.get(f"/_sandbox/static/{name}", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304


def test_the_inbox_lets_one_choose_how_the_customer_signs(tpp: Tpp, visitor: Visitor) -> None:
    address = tpp.initiate().headers["Location"]
    page = visitor.open("/_sandbox/console/inbox").text
    listed = re.findall(r'<option value="(\w*)">(?:any method|card reader|app|biometrics|identity app)<', page)
    assert listed[:5] == ["", *METHODS]
    told = unescape(visitor.press("approve", address=address, customer="poor", method="app").text)
    assert "did not activate" in told and tpp.listed("payments")[0]["status"] == "RCVD"
    visitor.press("approve", address=address, customer="notaris", method="app")
    payment_id = tpp.listed("payments")[0]["payment_id"]
    assert "Sign as griet" in visitor.open("/_sandbox/console/inbox").text
    refused = visitor.press("sign", payment_id=payment_id, customer="griet", method="biometrics")
    assert "did not activate" in unescape(refused.text)
    visitor.press("sign", payment_id=payment_id, customer="griet", method="")
    assert tpp.listed("payments")[0]["status"] == "PDNG"


def amounts(page: str) -> list[str]:
    return re.findall(r'<td class="num card-side">([\d.]+)', page)


def test_a_list_is_sorted_by_the_links_of_its_headings(tpp: Tpp, visitor: Visitor) -> None:
    for amount in ("20.00", "3.00", "100.00"):
        tpp.initiated(instructed_amount__amount=amount)
    page = visitor.open("/_sandbox/console/payments?status=RCVD").text
    assert amounts(page) == ["100.00", "3.00", "20.00"]
    (link,) = re.findall(r'href="([^"]+)">Amount</a>', page)
    page = visitor.open(unescape(link)).text
    assert amounts(page) == ["3.00", "20.00", "100.00"] and 'aria-sort="ascending"' in page
    (link,) = re.findall(r'href="([^"]+)">Amount</a>', page)
    page = visitor.open(unescape(link)).text
    assert amounts(page) == ["100.00", "20.00", "3.00"] and 'aria-sort="descending"' in page
    assert "status=RCVD" in unescape(link) and amounts(visitor.open("/_sandbox/console/payments?sort=x").text)


@pytest.mark.parametrize("path, sorts", [("calls", ("status", "-path")), ("accounts", ("owner", "-balance"))])
def test_calls_and_accounts_are_sorted_too(path: str, sorts: tuple[str, ...], tpp: Tpp, visitor: Visitor) -> None:
    tpp.initiated()
    tpp.status("x")
    orders = [
        re.findall(rf"/console/{path}/(\w+)", visitor.open(f"/_sandbox/console/{path}?sort={sort}").text)
        for sort in sorts
    ]
    assert orders[0] != orders[1] and set(orders[0]) == set(orders[1])


def test_the_way_back_to_a_list_keeps_its_filters(tpp: Tpp, visitor: Visitor) -> None:
    tpp.initiated(creditor_name="Sought Here")
    page = visitor.open("/_sandbox/console/payments?q=sought&sort=-amount").text
    item = unescape(re.findall(r'class="card-link mono" href="([^"]+)"', page)[0])
    crumb = unescape(re.findall(r'class="crumb"><a href="([^"]+)"', visitor.open(item).text)[0])
    assert crumb == "/_sandbox/console/payments?q=sought&sort=-amount"
    call = unescape(
        re.findall(r'href="(/_sandbox/console/calls/1[^"]*)"', visitor.open("/_sandbox/console/calls?status=201").text)[
            0
        ]
    )
    assert 'href="/_sandbox/console/calls?status=201"' in visitor.open(call).text


@pytest.mark.parametrize("path", ["/console/nowhere", "/console/payments/none", "/console/calls/9"])
def test_a_page_about_a_wrong_address_has_no_code_for_developers(path: str, visitor: Visitor) -> None:
    assert "Code: the same with" in visitor.open("/_sandbox/").text
    page = visitor.open(f"/_sandbox{path}")
    assert page.status_code == 404 and "<h1>Not found</h1>" in page.text
    assert "Code: the same with" not in page.text and "To the overview" in page.text


def test_a_button_that_copies_an_id_has_a_name_for_those_who_do_not_see_its_icon(tpp: Tpp, visitor: Visitor) -> None:
    payment_id = tpp.initiated()
    button = re.search(r'<button[^>]* data-copy="([^"]+)" title="copy all of it"', visitor.open("/_sandbox/").text)
    assert button and button[1] == payment_id


def test_the_journal_is_filtered(tpp: Tpp, visitor: Visitor) -> None:
    tpp.control("POST", f"/payments/{tpp.initiated()}/move", status="CANC")
    assert visitor.open("/_sandbox/console/journal").text.count("<tr>") == 3
    assert visitor.open("/_sandbox/console/journal?status=CANC").text.count("<tr>") == 2
    assert "Nothing fits." in visitor.open("/_sandbox/console/journal?text=nowhere").text


@pytest.mark.parametrize("path, called", [(row.path, row.called) for row in MENU])
def test_every_section_has_one_primary_button(path: str, called: str, visitor: Visitor, busy: str) -> None:
    page = re.sub("<style>.*</style>", "", visitor.open(f"/_sandbox{path}").text)
    lead = len(re.findall(r'class="waiting[^"]* lead"', page))
    assert len(re.findall(r'class="[^"]*\bprimary\b', page)) + lead == 1


def test_the_menu_has_sections(visitor: Visitor) -> None:
    page = visitor.open("/_sandbox/").text
    assert re.findall(r'class="section" id="[^"]+">([^<]+)<', page) == ["Try", "Bank", "Look", "Set up"]


def test_a_fault_is_shown_as_json_before_it_is_added(tpp: Tpp, visitor: Visitor) -> None:
    visitor.open("/_sandbox/console/scenario")
    typed = {"proof": visitor.proof, "back": "/console/scenario", "status": "500", "operation": "token", "times": "2"}
    reply = visitor.http.post("/_sandbox/console/preview/fault", data=typed, headers={"Accept": "application/json"})
    expected = {"times": 2, "answer": {"status": 500}, "when": {"operation": "token"}}
    assert reply.json == expected and not tpp.listed("faults")
    page = visitor.open(visitor.http.post("/_sandbox/console/preview/fault", data=typed).headers["Location"]).text
    shown = re.findall(r'id="preview"[^>]*>(.*?)</pre>', page, re.DOTALL)
    assert orjson.loads(unescape(shown[0])) == expected and 'name="times" size="4" inputmode="numeric"' in page
    assert 'value="2"' in page and '<option value="token" selected' in page
    assert visitor.http.post("/_sandbox/console/preview/nothing", data=typed).status_code == 404
    assert visitor.http.post("/_sandbox/console/preview/fault", data={"status": "500"}).status_code == 403


def test_words_of_faults_have_labels_and_keep_their_names(visitor: Visitor) -> None:
    page = visitor.open("/_sandbox/console/scenario").text
    for word in (*CUTS, *CHANGES, *CALLBACKS, *CONNECTIONS, *EDGES, *PLACES):
        assert word in LABELS and f"{LABELS[word]} ({word})" in page


def test_a_refused_call_of_the_console_leads_to_its_reason(tpp: Tpp, visitor: Visitor) -> None:
    visitor.open("/_sandbox/console/new")
    answer = visitor.http.post("/_sandbox/console/call/pay", data={"proof": visitor.proof, "amount": "0"}).text
    (link,) = re.findall(r'href="([^"]+)">See why', answer)
    assert "AMOUNT_NOT_POSITIVE" in visitor.open(link).text


def test_the_calls_that_are_shown_become_a_scenario(tpp: Tpp, visitor: Visitor) -> None:
    tpp.initiated(creditor_name="Somebody Real")
    tpp.initiate(SCT, {"nonsense": 1})
    page = visitor.open("/_sandbox/console/calls?status=201").text
    (link,) = re.findall(r'href="([^"]+)">Make a scenario of these calls', page)
    page = unescape(visitor.open(unescape(link)).text)
    assert "Scenario of 1 call<" in page and "- pay:" in page and "Somebody Real" not in page
    (yaml,) = re.findall(r'<textarea name="yaml"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    assert "<b>Done.</b>" in visitor.press("load own", yaml=yaml).text
    assert "Make a scenario" not in visitor.open("/_sandbox/console/calls?text=nowhere").text


@pytest.mark.parametrize("path", ["/nothing", "/payments/[x", "//[::1", "/payments/%5B"])
def test_a_call_that_no_bank_knows_does_not_stop_the_scenario_of_the_others(
    tpp: Tpp, visitor: Visitor, path: str
) -> None:
    tpp.initiated()
    assert visitor.http.get("/", environ_overrides={"REQUEST_URI": path}).status_code == 404
    page = visitor.open("/_sandbox/console/lift").text
    assert "Scenario of 1 call<" in page and "1 more call is left out" in page
