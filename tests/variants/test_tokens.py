"""Each axis of consents and tokens, seen on the wire under each value."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.payer import a_code, post_form
from tests.reader import (
    CAF,
    Reader,
    approved,
    code_form,
    code_of,
    consent_address,
    consent_uris,
    consented,
    post_token,
    refresh_form,
)
from tests.tpp import CHALLENGE, Tpp
from tests.variants.probing import Seen, Table, cases, show

OLD = {"date_from": "2026-06-01", "date_to": "2026-11-01"}  # behind the 90 days of the first morning


def tokens(tpp: Tpp, code: str, **changes: str | None) -> Any:
    return post_token(tpp, code_form(code, **changes))


def two_users(tpp: Tpp) -> int:
    alice = Reader(tpp, "alice")
    Reader(tpp, "bram")
    return alice.listed().status_code


def code_twice(tpp: Tpp) -> tuple[int, int]:
    code = consented(tpp)
    pair = tokens(tpp, code).get_json()
    again = tokens(tpp, code).status_code
    return again, post_token(tpp, refresh_form(pair["refresh_token"])).status_code


def wrong_then_right(tpp: Tpp) -> tuple[int, int]:
    code = consented(tpp)
    wrong = tokens(tpp, code, code_verifier=CHALLENGE).status_code
    return wrong, tokens(tpp, code).status_code


def consent_twice(tpp: Tpp) -> tuple[int, int]:
    """Whether the first tokens go on, and how many accounts there are."""
    iban = tpp.iban_of("bakkerij")
    first = Reader(tpp, "bakkerij", accounts=[iban])
    second = next(row["accounts"][1] for row in tpp.listed("customers") if row["customer"] == "bakkerij")
    code = consented(tpp, "bakkerij", accounts=[second])
    goes_on = first.listed().status_code
    reader_of = tokens(tpp, code).get_json()
    first.take(reader_of)
    return goes_on, len(first.ids)


def after_renewal(tpp: Tpp) -> int:
    reader = Reader(tpp)
    first = reader.first
    tpp.advance("100d")
    reader.renew()
    no = reader.transactions(first).get_json()
    approved(tpp, no["_links"]["sca_redirect"]["href"])
    tpp.advance("100d")
    return post_token(tpp, refresh_form(reader.refresh)).status_code


def history_by(tpp: Tpp) -> tuple[int, str]:
    reader = Reader(tpp)
    by_header = reader.transactions(query=OLD, sca_token=reader.sca)
    by_query = reader.transactions(query=OLD | {"sca_token": reader.sca})
    found = [
        reply.status_code == 200 and bool(reply.get_json()["_embedded"]["transactions"])
        for reply in (by_header, by_query)
    ]
    return found.count(True), ("header" if found[0] else "query")


def names_of_tokens(tpp: Tpp) -> list[str]:
    return sorted(name for name in tokens(tpp, consented(tpp)).get_json() if name.lower()[:3] == "sca")


def sca_token_twice(tpp: Tpp) -> list[bool]:
    reader = Reader(tpp)
    return [bool(reader.page(query=OLD, sca_token=reader.sca)["transactions"]) for _ in range(2)]


def scope_asked(tpp: Tpp) -> tuple[int, int]:
    return consent_uris(tpp).status_code, consent_uris(tpp, "", scope="AIS").status_code


def account_asked(tpp: Tpp) -> tuple[int, int]:
    iban = tpp.iban_of("alice")
    return tuple(consent_uris(tpp, f"scope=CAF&{name}={iban}", 3).status_code for name in ("iban", "account"))  # type: ignore[return-value]


def caf_reads(tpp: Tpp) -> int:
    reader = Reader(tpp, scope=CAF, iban=tpp.iban_of("alice"))
    return reader.transactions().status_code


def caf_asked(tpp: Tpp) -> tuple[int, int]:
    """Without the role CAF, and with it."""
    query = f"scope=CAF&iban={tpp.iban_of('alice')}"
    without = consent_uris(tpp, query, 3).status_code
    assert tpp.control("PUT", "/clients/demo-tpp", roles=["PIS", "AIS", "CAF"]).status_code == 200
    return without, consent_uris(tpp, query, 3).status_code


def languages(tpp: Tpp) -> list[list[str]]:
    asked = ("nl, fr;q=0.5", "nl", "nl, en")
    return [[row["language"] for row in consent_uris(tpp, accept_language=text).get_json()] for text in asked]


def sca_tokens(tpp: Tpp) -> tuple[bool, bool]:
    """Of a consent, and of a payment."""
    paid = post_form(tpp, code_form(a_code(tpp))).get_json()
    return "sca_token" in tokens(tpp, consented(tpp)).get_json(), "sca_token" in paid


def token_type(tpp: Tpp) -> str:
    return str(tokens(tpp, consented(tpp)).get_json()["token_type"])


def length(tpp: Tpp) -> tuple[int, int]:
    reader = Reader(tpp)
    assert reader.listed().status_code == 200
    reader.renew()
    return len(reader.access), reader.listed().status_code


def characters(tpp: Tpp) -> tuple[bool, int]:
    code = code_of(approved(tpp, consent_address(tpp), "alice"))
    return set(code) >= set("+/="), tokens(tpp, code).status_code


def later(span: str) -> Any:
    def probe(tpp: Tpp) -> int:
        code = consented(tpp)
        tpp.advance(span)
        return int(tokens(tpp, code).status_code)

    return probe


def address_later(tpp: Tpp) -> int:
    address = consent_address(tpp)
    tpp.advance("5m")
    return tpp.control("POST", "/psu/approve", address=address, customer="alice").status_code


def sca_token_later(tpp: Tpp) -> bool:
    reader = Reader(tpp)
    tpp.advance("10m")
    return bool(reader.page(query=OLD, sca_token=reader.sca)["transactions"])


def transactions_after(span: str) -> Any:
    def probe(tpp: Tpp) -> int:
        reader = Reader(tpp)
        first = reader.first
        tpp.advance(span)
        reply = post_token(tpp, refresh_form(reader.refresh))
        if reply.status_code != 200:
            return int(reply.status_code)
        reader.take(reply.get_json())
        return int(reader.transactions(first).status_code)

    return probe


SEEN: Table = {
    "pair_of": Seen(two_users, {"psu": 200, "client": 401}),
    "reused_code": Seen(code_twice, {"ends_the_pair": (401, 401), "only_refused": (401, 200)}),
    "failed_exchange": Seen(wrong_then_right, {"code_lives": (401, 200), "code_dies": (401, 401)}),
    "new_consent": Seen(consent_twice, {"replaces": (403, 1), "adds": (200, 2)}),
    "renewal_extends_consent": Seen(after_renewal, {"no": 403, "yes": 200}),
    "sca_token_request": Seen(history_by, {"header": (1, "header"), "query": (1, "query")}),
    "sca_token_reply": Seen(names_of_tokens, {"sca_token": ["sca_token"], "scaToken": ["scaToken"]}),
    "sca_token_uses": Seen(sca_token_twice, {"many": [True, True], "one": [True, False]}),
    "scope_in": Seen(scope_asked, {"query": (200, 400), "header": (400, 200)}),
    "caf_account": Seen(account_asked, {"iban": (200, 400), "account": (400, 200)}),
    "caf_transactions": Seen(caf_reads, {"no": 403, "yes": 200}),
    "caf_role": Seen(caf_asked, {"AIS": (200, 200), "own": (403, 200)}),
    "consent_languages": Seen(languages, {"best": [["nl"], ["nl"], ["nl"]], "each": [["fr", "nl"], ["nl"], ["nl"]]}),
    "sca_token_for": Seen(sca_tokens, {"every_code": (True, True), "ais": (True, False)}),
    "token_type_case": Seen(token_type, {"Bearer": "Bearer", "bearer": "bearer"}),
    "token_length": Seen(length, {"short": (43, 200), "long": (34 * 44 - 1, 200)}),
    "code_characters": Seen(characters, {"plain": (False, 200), "reserved": (True, 200)}),
    "code_life": Seen(later("1m"), {"long": 200, "short": 401}),
    "consent_address_life": Seen(address_later, {"long": 200, "short": 410}),
    "sca_token_life": Seen(sca_token_later, {"long": True, "short": False}),
    "sca_renewal_after": Seen(transactions_after("100d"), {"90_days": 401, "180_days": 200}),
    "consent_life": Seen(transactions_after("90d"), {"180_days": 200, "90_days": 403}),
}


@pytest.mark.parametrize("axis, value", cases(SEEN))
def test_each_value_shows_on_the_wire(tpp: Tpp, axis: str, value: str) -> None:
    show(tpp, SEEN, axis, value)


def test_a_code_of_reserved_characters_comes_encoded(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"code_characters": "reserved"})
    query = urlsplit(approved(tpp, consent_address(tpp), "alice")).query
    assert "%2B%2F" in query and dict(parse_qsl(query))["code"].startswith("+/")


def test_an_unknown_sca_token_is_refused_where_each_is_good_for_one_call(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"sca_token_uses": "one"})
    assert Reader(tpp).transactions(sca_token="none").status_code == 401
