"""What only the demo has: a bar with the bank's clock. The shop itself knows of no sandbox."""

from dataclasses import replace
from datetime import timedelta
from html import unescape
from pathlib import Path

import httpx
import pytest
from click import ClickException
from click.testing import CliRunner
from flask import Flask

import sandbox.extensions.shop
from sandbox.client import Controls
from sandbox.extensions.shop.app import create_app
from sandbox.extensions.shop.bank_client import read_machine_time
from sandbox.extensions.shop.command import demo as command
from sandbox.extensions.shop.demo import STEPS, Demo, DemoOptions, draw_qr_code, make_bank_client, register
from sandbox.extensions.shop.goods import SHOP
from sandbox.extensions.shop.shop_words import translate
from tests.conftest import HERE
from tests.shop.guest import HOME, Guest, seen

MAY_KNOW = {"__init__.py", "command.py", "demo.py"}
WORDS = ("Controls", "_sandbox", "demo", "/faults", "psu.")


@pytest.fixture
def demo(shop: Flask, controls: Controls) -> Demo:
    made = Demo(HERE)
    made.controls = controls
    made.join(shop)
    return made


def test_the_shop_itself_knows_neither_controls_nor_demo() -> None:
    for file in Path(sandbox.extensions.shop.__path__[0]).glob("*.py"):
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
    assert abs(demo.read_now() - controls.clock.get().now) < timedelta(seconds=1)


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
    assert abs(demo.read_now() - read_machine_time()) < timedelta(minutes=1)


def test_the_tour_leads_from_step_to_step_and_folds_away_when_it_is_done(demo: Demo, guest: Guest) -> None:
    def state() -> tuple[str, int]:
        page = guest.get("/").text
        return page.partition('class="next"')[2].partition(">")[2].partition("<")[0], page.count('<li class="done">')

    path, address = guest.order()
    assert state() == ("Sign as Alice", 2)
    guest.follow(guest.sign(address))
    assert state() == ("Let a minute pass", 3)
    guest.post("/demo/clock", span="1m")
    assert "Paid" in guest.text(path)
    assert state() == ("Send the parcel back", 4)
    assert "Refunded" in seen(guest.follow(guest.post(f"{path}/refund")))
    guest.connect()
    assert state() == ("Let 91 days pass", 6)
    guest.post("/demo/clock", span="91d")
    assert "Your bank wants to know that it is you" in guest.text("/accounts/0?days=365")
    assert state() == ("Prove that it is you", 7)
    guest.sign(guest.post("/accounts/0/authenticate?days=365").headers["Location"])
    lines = guest.text("/accounts/0?days=365")
    assert lines.count("Marloquin") >= 2, "the payment and its refund"
    assert state() == ("Open the console", 8)
    assert guest.get("/demo/console").headers["Location"] == demo.console
    page = guest.get("/").text
    assert "The tour is done." in page and page.count('<li class="done">') == len(STEPS) and 'class="next"' not in page


def test_the_presenters_card_says_what_to_do_and_what_to_say_at_each_step(demo: Demo, guest: Guest) -> None:
    guest.post("/basket", code="mug")
    for language in ("en", "fr", "nl"):
        guest.post("/language", language=language)
        card = guest.text("/demo/card")
        for step in STEPS:
            assert all(translate(language, text) in card for text in (step.title, step.about, step.says))
        assert card.count("✓") == 1


def test_a_refund_comes_once_and_for_a_paid_order_only(demo: Demo, guest: Guest, controls: Controls) -> None:
    path, address = guest.order()
    assert "could not be sent back" in seen(guest.follow(guest.post(f"{path}/refund")))
    guest.sign(address)
    controls.clock.advance("1m")
    assert "Send it back for a refund" in guest.text(path)
    assert "Refunded" in seen(guest.follow(guest.post(f"{path}/refund")))
    assert "Send it back" not in guest.text(path)
    assert "could not be sent back" in seen(guest.follow(guest.post(f"{path}/refund")))
    assert [row["trigger"] for row in controls.listed("journal")].count("returned") == 1


def test_one_switch_is_for_the_shop_the_tour_and_the_bank(demo: Demo, guest: Guest, controls: Controls) -> None:
    controls.call("PATCH", "/settings", {"screens_in_english": "on"})
    for language, words in (
        ("fr", ("Thé, papier et petites douceurs", "Étape 1 sur 9", "lun. 1 mars 2027, 09:00", "18,00 €")),
        ("nl", ("Thee, papier en kleine geneugten", "Stap 1 van 9", "ma 1 mrt 2027, 09:00", "€ 18,00")),
        ("en", ("Tea, paper and small comforts", "Step 1 of 9", "Mon 1 Mar 2027, 09:00", "€ 18.00")),
    ):
        reply = guest.follow(guest.post("/language", language=language, back="/"))
        page = unescape(reply.text).replace("\N{NO-BREAK SPACE}", " ")
        assert f'<html lang="{language}">' in page
        assert [word for word in words if word not in page] == []
        assert f"lang={language}" in guest.post("/accounts/connect").headers["Location"]
    assert guest.post("/language", language="de").status_code == 404
    assert guest.post("/language", language="fr", back="//evil.example").headers["Location"] == "/"


def test_in_a_network_only_this_machine_moves_the_clock(shop: Flask, controls: Controls, guest: Guest) -> None:
    demo = Demo(HERE, masters=frozenset({"192.0.2.7"}))
    demo.controls = controls
    demo.join(shop)
    before = controls.clock.get().now
    assert 'name="span"' not in guest.get("/").text
    assert guest.post("/demo/clock", span="1d").status_code == 403
    assert controls.clock.get().now == before


def test_the_shop_registers_under_its_own_name_and_again(demo: Demo, controls: Controls) -> None:
    for callback in ("http://127.0.0.1:9000/callback", "http://192.0.2.7:9000/callback"):
        client_id, secret = register(demo, callback)
        row = next(one for one in controls.listed("clients") if one["client_id"] == client_id)
        assert (row["name"], row["redirect_uris"]) == (SHOP, [callback]) and len(secret) >= 24


def test_where_the_bank_demands_signatures_the_shop_registers_a_key_and_signs(
    demo: Demo, controls: Controls, http: httpx.Client
) -> None:
    controls.call("PATCH", "/settings", {"variants": {"signatures": "strict", "signature_over": "headers"}})
    line = replace(make_bank_client(demo, DemoOptions(), HERE, f"{HOME}/callback"), http=http)
    guest = Guest(create_app(line), controls)
    path, address = guest.order()
    assert guest.sign(address).headers["Location"] == path and "Signed" in guest.text(path)
    with pytest.raises(ClickException, match="Leave --client-id out"):
        make_bank_client(demo, DemoOptions(client_id="demo-tpp", secret="demo-secret"), HERE, f"{HOME}/callback")


def test_the_qr_code_is_drawn_for_a_camera() -> None:
    lines = draw_qr_code("http://192.0.2.7:9000").splitlines()
    assert len(lines) >= 12 and {*"".join(lines)} >= {"█", " "}
    assert draw_qr_code("http://192.0.2.7:9000") != draw_qr_code("http://192.0.2.8:9000")


@pytest.mark.parametrize("words", [("--client-id", "mine"), ("--lan", "--bank", "http://127.0.0.1:1")])
def test_options_that_do_not_go_together_are_refused(words: tuple[str, ...]) -> None:
    assert CliRunner().invoke(command, list(words)).exit_code == 2
