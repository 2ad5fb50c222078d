"""What only the demo has: a bar with the bank's clock. The shop itself knows of no sandbox."""

from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from flask import Flask

import sandbox.shop
from sandbox.client import Controls
from sandbox.shop.demo import Demo
from sandbox.shop.line import machine_now
from tests.conftest import HERE
from tests.shop.guest import HOME, Guest, seen

MAY_KNOW = {"demo.py", "starting.py", "tour.py"}
WORDS = ("Controls", "_sandbox", "demo", "/faults", "psu.")


@pytest.fixture
def demo(shop: Flask, controls: Controls) -> Demo:
    made = Demo(HERE)
    made.controls = controls
    made.join(shop)
    return made


def test_the_shop_itself_knows_neither_controls_nor_demo() -> None:
    for file in Path(sandbox.shop.__path__[0]).glob("*.py"):
        body = file.read_text().partition('"""')[2].partition('"""')[2]
        assert file.name in MAY_KNOW or not [word for word in WORDS if word in body], file


def test_the_bar_shows_the_banks_time_and_moves_it(demo: Demo, guest: Guest, controls: Controls) -> None:
    page = guest.get("/orders").text
    assert "Mon 1 Mar 2027, 09:00" in page and "it stands still" in page and f"{HERE}/_sandbox/" in page
    for span, shown in (("1m", "Mon 1 Mar 2027, 09:01"), ("1d", "Tue 2 Mar 2027, 09:01"), ("91d", "1 Jun 2027")):
        assert guest.post("/demo/clock", span=span, back="/orders").headers["Location"] == "/orders"
        page = guest.get("/orders").text
        assert shown in page and "went by at the bank" in page
    controls.clock.run(60)
    assert "60 times as fast" in guest.get("/").text
    controls.clock.freeze()
    assert abs(demo.now() - controls.clock.get().now) < timedelta(seconds=1)


@pytest.mark.parametrize("back", ["//evil.example/", "https://evil.example/", "/\\evil.example", "/\r\nX: y", ""])
def test_the_bar_leads_nowhere_else(back: str, demo: Demo, guest: Guest) -> None:
    assert guest.post("/demo/clock", span="1m", back=back).headers["Location"] == "/"


def test_the_bar_moves_the_clock_by_its_buttons_only(demo: Demo, guest: Guest, controls: Controls) -> None:
    before = controls.clock.get().now
    assert guest.post("/demo/clock", span="1000d").status_code == 404
    assert guest.http.post("/demo/clock", base_url=HOME, data={"span": "1d"}).status_code == 403
    assert controls.clock.get().now == before


def test_a_demo_without_its_bank_still_shows_the_shelf(shop: Flask, controls: Controls) -> None:
    def lost(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody listens there")

    demo = Demo(HERE)
    demo.controls = Controls(HERE, httpx.Client(transport=httpx.MockTransport(lost)))
    demo.join(shop)
    guest = Guest(shop, controls)
    assert "The bank does not answer" in guest.get("/").text
    guest.post("/demo/clock", span="1m")
    assert "could not be moved" in seen(guest.get("/"))
    assert abs(demo.now() - machine_now()) < timedelta(minutes=1)
