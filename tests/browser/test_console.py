"""A real browser at the console: it stays fresh, asks nobody else, and suits eyes, keyboards and phones (choice 10)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from sandbox.web.console.templating import MENU
from tests import contracts
from tests.browser.watched import Watched
from tests.spec import files
from tests.tpp import SCT, Tpp, payment, version

PHONE, WIDE = (360, 740), (1280, 900)
MODERN: ViewportSize = {"width": 390, "height": 844}
# Each card with its text, its height, and the boxes of its title, of what is at its right, and of its badges. A box is
# its top, bottom, right end and height.
CARDS = """() => [...document.querySelectorAll(".brief > tbody > tr, .brief > li")].map((card) => {
    const boxes = (query) => [...card.querySelectorAll(query)].map((one) => one.getBoundingClientRect())
        .filter((box) => box.width).map((box) => [box.top, box.bottom, box.right, box.height]);
    return {
        title: boxes(".card-title"), sides: boxes(".card-side, .card-parts > .badge, .what > .badge"),
        badges: boxes(".badge"), height: card.getBoundingClientRect().height,
        text: card.innerText,
    };
})"""
LONG = f"https://{'long-' * 9}name.example.com/{'path/' * 20}*"


@dataclass
class Visit(Watched):
    """The console."""

    bank: str

    def open(self, path: str) -> None:
        self.page.goto(f"{self.bank}/_sandbox{path}")

    def demand_near(self) -> None:
        """The first action of the page is within eight keys, and the page weighs 150 kB at most."""
        assert len(self.page.content().encode()) < 140_000, self.page.url  # its script and its picture weigh 10 kB
        if self.page.locator("a.skip").count() == 0:
            return  # a report that stands by itself
        self.page.keyboard.press("Tab")
        self.page.keyboard.press("Enter")
        for _ in range(6):
            self.page.keyboard.press("Tab")
            if self.page.locator("main :is(a, button, input, select, textarea, summary):focus").count():
                return
        raise AssertionError(self.page.url)

    def demand_quiet(self) -> None:
        self.demand_nobody_but(f"{self.bank}/_sandbox/")


@pytest.fixture
def visit(chromium: Browser, bank: str) -> Iterator[Visit]:
    context = chromium.new_context(viewport={"width": WIDE[0], "height": WIDE[1]})
    yield Visit(context.new_page(), bank)
    context.close()


def paths_of(tpp: Tpp) -> list[str]:
    """Every section, one of each thing, and the report that one keeps, in a world that has some of all."""
    tpp.signed(tpp.initiate(SCT, payment(creditor_name="W" * 70)), "alice")
    order, file = contracts.active(tpp, contracts.contract()), files.sent(tpp, files.pain())
    consent = tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4)).get_json()[0]["consent_uri"]
    tpp.control("POST", "/psu/approve", address=consent, customer="alice")
    tpp.signed(tpp.initiate(SCT, payment(debtor_account={"iban": files.NOTARIS})), "notaris")
    tpp.call("GET", "/" + "long" * 40)
    tpp.control("POST", "/faults", when={"operation": "payment_status", "nth": 9}, answer={"status": 503})
    waiting = tpp.initiated()
    singles = [f"payments/{waiting}", f"standing-orders/{order}", f"bulk-payments/{file}", "calls/1"]
    pages = [row.path for row in MENU] + [f"/console/{one}" for one in (*singles, f"accounts/{contracts.ALICE}")]
    return [*pages, "/referee?format=html"]


@pytest.mark.parametrize("half", [0, 1])
def test_every_section_is_good_for_all(half: int, visit: Visit, tpp: Tpp) -> None:
    """Each page is loaded once, and then seen wide and light, narrow and dark."""
    tpp.control(
        "POST", "/clients", client_id="c" * 60, name="W" * 60, secret="s" * 40, roles=["PIS"], redirect_uris=[LONG]
    )
    for path in paths_of(tpp)[half::2]:
        visit.resize(WIDE, "light")
        visit.open(path)
        visit.demand_near()
        visit.demand_fits()
        visit.demand_unclipped()
        visit.demand_usable()
        visit.resize(PHONE, "dark")
        visit.demand_fits()
        visit.demand_usable()
    visit.demand_quiet()


def test_a_payment_made_while_the_page_is_open_appears(visit: Visit, tpp: Tpp) -> None:
    visit.open("/console/payments")
    expect(visit.page.get_by_text("None yet.")).to_be_visible()
    payment_id = tpp.initiated(creditor_name="Comes Later")
    expect(visit.page.get_by_role("cell", name="Comes Later")).to_be_visible()
    expect(visit.page.locator("tbody .badge")).to_have_text("RCVD")
    tpp.control("POST", f"/payments/{payment_id}/move", status="CANC")
    expect(visit.page.locator("tbody .badge")).to_have_text("CANC")
    assert (
        "new calls" in visit.page.locator("#news").inner_text() or "changes" in visit.page.locator("#news").inner_text()
    )
    visit.demand_quiet()


def test_the_clock_goes_on_by_a_button(visit: Visit, tpp: Tpp) -> None:
    payment_id = tpp.initiated()
    visit.open(f"/console/payments/{payment_id}")
    visit.page.get_by_role("button", name="Advance by 61 minutes").click()
    expect(visit.page.locator("#now")).to_have_text("Mon 1 Mar 2027 10:01:00")
    expect(visit.page.locator("#head .badge")).to_have_text("CANC")
    expect(visit.page.get_by_role("status").first).to_contain_text("Done. The clock went on by 61m.")
    visit.demand_quiet()


def test_the_slash_key_searches_everything(visit: Visit, tpp: Tpp) -> None:
    tpp.initiated(creditor_name="Sought Far", endtoend_identification="A-REFERENCE-THAT-IS-RATHER-LONG")
    visit.open("/console/settings")
    visit.page.keyboard.press("/")
    visit.page.keyboard.type("rather-long")
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_role("cell", name="Sought Far")).to_be_visible()
    expect(visit.page.get_by_text("A-REFERE…R-LONG")).to_be_visible()
    visit.demand_quiet()


def test_a_clock_moved_elsewhere_is_seen(visit: Visit, tpp: Tpp) -> None:
    visit.open("/")
    tpp.advance("1h")
    expect(visit.page.locator("#now")).to_have_text("Mon 1 Mar 2027 10:00:00")


def test_what_is_being_typed_is_left_alone(visit: Visit, tpp: Tpp) -> None:
    waiting = tpp.initiated()
    visit.open(f"/console/payments/{waiting}")
    visit.page.get_by_label("Reason").fill("TEST")
    tpp.advance("2s")
    expect(visit.page.locator("#head .badge")).to_have_text("PATC")
    assert visit.page.get_by_label("Reason").input_value() == "TEST"


def test_a_psu_approves_in_the_inbox_with_the_keyboard(visit: Visit, tpp: Tpp) -> None:
    tpp.initiated()
    visit.open("/console/inbox")
    visit.page.keyboard.press("Tab")
    assert visit.page.locator(":focus").inner_text() == "Skip to content"
    visit.page.locator("select[name=method]").focus()
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_role("status").first).to_contain_text("Approved, as the PSU.")
    assert tpp.listed("payments")[0]["customer"] == "alice"
    visit.demand_quiet()


def test_a_finding_appears_and_leads_to_its_call_by_keyboard(visit: Visit, tpp: Tpp) -> None:
    visit.open("/console/referee")
    expect(visit.page.get_by_text("No mistake was seen.")).to_be_visible()
    tpp.status("x", request_id="no-uuid")
    expect(visit.page.locator("article.finding")).to_contain_text("it is not a version 4 UUID")
    expect(visit.page.locator("#number-referee")).to_contain_text("1")
    visit.page.get_by_label("Reason for accepting").fill("an old app")
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator("#waived")).to_contain_text("an old app")
    expect(visit.page.locator("#number-referee")).to_be_hidden()
    visit.page.locator(".exchanges a").focus()
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_role("heading", name="What the referee says")).to_be_visible()
    expect(visit.page.locator("pre.body")).to_contain_text('"error": "INVALID_INPUT"')
    visit.demand_quiet()


def test_the_timeline_is_zoomed_by_wheel_and_keys(visit: Visit, tpp: Tpp) -> None:
    tpp.initiated(creditor_name="Zoomed")
    tpp.advance("2h")
    visit.open("/console/timeline")
    box = visit.page.locator(".timeline")
    whole = box.get_attribute("data-begin")
    box.focus()
    visit.page.keyboard.press("+")
    expect(box).not_to_have_attribute("data-begin", whole or "")
    visit.page.keyboard.press("0")
    expect(box).to_have_attribute("data-begin", whole or "")
    box.hover()
    visit.page.mouse.wheel(0, -100)
    expect(visit.page).to_have_url(re.compile("from="))
    expect(visit.page.locator("#timeline > p").first).to_contain_text("0 calls")
    visit.demand_quiet()


def test_a_phone_shows_where_a_payment_stands(chromium: Browser, bank: str, tpp: Tpp) -> None:
    payment_id = tpp.initiated()
    tpp.control("POST", f"/payments/{payment_id}/move", status="CANC")
    context = chromium.new_context(viewport={"width": PHONE[0], "height": PHONE[1]})
    visit = Visit(context.new_page(), bank)
    visit.open(f"/console/payments/{payment_id}")
    expect(visit.page.locator(".states .now .name")).to_be_in_viewport()
    visit.open("/console/worlds")
    expect(visit.page.locator(".menu [aria-current]")).to_be_hidden()
    visit.page.get_by_role("button", name="Menu").click()
    expect(visit.page.locator(".menu [aria-current]")).to_be_in_viewport()
    context.close()


@pytest.fixture
def phone(chromium: Browser, bank: str) -> Iterator[Visit]:
    context = chromium.new_context(viewport=MODERN, is_mobile=True, has_touch=True)
    yield Visit(context.new_page(), bank)
    context.close()


@pytest.mark.parametrize(
    "path, rows, height",
    [
        ("payments", 3, 110),
        ("bulk-payments", 1, 90),
        ("inbox", 4, 90),
        ("calls", 6, 110),
        ("journal", 7, 72),
        ("coming", 2, 100),
    ],
)
def test_a_phone_shows_a_row_as_a_title_and_a_quiet_line(
    path: str, rows: int, height: int, phone: Visit, tpp: Tpp
) -> None:
    tpp.signed(tpp.initiate(SCT, payment(creditor_name="Société anonyme des établissements réunis")), "alice")
    tpp.signed(tpp.initiate(SCT, payment(debtor_account={"iban": files.NOTARIS})), "notaris")
    files.sent(tpp, files.pain())
    for _ in range(2):
        consent = tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4)).get_json()[0]["consent_uri"]
    tpp.control("POST", "/psu/approve", address=consent, customer="alice")
    tpp.control("POST", f"/payments/{tpp.initiated()}/move", status="CANC", reason="PSU_REFUSED")
    tpp.status(tpp.initiated())
    phone.open(f"/console/{path}")
    phone.demand_fits()
    cards = phone.page.evaluate(CARDS)
    assert len(cards) >= rows
    for card in cards:
        ((top, bottom, right, line),) = card["title"]
        assert all(other[0] < bottom and other[1] > top and other[2] > right for other in card["sides"]), card["text"]
        assert all(badge[3] <= 21 for badge in card["badges"]), card["text"]
        assert card["height"] - line <= height, (card["height"], card["text"])
    for heading in phone.page.locator("thead:has(a) tr").all():
        box = heading.bounding_box()
        assert box is not None and box["height"] < 48
    phone.demand_usable()


def test_a_customer_is_answered_for_on_a_phone(phone: Visit, tpp: Tpp) -> None:
    tpp.initiated(creditor_name="Answered")
    phone.open("/console/inbox")
    expect(phone.page.get_by_role("button", name="Approve")).to_be_hidden()
    phone.page.get_by_role("button", name="Answer").click()
    expect(phone.page.get_by_text("Answer as the customer")).to_be_in_viewport()
    phone.demand_usable()
    phone.page.get_by_role("button", name="Approve").click()
    expect(phone.page.get_by_role("status").first).to_contain_text("Approved, as the PSU.")
    assert tpp.listed("payments")[0]["customer"] == "alice"
    phone.demand_quiet()


def test_a_phone_shows_the_whole_timeline(phone: Visit, tpp: Tpp) -> None:
    name = "Société anonyme des établissements réunis du Hainaut"
    tpp.initiated(creditor_name=name)
    tpp.advance("2h")
    phone.open("/console/timeline")
    phone.demand_fits()
    expect(phone.page.get_by_role("link", name=f"12.50 EUR {name}")).to_have_text(f"12.50 EUR {name}")
    assert phone.page.locator(".timeline").evaluate("(box) => box.scrollWidth <= box.clientWidth")
    marks = phone.page.locator(".lane rect").all()
    places = [(box["x"], box["x"] + box["width"]) for box in (mark.bounding_box() for mark in marks) if box]
    assert len(places) >= 5 and all(left >= 0 and right <= MODERN["width"] for left, right in places)
    ticks = [box for tick in phone.page.locator(".tick").all() if (box := tick.bounding_box())]
    assert all(one["x"] + one["width"] < other["x"] for one, other in pairwise(ticks))


def test_an_icon_copies_a_whole_id(visit: Visit, tpp: Tpp) -> None:
    payment_id = tpp.initiated()
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.open("/console/payments")
    button = visit.page.get_by_role("button", name="copy all of it")
    expect(button).to_have_text("")
    button.click()
    expect(visit.page.get_by_text("Copied.")).to_be_visible()
    assert visit.page.evaluate("navigator.clipboard.readText()") == payment_id


def test_the_last_column_is_whole_beside_a_long_reason(visit: Visit, tpp: Tpp) -> None:
    for reason in ("PSU_REFUSED", "TIME_OUT", "INSUFFICIENT_FUNDS"):
        payment_id = tpp.initiated(creditor_name="W" * 70, endtoend_identification="A-REFERENCE-THAT-IS-RATHER-LONG")
        tpp.control("POST", f"/payments/{payment_id}/move", status="CANC", reason=reason)
    tpp.initiated(instructed_amount__amount="1234567.00", creditor_name="Rich")
    for path in ("/console/payments", "/"):
        visit.open(path)
        visit.demand_unclipped()


def test_the_code_of_a_page_is_in_one_place_and_remembers_its_language(visit: Visit) -> None:
    visit.open("/")
    visit.page.get_by_text("Code: the same with").click()
    expect(visit.page.get_by_text("""/_sandbox/clock --json '{"mode":"running","rate":1}'""").first).to_be_visible()
    visit.page.get_by_text("Python", exact=True).click()
    shown = visit.page.get_by_text("'POST', 'http", exact=False).first
    expect(shown).to_be_visible()
    expect(visit.page.get_by_text("""/_sandbox/clock --json '{"mode":"running","rate":1}'""").first).to_be_hidden()
    visit.open("/console/coming")
    visit.page.get_by_text("Code: the same with").click()
    expect(visit.page.get_by_text("httpx.request('GET', 'http").first).to_be_visible()
    visit.demand_quiet()


def test_without_javascript_all_buttons_work(chromium: Browser, bank: str, tpp: Tpp) -> None:
    context = chromium.new_context(java_script_enabled=False)
    visit = Visit(context.new_page(), bank)
    tpp.initiated()
    visit.open("/")
    visit.page.get_by_role("button", name="Refuse").click()
    visit.page.get_by_role("button", name="Yes, refuse").click()
    assert "Refused, as the PSU." in visit.page.locator(".notice").inner_text()
    visit.page.get_by_text("Set it, or change its pace").click()
    visit.page.get_by_role("button", name="Freeze").click()
    assert "The clock stands." in visit.page.locator(".notice").inner_text()
    visit.demand_quiet()
    context.close()
