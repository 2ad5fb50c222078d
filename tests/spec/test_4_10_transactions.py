"""service 4.10, 2.8 and choice 8: what a page of transactions holds, of which days, and when the PSU is needed."""

from datetime import date, timedelta
from typing import Any

import pytest
from flask import Flask

from tests.reader import Reader, approve, approved, book, embedded, refs
from tests.tpp import CALLBACK, Tpp, refused

INVALID, PROOF, SCA = "GEN-1202-100002", "GEN-1203-100010", "B14800ZZ-0PLC-REDRCT"
DAY = 86_400
OLD = {"date_from": "2026-06-01", "date_to": "2026-11-01"}  # behind the 90 days of the first morning
FIELDS = [
    "transaction_ref",
    "amount",
    "currency",
    "execution_date",
    "value_date",
    "counterparty_account",
    "counterparty_info",
    "communication",
    "communication_type",
    "remittance_info",
]


@pytest.fixture
def reader(tpp: Tpp) -> Reader:
    return Reader(tpp)


def days_of(rows: list[dict[str, Any]]) -> list[str]:
    return [row["execution_date"] for row in rows]


def at(tpp: Tpp, instant: str) -> None:
    reply = tpp.control("POST", "/clock", set=instant)
    assert reply.status_code == 200, reply.text


def day_before(day: str) -> str:
    return (date.fromisoformat(day) - timedelta(days=1)).isoformat()


def sca_redirect(reply: Any) -> str:
    """The address that comes with SCA_REQUIRED, and nothing else does."""
    assert refused(reply, 401, SCA)
    assert reply.json["error"] == "SCA_REQUIRED"
    assert set(reply.json) == {"error", "error_code", "error_description", "_links"}
    assert set(reply.json["_links"]) == {"sca_redirect"}
    return str(reply.json["_links"]["sca_redirect"]["href"])


# Shape


def test_a_page_has_the_shape_of_the_service(reader: Reader) -> None:
    reply = reader.transactions()
    assert reply.content_type == "application/json;charset=utf-8"
    assert set(reply.get_json()) == {"_embedded", "_links"}
    assert set(reply.get_json()["_embedded"]) == {"transactions", "next_page_key"}
    for row in reply.get_json()["_embedded"]["transactions"]:
        assert list(row) == FIELDS
        assert isinstance(row["amount"], float)
        assert row["communication_type"] in ("FREETEXT", "STRUCTURED")


def test_newest_come_first_and_of_a_day_the_last_booked(tpp: Tpp, reader: Reader) -> None:
    made = [book(tpp, tpp.iban_of("alice"), communication=f"number {number}") for number in range(3)]
    rows = reader.full()
    assert rows[:3] == made[::-1]
    assert days_of(rows) == sorted(days_of(rows), reverse=True)


def test_amounts_are_signed_numbers_with_two_decimals_in_the_text_itself(tpp: Tpp, reader: Reader) -> None:
    aim, iban = reader.first, tpp.iban_of("alice")
    for amount in ("-12.50", "7.00", "0.10"):
        book(tpp, iban, amount)
        assert f'"amount":{amount},"currency":"EUR"' in reader.transactions(aim, {"pagesize": 1}).text


def test_every_reference_is_its_own(reader: Reader) -> None:
    found = refs(reader.full())
    assert len(found) > 400
    assert len(set(found)) == len(found)


def test_amounts_sum_to_the_change_of_the_balance(tpp: Tpp, reader: Reader) -> None:
    before = reader.account().get_json()["balance"]
    book(tpp, tpp.iban_of("alice"), "100.10")
    book(tpp, tpp.iban_of("alice"), "-0.05")
    today = embedded(reader.transactions(query={"date_from": "2027-03-01"}))[:2]
    assert sum(row["amount"] for row in today) == pytest.approx(reader.account().get_json()["balance"] - before)


# The period


def test_date_from_is_inclusive_and_date_to_exclusive(tpp: Tpp, reader: Reader) -> None:
    made = {day: book(tpp, tpp.iban_of("alice"), date=day) for day in ("2027-02-09", "2027-02-10", "2027-02-11")}
    (page,) = reader.walk(date_from="2027-02-10", date_to="2027-02-11")
    assert set(days_of(page)) == {"2027-02-10"}
    assert made["2027-02-10"] in page
    before, after = reader.full(date_to="2027-02-10"), reader.full(date_from="2027-02-11")
    assert made["2027-02-09"] in before
    assert made["2027-02-11"] in after
    assert sorted(refs(before + page + after)) == sorted(refs(reader.full()))


