"""service 4.8, choice 8: HTTP Basic, form-encoded as RFC 6749 2.3.1 has it, or raw."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from flask import Flask

from sandbox.web.api.headers import list_readings
from tests.payer import a_code, basic, code_form, post_form, refresh_form
from tests.spec.secrets import HARD, PRINTABLE, register
from tests.tpp import Tpp, refused

CREDENTIALS = "GEN-1203-100009"


def raw(text: str) -> str:
    return text


def every_byte(text: str) -> str:
    """As a library may: letters and digits too."""
    return "".join(f"%{byte:02x}" for byte in text.encode())


def percent(text: str) -> str:
    return quote(text, safe="")


Encode = Callable[[str], str]
WAYS: list[Encode] = [raw, quote_plus, percent, every_byte]


@pytest.fixture(params=HARD)
def hard(request: Any, app: Flask, tpp: Tpp) -> Tpp:
    register(tpp, request.param)
    return Tpp(app, client_id=request.param)


@pytest.mark.parametrize("encode", WAYS, ids=lambda way: way.__name__)
def test_credentials_are_taken_in_each_way_of_writing_them(hard: Tpp, encode: Encode) -> None:
    name, secret = hard.client_id, HARD[hard.client_id]
    sent = basic(encode(name), encode(secret))
    reply = post_form(hard, code_form(a_code(hard)), authorization=sent)
    assert reply.status_code == 200, reply.text
    again = post_form(hard, refresh_form(reply.get_json()["refresh_token"]), authorization=sent)
    assert again.status_code == 200, again.text
    assert [row["client_id"] for row in hard.listed("requests") if row["operation"] == "token"] == [name, name]


@pytest.mark.parametrize("encode", WAYS, ids=lambda way: way.__name__)
def test_another_secret_is_refused_in_each_way_of_writing_it(hard: Tpp, encode: Encode) -> None:
    name, secret = hard.client_id, HARD[hard.client_id]
    for wrong in (secret + "x", secret[:-1], secret.swapcase(), ""):
        reply = post_form(hard, refresh_form("none"), authorization=basic(encode(name), encode(wrong)))
        assert refused(reply, 401, CREDENTIALS, "Authorization")
        assert hard.listed("requests")[-1]["client_id"] == name


def test_a_secret_is_decoded_once(tpp: Tpp) -> None:
    """What decodes to the secret after a second time is another secret."""
    twice = quote_plus(quote_plus("demo-secret-", safe=""), safe="").replace("-", "%252D")
    for sent in (twice, "demo%252Dsecret"):
        reply = post_form(tpp, refresh_form("none"), authorization=basic("demo-tpp", sent))
        assert refused(reply, 401, CREDENTIALS, "Authorization")


def test_a_secret_that_reads_as_anothers_opens_its_own_client_only(app: Flask, tpp: Tpp) -> None:
    """`aa%41aaaaa` form-decodes to the secret of the second client, whose name it does not bear."""
    register(tpp, "first", "aa%41aaaaa")
    register(tpp, "second", "aaAaaaaa")
    for name, secret, status in (
        ("first", "aa%41aaaaa", 401),  # its own; the code is another's
        ("second", "aa%41aaaaa", 200),  # the form-encoded secret of the second
    ):
        code = a_code(Tpp(app, client_id="second"))
        reply = post_form(tpp, code_form(code), authorization=basic(name, secret))
        assert reply.status_code == status, reply.text
        assert tpp.listed("requests")[-1]["client_id"] == name


def test_a_client_is_named_by_its_own_id_also_where_it_was_encoded(tpp: Tpp) -> None:
    tpp.control("POST", "/faults", when={"operation": "token", "client": "demo-tpp"}, answer={"status": 503})
    reply = post_form(tpp, refresh_form("none"), authorization=basic("%64emo%2Dtpp", "demo%2Dsecret"))
    assert reply.status_code == 503
    assert tpp.listed("requests")[-1]["client_id"] == "demo-tpp"
    other = post_form(tpp, refresh_form("none"), authorization=basic("other%2Dtpp", "other%2Dsecret"))
    assert refused(other, 401, "GEN-1203-100004")


def test_a_rate_counts_both_ways_of_writing_as_one_client(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", requests_per_minute=2)
    sent = [basic("demo-tpp", "demo-secret"), basic("demo%2Dtpp", "demo%2Dsecret")] * 2
    told = [post_form(tpp, refresh_form("none"), authorization=each).status_code for each in sent]
    assert told == [401, 401, 429, 429]


def test_the_readings_of_a_header() -> None:
    assert list_readings(basic("a", "b")) == (("a", "b"),)
    assert list_readings(basic("a%2Db", "c+d")) == (("a%2Db", "c+d"), ("a-b", "c d"))
    assert list_readings(basic("a", "b:c")) == (("a", "b:c"),)
    assert list_readings(basic("a", "%ff")) == (("a", "%ff"),)
    assert list_readings(basic("a", PRINTABLE))[0] == ("a", PRINTABLE)
    for header in (None, "", "Basic", "Basic !", "Bearer YTpi", "Basic YQ==", "Basic /w=="):
        assert list_readings(header) == ()
