"""service 4.10 and choice 8: pages that lose nothing and repeat nothing, also while the account goes on living."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import pytest
from flask import Flask

from tests.reader import CAF, Reader, book, refs
from tests.tpp import ISCT, Tpp, payment, refused

INVALID = "GEN-1202-100002"


def filled(tpp: Tpp, reader: Reader, count: int = 220) -> tuple[str, list[str]]:
    """A first day from which the account has exactly that many lines, and those lines."""
    iban = tpp.iban_of(reader.customer)
    known = reader.full()
    days = sorted({row["execution_date"] for row in known}, reverse=True)
    since = next(day for day in days if sum(row["execution_date"] >= day for row in known) > count - 20)
    since = days[days.index(since) - 1]
    there = sum(row["execution_date"] >= since for row in known)
    for number in range(count - there):
        book(tpp, iban, f"{number + 1}.00", communication=f"filling {number}")
    return since, refs(reader.full(date_from=since))


@pytest.fixture
def reader(tpp: Tpp) -> Reader:
    return Reader(tpp)


def test_220_transactions_take_5_calls(tpp: Tpp, reader: Reader) -> None:
    since, every = filled(tpp, reader)
    pages = reader.walk(sca_token=reader.sca, date_from=since, pagesize=50)
    assert [len(page) for page in pages] == [50, 50, 50, 50, 20]
    walked = [ref for page in pages for ref in refs(page)]
    assert walked == every
    assert len(set(walked)) == 220


def test_none_is_lost_and_none_comes_twice_while_100_payments_book(tpp: Tpp, reader: Reader) -> None:
    since, every = filled(tpp, reader)
    iban = tpp.iban_of("alice")
    body = payment(ISCT, debtor_account__iban=iban, instructed_amount__amount="0.01")

    def pay() -> None:
        for _ in range(25):
            tpp.signed(tpp.initiate(ISCT, body))

    pages = reader.walk(between=pay, sca_token=reader.sca, date_from=since, pagesize=50)
    assert [len(page) for page in pages] == [50, 50, 50, 50, 20]
    assert [ref for page in pages for ref in refs(page)] == every
    assert len(reader.full(date_from=since)) == 320


def test_what_is_booked_with_an_earlier_date_stays_out_of_a_walk_that_began(tpp: Tpp, reader: Reader) -> None:
    since, every = filled(tpp, reader)
    iban = tpp.iban_of("alice")

    def back_date() -> None:
        for day in (since, "2027-02-01", "2027-02-28", "2027-03-01"):
            for _ in range(10):
                book(tpp, iban, date=day)

    pages = reader.walk(between=back_date, sca_token=reader.sca, date_from=since, pagesize=50)
    assert [len(page) for page in pages] == [50, 50, 50, 50, 20]
    assert [ref for page in pages for ref in refs(page)] == every
    assert len(reader.full(date_from=since)) == 220 + 160


def test_what_is_booked_before_the_walk_is_in_its_place(tpp: Tpp, reader: Reader) -> None:
    line = book(tpp, tpp.iban_of("alice"), date="2027-02-10")
    (page,) = reader.walk(date_from="2027-02-10", date_to="2027-02-11")
    assert page[0] == line  # of a day, the last booked comes first


def test_payments_of_others_do_not_disturb_two_walks_at_once(tpp: Tpp, other: Tpp, reader: Reader) -> None:
    second = Reader(other, "bram")
    whole, theirs = refs(reader.full()), refs(second.full())

    def read_the_other() -> None:
        book(tpp, tpp.iban_of("alice"))
        assert [ref for page in second.walk(sca_token=second.sca) for ref in refs(page)] == theirs

    pages = reader.walk(between=read_the_other, sca_token=reader.sca)
    assert [ref for page in pages for ref in refs(page)] == whole


@pytest.mark.parametrize("size", [1, 2, 49, 50])
def test_every_pagesize_gives_the_same_lines(tpp: Tpp, reader: Reader, size: int) -> None:
    period = {"date_from": "2027-01-15", "date_to": "2027-02-15"}
    (*full, last) = reader.walk(pagesize=size, **period)
    assert {len(page) for page in full} <= {size}
    assert 0 < len(last) <= size
    assert [row for page in (*full, last) for row in page] == [row for page in reader.walk(**period) for row in page]


def test_a_page_that_is_just_full_has_no_next(tpp: Tpp, reader: Reader) -> None:
    iban = tpp.iban_of("alice")
    there = len(reader.page(query={"date_from": "2027-03-01"})["transactions"])
    for _ in range(5 - there):
        book(tpp, iban)
    query = {"date_from": "2027-03-01", "pagesize": 5}
    assert set(reader.page(query=query)) == {"transactions"}
    book(tpp, iban)
    found = reader.page(query=query)
    assert len(found["transactions"]) == 5
    (rest,) = reader.page(query={"next": found["next_page_key"]})["transactions"]
    assert rest["transaction_ref"] not in refs(found["transactions"])


def test_without_a_size_a_page_holds_50(reader: Reader) -> None:
    assert len(reader.page()["transactions"]) == 50


def test_the_next_page_is_linked_too(reader: Reader) -> None:
    aim = reader.first
    reply = reader.transactions(aim, {"pagesize": 3})
    links, key = reply.get_json()["_links"], reply.get_json()["_embedded"]["next_page_key"]
    path = f"/accounts/{aim}"
    assert links == {
        "self": {"href": f"{path}/transactions", "templated": False},
        "account": {"href": path, "templated": False},
        "next": {"href": f"{path}/transactions?next={key}", "templated": False},
    }
    by_link, by_key = reader.get(links["next"]["href"]), reader.transactions(aim, {"next": key})
    assert by_link.data == by_key.data
    assert len(by_link.get_json()["_embedded"]["transactions"]) == 3


def test_the_key_alone_carries_the_whole_query(tpp: Tpp) -> None:
    reader = Reader(tpp, "bram")
    asked: dict[str, Any] = {"currency": "USD", "date_from": "2026-10-01", "date_to": "2027-01-01", "pagesize": 2}
    pages = reader.walk(sca_token=reader.sca, **asked)
    assert len(pages) > 2
    rows = [row for page in pages for row in page]
    assert {row["currency"] for row in rows} == {"USD"}
    assert all("2026-10-01" <= row["execution_date"] < "2027-01-01" for row in rows)


def test_beside_the_key_other_parameters_change_nothing_but_are_still_read(reader: Reader) -> None:
    key = reader.page(query={"pagesize": 3})["next_page_key"]
    alone = reader.page(query={"next": key})
    assert reader.page(query={"next": key, "pagesize": 7, "date_from": "2027-02-28", "currency": "USD"}) == alone
    assert refused(reader.transactions(query={"next": key, "pagesize": 0}), 400, INVALID, "'pagesize'")


def test_a_key_can_be_used_again_and_after_a_refresh(tpp: Tpp, reader: Reader) -> None:
    key = reader.page()["next_page_key"]
    first = reader.page(query={"next": key})
    tpp.advance("59m")
    reader.renew()
    assert reader.page(query={"next": key}) == first


def test_the_full_history_needs_its_proof_on_every_page(reader: Reader) -> None:
    """A key opens nothing: without the SCA token the walk ends where 90 days do."""
    found = reader.page(query={"date_to": "2026-12-10"}, sca_token=reader.sca)
    assert any(row["execution_date"] < "2026-12-01" for row in found["transactions"])
    assert reader.page(query={"next": found["next_page_key"]}) == {"transactions": []}
    assert reader.page(query={"next": found["next_page_key"]}, sca_token=reader.sca)["transactions"]


# Forged and foreign keys


def bits_flipped(key: str) -> list[str]:
    """The key with one bit of each of its bytes turned over."""
    raw = urlsafe_b64decode(key + "=" * (-len(key) % 4))
    forged = [raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :] for place in range(len(raw))]
    return [urlsafe_b64encode(one).decode().rstrip("=") for one in forged]


def test_a_forged_key_is_refused(reader: Reader) -> None:
    aim, key = reader.first, reader.page()["next_page_key"]
    odd = ["", "x", "nothing", "é", "=", "A" * 22, "A" * 5000, key[:-1], f"{key}A", f"{key}=", f"!{key}", f"{key} "]
    for forged in (*odd, key.swapcase(), *bits_flipped(key)):
        assert refused(reader.transactions(aim, {"next": forged}), 400, INVALID, "'next'")
    assert reader.page(aim, {"next": key})["transactions"]


def test_the_last_letter_of_a_key_counts(reader: Reader) -> None:
    """The unused bits of base64 would let several letters stand for one."""
    aim, key = reader.first, reader.page()["next_page_key"]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    held = [one for one in letters if reader.transactions(aim, {"next": key[:-1] + one}).status_code == 200]
    assert held == [key[-1]]


def test_a_foreign_key_is_refused(app: Flask, tpp: Tpp, other: Tpp, reader: Reader) -> None:
    key = reader.page()["next_page_key"]
    current, savings = reader.ids.values()
    assert refused(reader.transactions(savings, {"next": key}), 400, INVALID, "'next'")
    for foreign in (Reader(other), Reader(tpp, "bram"), Reader(Tpp(app, "elsewhere"))):
        assert refused(foreign.transactions(query={"next": key}), 400, INVALID, "'next'")
    assert reader.page(current, {"next": key})["transactions"]


def test_the_key_of_a_replaced_consent_is_refused(tpp: Tpp, reader: Reader) -> None:
    key = reader.page()["next_page_key"]
    assert refused(Reader(tpp).transactions(query={"next": key}), 400, INVALID, "'next'")


def test_a_caf_token_turns_no_page(tpp: Tpp, reader: Reader) -> None:
    key = reader.page()["next_page_key"]
    caf = Reader(tpp, "alice", CAF, tpp.iban_of("alice"))
    assert refused(caf.transactions(query={"next": key}), 403, "B14800ZZ-3004-000000")