@pytest.mark.parametrize("since", ["0001-01-01", "1900-01-01", "1999-12-31"])
def test_a_period_may_begin_and_end_on_any_day_of_the_calendar(reader: Reader, since: str) -> None:
    query = {"date_from": since, "date_to": "9999-12-31", "pagesize": "50"}
    page = reader.page(query=query, sca_token=reader.sca)
    assert page == reader.page(query={"pagesize": "50"}, sca_token=reader.sca) | {
        "next_page_key": page["next_page_key"]
    }


@pytest.mark.parametrize(
    "period",
    [
        {"date_from": "2027-02-10", "date_to": "2027-02-10"},
        {"date_from": "2027-03-02"},
        {"date_from": "9999-12-31"},
        {"date_to": "1999-01-01"},
        {"date_to": "0001-01-01"},
    ],
)
def test_a_period_without_a_line_is_an_empty_page(reader: Reader, period: dict[str, str]) -> None:
    assert reader.page(query=period, sca_token=reader.sca) == {"transactions": []}


# The clocks of Brussels go forward on 28 March 2027 and back on 31 October 2027.
INSTANTS = [
    ("2027-03-27T23:59:59+01:00", "2027-03-27"),
    ("2027-03-28T00:00:00+01:00", "2027-03-28"),
    ("2027-03-28T01:59:59+01:00", "2027-03-28"),
    ("2027-03-28T03:00:00+02:00", "2027-03-28"),
    ("2027-03-28T23:59:59+02:00", "2027-03-28"),
    ("2027-03-29T00:00:00+02:00", "2027-03-29"),
    ("2027-10-30T23:59:59+02:00", "2027-10-30"),
    ("2027-10-31T00:00:00+02:00", "2027-10-31"),
    ("2027-10-31T02:30:00+02:00", "2027-10-31"),
    ("2027-10-31T02:30:00+01:00", "2027-10-31"),
    ("2027-10-31T23:59:59+01:00", "2027-10-31"),
    ("2027-11-01T00:00:00+01:00", "2027-11-01"),
]


def test_the_day_is_that_of_brussels_through_both_clock_changes(tpp: Tpp) -> None:
    iban, made = tpp.iban_of("alice"), []
    for instant, day in INSTANTS:
        at(tpp, instant)
        line = book(tpp, iban, communication=instant)
        assert line["execution_date"] == day
        made.append(line)
    reader = Reader(tpp)
    for day, next_day in (("2027-03-27", "2027-03-28"), ("2027-03-28", "2027-03-29"), ("2027-10-31", "2027-11-01")):
        rows = reader.full(date_from=day, date_to=next_day)
        own = [line for line in made if line["execution_date"] == day]
        assert [row for row in rows if row in made] == own[::-1]
        assert set(days_of(rows)) == {day}


@pytest.mark.parametrize(
    "midnight, oldest",
    [
        ("2027-03-29T00:00:00+02:00", "2026-12-29"),
        ("2027-06-27T00:00:00+02:00", "2027-03-29"),  # 90 days back lie in the other half of the year's clocks
        ("2027-11-01T00:00:00+01:00", "2027-08-03"),
        ("2028-01-29T00:00:00+01:00", "2027-10-31"),
    ],
)
def test_90_days_reach_back_to_the_day_and_move_at_midnight_in_brussels(tpp: Tpp, midnight: str, oldest: str) -> None:
    iban = tpp.iban_of("alice")
    at(tpp, midnight)
    reader = Reader(tpp)
    aim = reader.first
    edge, behind = book(tpp, iban, date=oldest), book(tpp, iban, date=day_before(oldest))
    rows = [row for page in reader.walk(aim) for row in page]
    assert edge in rows
    assert behind not in rows
    assert min(days_of(rows)) == oldest
    full = reader.full(aim)
    assert edge in full
    assert behind in full


def test_a_second_before_midnight_the_90_days_still_hold_one_day_more(tpp: Tpp) -> None:
    iban = tpp.iban_of("alice")
    at(tpp, "2027-03-28T23:59:59+02:00")
    line = book(tpp, iban, date="2026-12-28")
    reader = Reader(tpp)
    period = {"date_from": "2026-12-28", "date_to": "2026-12-29"}
    assert line in reader.page(query=period)["transactions"]
    tpp.advance("1s")
    assert reader.page(query=period) == {"transactions": []}


# Compartments


