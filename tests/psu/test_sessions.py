"""A session of the bank's pages: renewed at each log-in, and kept by the bank's clock."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

import pytest
from flask import Flask
from werkzeug.test import Cookie

from sandbox.worlds.registry import WorldRegistry
from tests.psu.psu import Psu, address_of, consent_address
from tests.tpp import Tpp


def cookie_of(psu: Psu) -> Cookie:
    assert psu.http._cookies is not None
    (cookie,) = (row for row in psu.http._cookies.values() if row.key.startswith("psu-"))
    return cookie


def channel_address(_: Tpp) -> str:
    return "/psu/channel"


def session_of(psu: Psu) -> str:
    return cookie_of(psu).value


@pytest.mark.parametrize("kind", ["payment", "consent", "channel"])
def test_a_log_in_renews_the_session_so_that_a_planted_one_is_worth_nothing(
    app: Flask, tpp: Tpp, worlds: WorldRegistry, kind: str
) -> None:
    addresses: dict[str, Callable[[Tpp], str]] = {
        "payment": address_of,
        "consent": consent_address,
        "channel": channel_address,
    }
    address = addresses[kind](tpp)
    thief, victim = Psu(app), Psu(app)
    thief.open(address)
    planted = session_of(thief)
    victim.http.set_cookie(cookie_of(thief).key, planted, path="/psu")
    victim.log_in(address, "alice")
    assert session_of(victim) != planted
    sessions = worlds.get("default").bank.sessions
    assert [(found, row.id, row.customer) for found, row in sessions.items()] == [
        (session_of(victim),) * 2 + ("alice",)
    ]
    assert 'name="login"' in thief.open(address).text  # a stranger again
    before = session_of(victim)
    victim.open(address)
    assert session_of(victim) == before  # only a log-in renews it


def test_a_refused_log_in_leaves_the_session_as_it_was(app: Flask, tpp: Tpp) -> None:
    psu, address = Psu(app), address_of(tpp)
    psu.open(address)
    before = session_of(psu)
    assert psu.send(f"{address}/login", login="nobody").status_code == 422
    assert session_of(psu) == before
    psu.send(f"{address}/login", login="alice")
    assert session_of(psu) != before and 'name="account"' in psu.page.text


@pytest.mark.parametrize("now", ["2020-02-29T12:00:00+01:00", "2027-03-01T09:00:00+01:00", "2048-07-01T00:00:00+02:00"])
def test_a_cookie_expires_by_the_clock_of_the_bank(tpp: Tpp, now: str) -> None:
    world = Tpp(tpp.http.application, "elsewhen")
    assert world.http.put("/_sandbox/worlds/elsewhen", json={"clock": {"at": now, "frozen": True}}).status_code == 201
    cookie = world.http.get("/worlds/elsewhen/psu/channel").headers["Set-Cookie"]
    expiry = re.search(r"Expires=([^;]+)", cookie)
    assert expiry is not None
    expires = parsedate_to_datetime(expiry[1])
    assert expires == datetime.fromisoformat(now) + timedelta(hours=1)
    assert "Max-Age=3600" in cookie
