"""service 4.9, 2.7 and choice 8: the accounts of a consent, and each with its balances."""

import re

import pytest
from flask import Flask

from sandbox.banking.countries import rate
from tests.reader import CAF, Reader, book
from tests.tpp import CALLBACK, ISCT, Tpp, payment, refused, version

ACCESS, PROOF, DENIED = "GEN-1203-100003", "GEN-1203-100010", "B14800ZZ-3004-000000"


def balances(tpp: Tpp, iban: str) -> dict[str, float]:
    row = next(row for row in tpp.listed("accounts") if row["iban"] == iban)
    return {one["currency"]: one["balance"] for one in row["balances"]}


# The list


def test_the_list_holds_iban_and_logical_id_of_every_chosen_account(tpp: Tpp) -> None:
    reader = Reader(tpp)
    reply = reader.listed()
    assert reply.status_code == 200
    assert set(reply.get_json()) == {"_embedded", "_links"}
    assert reply.get_json()["_links"] == {"self": {"href": "/accounts", "templated": False}}
    rows = reply.get_json()["_embedded"]["accounts"]
    assert [row["iban"] for row in rows] == next(
        row["accounts"] for row in tpp.listed("customers") if row["customer"] == "alice"
    )
    for row in rows:
        assert set(row) == {"iban", "logical_id", "currency", "_links"}
        assert row["currency"] == "EUR"
        assert row["_links"] == {"self": {"href": f"/accounts/{row['logical_id']}", "templated": False}}


def test_logical_ids_tell_nothing_and_differ_by_client_psu_and_consent(tpp: Tpp, other: Tpp) -> None:
    first, foreign, caf = Reader(tpp), Reader(other), Reader(tpp, "alice", CAF, tpp.iban_of("alice"))
    ids = [*first.ids.values(), *foreign.ids.values(), caf.first, *Reader(tpp).ids.values()]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", one) for one in ids)


# An account


@pytest.mark.parametrize("customer", ["bram", "atelier"])
def test_the_balance_is_that_of_the_euro_or_of_all_compartments(tpp: Tpp, customer: str) -> None:
    reader = Reader(tpp, customer)
    found = reader.account(reader.first).get_json()
    held = balances(tpp, found["iban"])
    worth = {currency: round(amount * float(rate(currency)), 2) for currency, amount in held.items()}
    assert found["multicurrency"] and len(held) > 1
    assert found["balance"] == pytest.approx(held["EUR"] if customer == "bram" else sum(worth.values()), abs=0.001)
    assert found["balance"] != held["EUR"] or customer == "bram"
    assert {row["currency"]: row["balance"] for row in found["other_compartments"]} == {
        currency: amount for currency, amount in held.items() if currency != "EUR"
    }


def test_an_account_has_the_fields_of_the_service(tpp: Tpp) -> None:
    reader = Reader(tpp)
    for iban, logical_id in reader.ids.items():
        reply = reader.account(logical_id)
        assert reply.content_type == "application/json;charset=utf-8"
        found = reply.get_json()
        names = ["type", "iban", "currency", "balance", "multicurrency", "other_compartments", "_links"]
        assert list(found) == names
        assert (found["iban"], found["currency"]) == (iban, "EUR")
        assert (found["multicurrency"], found["other_compartments"]) == (False, [])
        path = f"/accounts/{logical_id}"
        assert found["_links"] == {
            "self": {"href": path, "templated": False},
            "transactions": {"href": f"{path}/transactions", "templated": False},
        }
    assert {reader.account(one).get_json()["type"] for one in reader.ids.values()} == {
        "current-account",
        "savings-account",
    }


def test_links_are_relative_to_the_address_of_the_world(app: Flask) -> None:
    elsewhere = Reader(Tpp(app, "elsewhere"))
    for link in elsewhere.account().get_json()["_links"].values():
        assert link["href"].startswith("/accounts/")
        assert elsewhere.get(link["href"]).status_code == 200


def test_a_balance_is_a_number_with_two_decimals_in_the_text_itself(tpp: Tpp) -> None:
    reader, iban = Reader(tpp), tpp.iban_of("alice")
    aim = reader.first
    shown = balances(tpp, iban)["EUR"]
    for target in ("1234.00", "1234.50", "0.00", "-0.10"):
        book(tpp, iban, f"{float(target) - shown:.2f}")
        shown = float(target)
        assert f'"balance":{target},' in reader.account(aim).text
        assert reader.account(aim).get_json()["balance"] == float(target)


def test_a_multi_currency_account_shows_euro_and_its_other_compartments(tpp: Tpp) -> None:
    reader, iban = Reader(tpp, "bram"), tpp.iban_of("bram")
    found = reader.account().get_json()
    held = balances(tpp, iban)
    assert set(held) == {"EUR", "USD", "GBP"}
    assert (found["currency"], found["balance"], found["multicurrency"]) == ("EUR", held["EUR"], True)
    assert found["other_compartments"] == [{"currency": name, "balance": held[name]} for name in held if name != "EUR"]
    text = reader.account().text
    assert re.search(r'"other_compartments":\[\{"currency":"USD","balance":-?\d+\.\d\d\}', text)


def test_the_balance_follows_what_is_booked(tpp: Tpp) -> None:
    reader, iban = Reader(tpp), tpp.iban_of("alice")
    aim = reader.first
    before = reader.account(aim).get_json()["balance"]
    book(tpp, iban, "100.25")
    tpp.signed(tpp.initiate(ISCT, payment(ISCT, debtor_account__iban=iban, instructed_amount__amount="40.10")))
    assert reader.account(aim).get_json()["balance"] == pytest.approx(before + 60.15)