def test_without_a_currency_the_euro_compartment_is_meant(tpp: Tpp) -> None:
    reader = Reader(tpp, "bram")
    assert reader.page() == reader.page(query={"currency": "EUR"})
    assert {row["currency"] for row in reader.full()} == {"EUR"}


def test_each_compartment_has_lines_of_its_own(tpp: Tpp) -> None:
    reader, iban = Reader(tpp, "bram"), tpp.iban_of("bram")
    line = book(tpp, iban, "5.00", currency="GBP")
    by_currency = {currency: reader.full(currency=currency) for currency in ("EUR", "USD", "GBP")}
    for currency, rows in by_currency.items():
        assert {row["currency"] for row in rows} == {currency}
        assert (line in rows) == (currency == "GBP")


def test_a_compartment_that_the_account_lacks_is_an_empty_page(tpp: Tpp, reader: Reader) -> None:
    assert reader.page(query={"currency": "USD"}) == {"transactions": []}
    assert Reader(tpp, "bram").page(query={"currency": "CHF"}) == {"transactions": []}


# Every parameter, held and refused


@pytest.mark.parametrize(
    "name, value",
    [
        ("date_from", "2027-02-28"),
        ("date_to", "2027-02-28"),
        ("date_from", "2028-02-29"),
        ("psu_involved", "true"),
        ("psu_involved", "false"),
        ("pagesize", "1"),
        ("pagesize", "50"),
        ("currency", "EUR"),
        ("currency", "JPY"),
    ],
)
def test_a_parameter_holds(reader: Reader, name: str, value: str) -> None:
    assert reader.transactions(query={name: value}).status_code == 200


@pytest.mark.parametrize(
    "name, values",
    [
        ("date_from", ["", "2027-02-29", "2027-2-1", "20270201", "01-02-2027", "2027-02-01T00:00:00", "2027-13-01"]),
        ("date_from", ["today", " 2027-02-01", "2027-02-01 ", "２０２７-02-01", "0000-01-01", "-2027-02-01"]),
        ("date_to", ["", "2027-02-30", "2027-2-1", "yesterday", "2027-W05-1", "10000-01-01"]),
        ("psu_involved", ["", "TRUE", "True", "1", "0", "yes", "true "]),
        ("pagesize", ["", "0", "51", "-1", "1.0", "1e1", "ten", " 5", "５", "99999999999999999999", "+5", "0x5"]),
        ("currency", ["", "eur", "EURO", "EU", "ZZZ", "XAU", "€", "EUR ", "978"]),
    ],
)
def test_a_bad_value_of_a_parameter_is_refused(reader: Reader, name: str, values: list[str]) -> None:
    aim = reader.first
    for value in values:
        assert refused(reader.transactions(aim, {name: value}), 400, INVALID, f"'{name}'")


def test_a_day_that_the_calendar_does_not_have_is_told_as_such(reader: Reader) -> None:
    reply = reader.transactions(reader.first, {"date_from": "2027-02-30"})
    assert refused(reply, 400, INVALID, "2027-02-30 does not exist: February 2027 has 28 days")


def test_a_period_that_ends_before_it_begins_is_refused(reader: Reader) -> None:
    query = {"date_from": "2027-02-10", "date_to": "2027-02-09"}
    assert refused(reader.transactions(query=query), 400, INVALID, "'date_to'")


@pytest.mark.parametrize("name", ["colour", "pageSize", "dateFrom", "date-from", "page", "sort", ""])
def test_an_unknown_parameter_is_refused(reader: Reader, name: str) -> None:
    assert refused(reader.transactions(query={name: "1"}), 400, INVALID, f"'{name}'")


@pytest.mark.parametrize("name, value", [("pagesize", "5"), ("date_from", "2027-02-01"), ("currency", "EUR")])
def test_a_parameter_given_twice_is_refused(reader: Reader, name: str, value: str) -> None:
    assert refused(reader.transactions(query=[(name, value), (name, value)]), 400, INVALID, f"'{name}'")


def test_a_bad_parameter_is_heard_before_a_consent_that_ended(tpp: Tpp, reader: Reader) -> None:
    aim = reader.first
    tpp.control("POST", "/psu/withdraw", client_id="demo-tpp", customer="alice", scope="AIS")
    assert refused(reader.transactions(aim, {"pagesize": "0"}), 400, INVALID)
    assert refused(reader.transactions(aim), 403, "B14800ZZ-3013-000000")


# The SCA token


def test_without_the_sca_token_90_days_are_read_and_with_it_all(tpp: Tpp, reader: Reader) -> None:
    short = [row for page in reader.walk() for row in page]
    full = reader.full()
    assert full[: len(short)] == short
    assert min(days_of(short)) >= "2026-12-01"
    assert min(days_of(full)) < "2026-05-01"


