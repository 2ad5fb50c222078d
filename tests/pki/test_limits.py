"""429 with Retry-After in bank time, and JSON that parsers disagree on (service 4.1, choice 13)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.web.api.body_schemas import DEPTH_MAX, read_strict
from sandbox.worlds.counts import Limits
from tests.pki.conftest import REAL, Bank
from tests.tpp import CALLBACK, Tpp, payment, refused, version


def test_off_by_default(bank: Bank) -> None:
    tpp = bank()
    assert {tpp.status("x").status_code for _ in range(50)} == {404}


def test_a_client_has_so_many_calls_a_minute_of_bank_time(bank: Bank) -> None:
    tpp = bank(requests_per_minute=3)
    other = Tpp(tpp.http.application, client_id="other-tpp")
    assert [tpp.status("x").status_code for _ in range(4)] == [404, 404, 404, 429]
    tpp.advance("45s")
    reply = tpp.status("x")
    assert refused(reply, 429, "SBX-0429-000001", "15 seconds")
    assert reply.headers["Retry-After"] == "15"
    assert other.status("x").status_code == 404
    tpp.advance("15s")
    assert tpp.status("x").status_code == 404


def test_the_token_call_counts_too(bank: Bank) -> None:
    tpp = bank(requests_per_minute=1)
    given = {"Accept": version(3), "Request-ID": "7c0f1a52-1d5c-4f5a-9d5e-0f6d1b7c9a10"}
    form = {"grant_type": "refresh_token", "refresh_token": "x"}
    for status in (401, 429):
        reply = tpp.http.post("/token", data=form, headers=given, auth=("demo-tpp", "demo-secret"))
        assert reply.status_code == status


def test_an_account_is_read_so_often_a_day_without_its_psu(bank: Bank) -> None:
    tpp = bank(reads_per_day=2)
    token, path = account_token(tpp)

    def read(query: str = "", of: str = "/transactions") -> int:
        reply = tpp.call("GET", f"{path}{of}{query}", accept=version(2), authorization=f"Bearer {token}")
        if reply.status_code == 429:
            assert reply.headers["Retry-After"] == str(11 * 3600 - 1 + 1 + 1)
        return reply.status_code

    assert [read() for _ in range(3)] == [200, 200, 429]
    assert read("?psu_involved=true") == 200
    assert [read(of="") for _ in range(3)] == [200, 200, 429]
    tpp.advance("11h")
    token_again, path_again = account_token(tpp)
    reply = tpp.call("GET", path_again, accept=version(2), authorization=f"Bearer {token_again}")
    assert reply.status_code == 200


def account_token(tpp: Tpp) -> tuple[str, str]:
    """A token of alice's consent, and the path of her first account."""
    address = tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4)).get_json()[0]["consent_uri"]
    callback = tpp.control("POST", "/psu/approve", address=address, customer="alice").get_json()["redirect"]
    code = callback.partition("code=")[2].partition("&")[0]
    given = {"Accept": version(3), "Request-ID": "7c0f1a52-1d5c-4f5a-9d5e-0f6d1b7c9a11"}
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": CALLBACK,
        "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    }
    token = tpp.http.post("/token", data=form, headers=given, auth=("demo-tpp", "demo-secret")).get_json()[
        "access_token"
    ]
    listed = tpp.call("GET", "/accounts", accept=version(2), authorization=f"Bearer {token}").get_json()
    return token, listed["_embedded"]["accounts"][0]["_links"]["self"]["href"]


def test_no_count_grows_without_end() -> None:
    limits = Limits()
    assert limits.count_call("a", REAL, 1) is None
    assert limits.count_call("a", REAL, 1) == 60
    assert all(limits.count_read(("a", str(number), "account"), REAL.date(), 1) for number in range(100_002))


# JSON

DEEP = b"[" * (DEPTH_MAX + 1) + b"]" * (DEPTH_MAX + 1)
REFUSED = (
    (b"", "it is empty"), (b"  ", "it is empty"), (b"\xff", "not UTF-8"), (b"{", "not JSON (line 1"),
    (b'{"a": NaN}', "not JSON"), (b'{"a": Infinity}', "not JSON"), (b'{"a": 1, "a": 2}', "the key a is there twice"),
    (b'{"a": {"b": 1, "c": 2, "\\u0062": 3}}', "the key b is there twice"),
    (b'[{"b": ":"}, {"b": 1, "b": 2}]', "the key b is there twice"), (DEEP, "nested more than"),
    (b"[" * 100_000, "not JSON"), (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, ""), (b"{'a': 1}", "not JSON"),
    (b"\xef\xbb\xbf{}", "not JSON"), (b'{"a": "\x00"}', "not JSON"), (b'{"a": "\n"}', "not JSON"),
    (b'{"a": "\\ud800"}', "not JSON"), (b'{"a": 01}', "not JSON"),
)  # fmt: skip


@pytest.mark.parametrize("content, told", REFUSED)
def test_json_that_parsers_disagree_on_is_refused(tpp: Tpp, content: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=told.replace("(", r"\(") or None):
        read_strict(content)
    reply = tpp.call("POST", "/payments/sepa-credit-transfers", data=content, content_type="application/json")
    assert refused(reply, 400, "GEN-1202-100002", told)
    if content.strip():
        assert refused(tpp.http.post("/_sandbox/clock", data=content), 400, "SBX-0400", told)


def test_a_number_like_1e400_is_refused(tpp: Tpp) -> None:
    body = b'{"instructed_amount": {"amount": 1e400}}'
    reply = tpp.call("POST", "/payments/sepa-credit-transfers", data=body, content_type="application/json")
    assert refused(reply, 400, "GEN-1202-100002")


@pytest.mark.parametrize("evil", ["nul\\u0000", "line\\n", "tab\\t", "\\u2028", "\\u0085"])
@pytest.mark.parametrize("field", ["creditor_name", "endtoend_identification", "remittance_information_unstructured"])
def test_nul_and_newlines_are_refused_in_every_text(tpp: Tpp, field: str, evil: str) -> None:
    body = payment(**{field: evil.encode().decode("unicode_escape")})
    assert refused(tpp.initiate(body=body), 400, "GEN-1202-100002", field)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=80) | st.text(alphabet='{}[]":,aé01.eE-\\u \n', max_size=60).map(str.encode))
def test_whatever_comes_is_read_or_refused(content: bytes) -> None:
    try:
        read_strict(content)
    except ValueError as fault:
        told = str(fault)
    else:
        told = "it was read"
    assert told
