"""Draws the pictures of the README and the documentation anew, from a bank that is the same each time: `make
pictures`."""

from pathlib import Path
from random import Random
from uuid import UUID

from playwright.sync_api import Browser, sync_playwright

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.extensions.calibrate.calibration import calibrate_calls
from sandbox.extensions.calibrate.report import as_page
from sandbox.machine import machine_time
from sandbox.recordings.reading import read_recording
from sandbox.server.server import serve_in_background
from sandbox.worlds.registry import WorldRegistry
from tests.browser.chromium import launch_chromium
from tests.browser.moving import animated, scenes_of
from tests.browser.shopping import standing
from tests.calibrate.recorder import har, record
from tests.conftest import MORNING
from tests.tpp import SCT, Tpp, payment

FOLDER = Path("docs")
BYTES_MAX = 150_000
ALICE = "BE16539100001774"
CHANCE = Random(1)


def fresh() -> str:
    """The same ids in every run."""
    return str(UUID(int=CHANCE.getrandbits(128), version=4))


def initiate(tpp: Tpp, **changes: str) -> tuple[str, str]:
    """The id of a payment, and the path at which it is signed."""
    challenge = "".join(CHANCE.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=43))
    reply = tpp.initiate(SCT, payment(SCT, **changes), request_id=fresh(), code_challenge=challenge)
    return reply.get_json()["payment_id"], reply.headers["Location"].partition("localhost")[2]


def rejected(tpp: Tpp) -> str:
    """A payment that comes back after the money left."""
    name, path = initiate(tpp, creditor_name="Test AC04", instructed_amount__amount="250.00")
    tpp.control("POST", "/psu/approve", address=f"http://localhost{path}?state=s-1", customer="alice")
    tpp.advance("10s")
    tpp.status(name, request_id=fresh())
    return name


def waiting(tpp: Tpp) -> str:
    """A payment that Alice is about to sign."""
    details = {"endtoend_identification": "RENT-2027-03", "remittance_information_unstructured": "Loyer mars"}
    return initiate(tpp, creditor_name="Résidence du Parc", instructed_amount__amount="845.00", **details)[1]


def settled(tpp: Tpp) -> bytes:
    """The moving picture: a payment that Alice signs after a moment, and that settles."""
    name, path = initiate(tpp, endtoend_identification="ORDER-7")
    tpp.advance("40s")
    tpp.control("POST", "/psu/approve", address=f"http://localhost{path}?state=s-1", customer="alice")
    tpp.advance("2m")
    return animated(scenes_of(tpp.control("GET", f"/payments/{name}").get_json()))


def careless(tpp: Tpp) -> None:
    """A client of which the referee has something to say."""
    name, path = initiate(tpp, endtoend_identification="ORDER-1")
    tpp.control("POST", "/psu/approve", address=f"http://localhost{path}", customer="alice")
    initiate(tpp, endtoend_identification="ORDER-1")
    tpp.status(name, request_id="order-1-status")


def console(browser: Browser, address: str, path: str, height: int) -> bytes:
    page = browser.new_page(viewport={"width": 1100, "height": height}, color_scheme="light")
    page.goto(f"{address}/_sandbox{path}")
    return page.screenshot()


def signing(browser: Browser, address: str) -> bytes:
    """On a phone, in French, up to what is to be signed."""
    page = browser.new_page(viewport={"width": 390, "height": 780}, color_scheme="light", is_mobile=True)
    page.goto(f"{address}?state=s-1")
    page.locator("input[value=alice]").check()
    page.locator("button.primary").click()
    page.locator("input[type=radio]").first.check()
    page.locator("button.primary").click()
    page.locator("a.primary").wait_for()
    return page.screenshot()


def shop(browser: Browser, bank: str) -> bytes:
    """The shelf of the demo."""
    with standing(bank) as home:
        page = browser.new_page(viewport={"width": 1100, "height": 620}, color_scheme="light")
        page.goto(home)
        return page.screenshot()


def calibration(browser: Browser) -> bytes:
    """The report about a bank that differs, and that renamed a field."""
    entries = record({"final_status": "ACSP", "settlement": "slow", "key_order": "reversed"}, ("pays", "is_refused"))
    text = har(entries).decode().replace('\\"psu_name\\"', '\\"customer_name\\"')
    found = calibrate_calls(read_recording(text.encode()).calls)
    page = browser.new_page(viewport={"width": 1100, "height": 760}, color_scheme="light")
    page.set_content(as_page(found, "test-host.har", None))
    return page.screenshot()


def main() -> None:
    worlds = WorldRegistry(make_first_beginning(seed=1, at=read_instant(MORNING), rate=0), machine_time)
    app = assemble(worlds)
    one, other = Tpp(app), Tpp(app, "careless")
    (FOLDER / "settled.svg").write_bytes(settled(Tpp(app, "settled")))
    name, path = rejected(one), waiting(one)
    careless(other)
    FOLDER.mkdir(exist_ok=True)
    with serve_in_background(app) as address, sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        drawn = {
            "calibrate": calibration(browser),
            "payment": console(browser, address, f"/console/payments/{name}", 620),
            "referee": console(browser, f"{address}/worlds/careless", "/console/referee", 640),
            "shop": shop(browser, address),
            "signing": signing(browser, f"{address}{path}"),
        }
        browser.close()
    for called, picture in drawn.items():
        assert len(picture) < BYTES_MAX, f"{called} is too heavy: {len(picture):,} bytes"
        (FOLDER / f"{called}.png").write_bytes(picture)


if __name__ == "__main__":
    main()