def test_the_full_history_reaches_ten_years_back(tpp: Tpp) -> None:
    rows = Reader(tpp, "bakkerij").full()
    assert min(days_of(rows))[:4] == "2017"
    assert len(set(refs(rows))) == len(rows) > 2000


def test_old_days_give_nothing_without_the_sca_token(reader: Reader) -> None:
    assert reader.page(query=OLD) == {"transactions": []}
    assert reader.page(query=OLD | {"psu_involved": "false"}) == {"transactions": []}
    assert reader.page(query=OLD, sca_token=reader.sca)["transactions"]


def test_a_period_over_the_edge_gives_its_younger_part(reader: Reader) -> None:
    period = {"date_from": "2026-11-01", "date_to": "2026-12-15"}
    young = [row for page in reader.walk(**period) for row in page]
    every = reader.full(**period)
    assert 0 < len(young) < len(every)
    assert young == [row for row in every if row["execution_date"] >= "2026-12-01"]


def test_an_sca_token_older_than_one_hour_counts_as_absent(tpp: Tpp, reader: Reader) -> None:
    aim = reader.first
    tpp.advance("3599s")
    assert reader.page(aim, OLD, sca_token=reader.sca)["transactions"]
    reader.renew()
    tpp.advance("1s")  # one hour, and not older
    assert reader.page(aim, OLD, sca_token=reader.sca)["transactions"]
    tpp.advance("1s")
    assert reader.page(aim, OLD, sca_token=reader.sca) == {"transactions": []}
    assert reader.page(aim, sca_token=reader.sca) == reader.page(aim)
    involved = reader.transactions(aim, OLD | {"psu_involved": "true"}, sca_token=reader.sca)
    assert sca_redirect(involved)


def test_an_sca_token_of_another_consent_is_refused(tpp: Tpp, other: Tpp, reader: Reader) -> None:
    aim = reader.first
    foreign = [Reader(other).sca, Reader(tpp, "bram").sca, Reader(tpp, "alice", "CAF", tpp.iban_of("alice")).sca]
    for token in ("", "nothing", reader.access, *foreign):
        for query in ({}, OLD):
            assert refused(reader.transactions(aim, query, sca_token=token), 401, PROOF, "'SCA-Token'")
    again = Reader(tpp)
    assert refused(again.transactions(sca_token=reader.sca), 401, PROOF, "'SCA-Token'")
    assert again.page(query=OLD, sca_token=again.sca)["transactions"]


def test_an_outdated_sca_token_of_another_consent_is_refused_too(tpp: Tpp, reader: Reader) -> None:
    foreign = Reader(tpp, "bram").sca
    tpp.advance("2h")
    reader.renew()
    assert refused(reader.transactions(sca_token=foreign), 401, PROOF)


def test_the_sca_token_opens_nothing_by_itself(reader: Reader) -> None:
    aim = reader.first
    reply = reader.transactions(aim, sca_token=reader.sca, authorization=None)
    assert refused(reply, 401, "GEN-1203-100003")


# The PSU is there, or is needed again


def test_with_the_psu_involved_old_days_ask_for_a_new_authentication(reader: Reader) -> None:
    asked = OLD | {"psu_involved": "true"}
    assert sca_redirect(reader.transactions(query=asked))
    assert reader.page(query=asked, sca_token=reader.sca)["transactions"]


@pytest.mark.parametrize(
    "period, needs",
    [
        ({}, False),
        ({"date_from": "2026-12-01"}, False),
        ({"date_from": "2026-11-30"}, True),
        ({"date_to": "2027-01-01"}, False),
        ({"date_to": "2026-12-02"}, False),
        ({"date_to": "2026-12-01"}, True),
    ],
)
def test_with_the_psu_involved_only_days_behind_the_edge_need_it(
    reader: Reader, period: dict[str, str], needs: bool
) -> None:
    reply = reader.transactions(query=period | {"psu_involved": "true"})
    assert sca_redirect(reply) if needs else reply.status_code == 200


def test_after_the_psu_authenticated_the_same_token_reads_the_old_days(tpp: Tpp, reader: Reader) -> None:
    asked = OLD | {"psu_involved": "true"}
    aim = reader.first
    address = sca_redirect(reader.transactions(aim, asked))
    assert approved(tpp, f"{address}?state=s-1") == f"{CALLBACK}?state=s-1"
    assert reader.page(aim, asked)["transactions"] == reader.page(aim, OLD, sca_token=reader.sca)["transactions"]
    tpp.advance("3599s")
    assert reader.page(aim, asked)["transactions"]
    tpp.advance("2s")
    reader.renew()
    assert sca_redirect(reader.transactions(aim, asked))