def test_the_balance_of_a_compartment_follows_what_is_booked_there(tpp: Tpp) -> None:
    reader, iban = Reader(tpp, "bram"), tpp.iban_of("bram")
    before = reader.account().get_json()
    book(tpp, iban, "7.25", currency="USD")
    after = reader.account().get_json()
    assert after["balance"] == before["balance"]
    assert after["other_compartments"][0]["balance"] == pytest.approx(before["other_compartments"][0]["balance"] + 7.25)
    assert after["other_compartments"][1] == before["other_compartments"][1]


def test_the_balance_stays_readable_when_transactions_need_a_new_authentication(tpp: Tpp) -> None:
    reader = Reader(tpp)
    aim = reader.first
    tpp.advance("179d")
    reader.renew()
    assert reader.account(aim).status_code == 200
    assert reader.listed().status_code == 200
    assert refused(reader.transactions(aim), 401, "B14800ZZ-0PLC-REDRCT")


# Refusals


@pytest.mark.parametrize("path", ["/accounts", "/accounts/{id}", "/accounts/{id}/transactions"])
def test_a_token_is_required(tpp: Tpp, path: str) -> None:
    reader = Reader(tpp)
    aim = path.format(id=reader.first)
    for header in (None, "Bearer nothing", "Bearer", f"Basic {reader.access}", f"Bearer {reader.refresh}"):
        reply = reader.get(aim, authorization=header)
        assert refused(reply, 401, ACCESS, "'Authorization'")
        assert reply.headers["WWW-Authenticate"] == "Bearer"
    assert reader.get(aim, authorization=f"bearer {reader.access}").status_code == 200


@pytest.mark.parametrize("path", ["/accounts", "/accounts/{id}", "/accounts/{id}/transactions"])
def test_a_token_for_payments_reads_no_account(tpp: Tpp, path: str) -> None:
    reader = Reader(tpp)
    aim = path.format(id=reader.first)
    reply = reader.get(aim, authorization=f"Bearer {tpp.token_for('alice')}")
    assert refused(reply, 403, DENIED, "PIS")


def test_a_token_for_accounts_pays_nothing(tpp: Tpp) -> None:
    reply = tpp.initiate(authorization=f"Bearer {Reader(tpp).access}")
    assert refused(reply, 403, DENIED, "AIS")


def test_a_caf_token_reads_its_one_account_only(tpp: Tpp) -> None:
    ais = Reader(tpp)
    current, savings = ais.ids
    caf = Reader(tpp, "alice", CAF, current)
    assert caf.account().get_json()["iban"] == current
    assert refused(caf.listed(), 403, DENIED, "CAF")
    assert refused(caf.transactions(), 403, DENIED, "CAF")
    for foreign in (*ais.ids.values(), Reader(tpp, "alice", CAF, savings).first):
        assert refused(caf.account(foreign), 401, PROOF, "logical-id")
    assert refused(ais.account(caf.first), 401, PROOF, "logical-id")


def test_the_logical_id_of_another_is_refused_like_an_unknown_one(tpp: Tpp, other: Tpp) -> None:
    reader = Reader(tpp)
    for foreign in (Reader(other).first, Reader(tpp, "bram").first, "x" * 43, reader.first[:-1], tpp.iban_of("alice")):
        for reply in (reader.account(foreign), reader.transactions(foreign)):
            assert refused(reply, 401, PROOF, "logical-id")


@pytest.mark.parametrize(
    "path, held, refuses",
    [
        ("/accounts", (2,), (1, 3)),
        ("/accounts/{id}", (1, 2), (3,)),
        ("/accounts/{id}/transactions", (1, 2), (3,)),
    ],
)
def test_each_call_has_its_versions(tpp: Tpp, path: str, held: tuple[int, ...], refuses: tuple[int, ...]) -> None:
    reader = Reader(tpp)
    aim = path.format(id=reader.first)
    bodies = [reader.get(aim, accept=version(number)) for number in held]
    assert {reply.status_code for reply in bodies} == {200}
    assert len({reply.data for reply in bodies}) == 1
    for number in refuses:
        assert refused(reader.get(aim, accept=version(number)), 406, "SBX-0406-000001")


@pytest.mark.parametrize("path", ["/accounts", "/accounts/{id}", "/accounts/{id}/transactions"])
def test_headers_of_a_call_that_reads(tpp: Tpp, path: str) -> None:
    reader = Reader(tpp)
    aim = path.format(id=reader.first)
    assert reader.get(aim, redirect_uri=None, code_challenge=None, code_challenge_method=None).status_code == 200
    assert reader.get(aim, redirect_uri=CALLBACK).status_code == 200
    assert refused(reader.get(aim, redirect_uri="https://thief.example/"), 400, "GEN-1202-100001", "Redirect-URI")
    assert refused(reader.get(aim, client_id=None), 400, "GEN-1201-100001", "Client-ID")
    assert refused(reader.get(aim, request_id=None), 400, "GEN-1201-100001", "Request-ID")
    assert refused(reader.get(aim, accept_language=None), 406, "SBX-0406-000002")


@pytest.mark.parametrize("path", ["/accounts", "/accounts/{id}"])
def test_these_calls_know_no_query(tpp: Tpp, path: str) -> None:
    reader = Reader(tpp)
    aim = path.format(id=reader.first)
    for name in ("colour", "pagesize", "date_from"):
        assert refused(reader.get(f"{aim}?{name}=1"), 400, "GEN-1202-100002", f"'{name}'")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_accounts_are_read_only(tpp: Tpp, method: str) -> None:
    aim = Reader(tpp).first
    for path in ("/accounts", f"/accounts/{aim}", f"/accounts/{aim}/transactions"):
        reply = tpp.call(method, path, accept=version(2))
        assert refused(reply, 405, "SBX-0405-000001")
        assert reply.headers["Allow"] == "GET, HEAD"