def test_transactions_need_an_authentication_no_older_than_90_days(tpp: Tpp, reader: Reader) -> None:
    aim = reader.first
    tpp.advance(f"{90 * DAY}s")
    reader.renew()
    assert reader.transactions(aim).status_code == 200
    tpp.advance("1s")
    assert sca_redirect(reader.transactions(aim))
    assert sca_redirect(reader.transactions(aim, {"psu_involved": "true"}))
    assert sca_redirect(reader.transactions(aim, {"date_from": "2027-05-25"}, sca_token=reader.sca))
    assert reader.account(aim).status_code == 200


def test_after_90_days_the_psu_authenticates_and_the_same_token_reads_on(tpp: Tpp, reader: Reader) -> None:
    aim = reader.first
    tpp.advance("91d")
    reader.renew()
    address = sca_redirect(reader.transactions(aim))
    approved(tpp, address)
    assert reader.transactions(aim).status_code == 200
    assert reader.ids[tpp.iban_of("alice")] == aim
    tpp.advance(f"{180 * DAY - 91 * DAY - 1}s")  # the consent is not prolonged: it ends after its 180 days
    reader.renew()
    assert reader.transactions(aim).status_code == 200
    tpp.advance("1s")
    assert refused(reader.transactions(aim), 403, "B14800ZZ-3013-000000")


def test_a_fresh_address_is_given_each_time_and_lives_15_minutes(tpp: Tpp, reader: Reader) -> None:
    asked = OLD | {"psu_involved": "true"}
    first, second = (sca_redirect(reader.transactions(query=asked)) for _ in range(2))
    assert first != second
    assert first.startswith("http://localhost/psu/consent/")
    tpp.advance("899s")
    approved(tpp, first)
    assert refused(approve(tpp, first), 409, "SBX-0409-000003")
    tpp.advance("1s")
    assert refused(approve(tpp, second), 410, "SBX-0410-000001")


def test_the_address_of_a_world_bears_its_prefix(app: Flask) -> None:
    elsewhere = Reader(Tpp(app, "elsewhere"))
    address = sca_redirect(elsewhere.transactions(query=OLD | {"psu_involved": "true"}))
    assert address.startswith("http://localhost/worlds/elsewhere/psu/consent/")
    approved(elsewhere.tpp, address)
    assert elsewhere.page(query=OLD)["transactions"]


def test_only_the_psu_of_the_consent_can_renew_it(tpp: Tpp, reader: Reader) -> None:
    asked = OLD | {"psu_involved": "true"}
    address = sca_redirect(reader.transactions(query=asked))
    assert refused(approve(tpp, address, "bram"), 403, "B14800ZZ-3004-000000")
    approved(tpp, address, "alice")
    assert reader.page(query=asked)["transactions"]


def test_a_psu_that_refuses_leaves_things_as_they_were(tpp: Tpp, reader: Reader) -> None:
    asked = OLD | {"psu_involved": "true"}
    address = sca_redirect(reader.transactions(query=asked))
    assert "error=access_denied" in tpp.control("POST", "/psu/refuse", address=address).get_json()["redirect"]
    assert sca_redirect(reader.transactions(query=asked))
    assert reader.transactions().status_code == 200


def test_a_consent_that_ended_cannot_be_renewed(tpp: Tpp, reader: Reader) -> None:
    address = sca_redirect(reader.transactions(query=OLD | {"psu_involved": "true"}))
    tpp.control("POST", "/psu/withdraw", client_id="demo-tpp", customer="alice", scope="AIS")
    assert refused(approve(tpp, address), 403, "B14800ZZ-3013-000000")


def test_the_psu_comes_back_to_the_redirect_uri_of_the_call(tpp: Tpp, reader: Reader) -> None:
    asked = OLD | {"psu_involved": "true"}
    own = sca_redirect(reader.transactions(query=asked, redirect_uri="http://127.0.0.1:9000/again?x=1"))
    assert approved(tpp, f"{own}?state=s-2") == "http://127.0.0.1:9000/again?x=1&state=s-2"
    tpp.advance("2h")
    reader.renew()
    left_out = sca_redirect(reader.transactions(query=asked, redirect_uri=None))
    assert approved(tpp, left_out) == CALLBACK
