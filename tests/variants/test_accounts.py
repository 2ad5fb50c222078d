"""Each axis of account information, seen on the wire under each value."""

from typing import Any

import pytest

from tests.payer import signed
from tests.reader import Reader, approve, book, consent_uris, refs
from tests.spec.bodies import ALICE
from tests.tpp import BELGIAN, Tpp
from tests.variants.probing import Seen, Table, cases, show

OLD = {"date_from": "2026-06-01", "date_to": "2026-11-01"}


def body(reply: Any) -> Any:
    assert reply.status_code == 200, reply.text
    return reply.get_json()


def status_and_code(reply: Any) -> tuple[int, str]:
    return reply.status_code, reply.get_json().get("error", "")


def shown(customer: str, field: str) -> Any:
    return lambda tpp: body(Reader(tpp, customer).account()).get(field, "absent")


def euros(tpp: Tpp, customer: str) -> str:
    """What the balance of an account with several currencies counts."""
    booked = next(row["balances"] for row in tpp.listed("accounts") if row["customer"] == customer)
    euro = next(float(row["balance"]) for row in booked if row["currency"] == "EUR")
    return "euro" if body(Reader(tpp, customer).account())["balance"] == euro else "globalised"


def of_two_accounts(tpp: Tpp) -> tuple[str, str]:
    return euros(tpp, "bram"), euros(tpp, "atelier")


def after_a_signature(tpp: Tpp) -> float:
    reader = Reader(tpp)
    before = body(reader.account())["balance"]
    signed(tpp, instructed_amount__amount="10.00")
    return round(float(before - body(reader.account())["balance"]), 2)


def first_href(tpp: Tpp) -> bool:
    return str(body(Reader(tpp).account())["_links"]["self"]["href"]).startswith("http")


def same_id_again(tpp: Tpp) -> bool:
    return Reader(tpp).ids == Reader(tpp).ids


def currencies(tpp: Tpp) -> list[str]:
    reader = Reader(tpp, "bram")
    pages = reader.walk(pagesize=50)
    days = [row["execution_date"] for page in pages for row in page]
    assert days == sorted(days, reverse=True)
    return sorted({row["currency"] for page in pages for row in page})


def in_yen(tpp: Tpp) -> int:
    return Reader(tpp).transactions(query={"currency": "JPY"}).status_code


def newest(field: str) -> Any:
    def probe(tpp: Tpp) -> Any:
        book(tpp, tpp.iban_of("alice"), "-2.50")
        return Reader(tpp).page()["transactions"][0].get(field, "absent")

    return probe


def direction(tpp: Tpp) -> tuple[float, str | None]:
    book(tpp, tpp.iban_of("alice"), "-2.50")
    row = Reader(tpp).page()["transactions"][0]
    return row["amount"], row.get("credit_debit_indicator")


def kind(field: str) -> Any:
    return lambda tpp: type(newest(field)(tpp)).__name__


def order(tpp: Tpp) -> tuple[str, bool]:
    reader = Reader(tpp)
    pages = reader.walk(date_from="2027-01-01", pagesize=7)
    days = [row["execution_date"] for page in pages for row in page]
    every = refs([row for page in pages for row in page])
    assert len(every) == len(set(every)) > 14
    return ("newest" if days[0] > days[-1] else "oldest"), days == sorted(days, reverse=days[0] > days[-1])


def full_page(tpp: Tpp) -> list[int]:
    reader = Reader(tpp)
    there = len(reader.page(query={"date_from": "2027-03-01"})["transactions"])
    for _ in range(5 - there):
        book(tpp, tpp.iban_of("alice"))
    return [len(page) for page in reader.walk(date_from="2027-03-01", pagesize=5)]


def first_pages(tpp: Tpp) -> bool:
    pages = Reader(tpp).walk(pagesize=50)
    assert sum(map(len, pages)) > 50
    return pages[0] == []


def without_filters(tpp: Tpp) -> tuple[int, int]:
    reader = Reader(tpp)
    query = {"date_from": "2027-01-01", "pagesize": 5}
    key = reader.page(query=query)["next_page_key"]
    return reader.transactions(query={"next": key}).status_code, reader.transactions(
        query=query | {"next": key}
    ).status_code


def old_period(tpp: Tpp) -> tuple[int, str]:
    return status_and_code(Reader(tpp).transactions(query=OLD))


def after_100_days(tpp: Tpp) -> tuple[int, str]:
    reader = Reader(tpp)
    first = reader.first
    tpp.advance("100d")
    reader.renew()
    return status_and_code(reader.account(first))


def waiting_line(tpp: Tpp) -> list[tuple[str, str]]:
    """What the first page says of a payment before and after it is booked, and how long it is."""
    reader, paid = Reader(tpp), signed(tpp, requested_execution_date="2027-03-03", debtor_account={"iban": ALICE})
    found = []
    for _ in range(2):
        page = reader.page(query={"pagesize": 20})["transactions"]
        assert len(page) == 20 and len(set(refs(page))) == 20
        found += [(row["transaction_ref"][: len(paid.id)], row.get("status", "booked")) for row in page[:3]]
        tpp.advance("2d")
        reader.renew()
    return [(state, ref == paid.id) for ref, state in found if ref == paid.id or state != "booked"]


def references(tpp: Tpp) -> list[int]:
    """Of two lines that are read twice, with a minute between: how many references there are at a read, and in all."""
    reader = Reader(tpp)
    found = []
    for _ in "12":
        book(tpp, tpp.iban_of("alice"))
    for _ in "12":
        found.append(set(refs(reader.page(query={"date_from": "2027-03-01", "pagesize": 2})["transactions"])))
        assert refs(reader.page(query={"date_from": "2027-03-01"})["transactions"])[0] in found[-1]
        tpp.advance("1m")
    return [len(found[0]), len(found[0] | found[1])]


def pending_and_booked(tpp: Tpp) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The line of a payment before it is booked, if it is shown, and after."""
    reader = Reader(tpp)
    order = {"requested_execution_date": "2027-03-03", "remittance_information_unstructured": "Rent of March"}
    signed(tpp, debtor_account={"iban": ALICE}, **order)
    first = reader.page()["transactions"][0]
    tpp.advance("2d")
    reader.renew()
    lines = reader.page(query={"date_from": "2027-03-03"})["transactions"]
    return (first if "status" in first else None), next(row for row in lines if row["counterparty_account"] == BELGIAN)


def changes(*fields: str) -> Any:
    """Whether fields change when a payment is booked; None where it is not shown before."""

    def probe(tpp: Tpp) -> bool | None:
        pending, booked = pending_and_booked(tpp)
        return None if pending is None else [pending[name] for name in fields] != [booked[name] for name in fields]

    return probe


def pending_fields(tpp: Tpp) -> list[str] | None:
    pending, _ = pending_and_booked(tpp)
    return None if pending is None else sorted(name for name, value in pending.items() if value)


def value_dates(tpp: Tpp) -> bool:
    """Whether each line has a value date; the same lines lack it at each read."""
    reader = Reader(tpp)
    first, again = (["value_date" in row for row in reader.page()["transactions"]] for _ in "12")
    assert first == again and any(first)
    return all(first)


def bics(tpp: Tpp) -> Any:
    """Of counterparties at this bank, at another Belgian bank, abroad, and of none."""
    reader, found = Reader(tpp), []
    for iban in (BELGIAN, "BE53068001234553", "FR1420041010050500013M02606", None):
        other: dict[str, Any] = {} if iban is None else {"counterparty": {"iban": iban, "name": "Jan"}}
        book(tpp, tpp.iban_of("alice"), **other)
        found.append(reader.page(query={"pagesize": 1})["transactions"][0].get("counterparty_bic", "absent"))
    return found


def unknown_id(tpp: Tpp) -> int:
    return Reader(tpp).account("none").status_code


def page_length(tpp: Tpp) -> int:
    return len(Reader(tpp).page()["transactions"])


SEEN: Table = {
    "balance_of": Seen(
        of_two_accounts,
        {"parameter": ("euro", "globalised"), "euro": ("euro", "euro"), "globalised": ("globalised", "globalised")},
    ),
    "balance_is": Seen(after_a_signature, {"booked": 0.0, "available": 10.0}),
    "balances_as": Seen(lambda tpp: type(shown("alice", "balance")(tpp)), {"number": float, "string": str}),
    "multicurrency": Seen(
        shown("bram", "multicurrency"), {"boolean": True, "string": "true", "Y": "Y", "True": "True"}
    ),
    "account_type": Seen(shown("alice", "type"), {"words": "current-account", "iso": "CACC"}),
    "no_compartments": Seen(shown("alice", "other_compartments"), {"empty": [], "absent": "absent"}),
    "account_holder": Seen(shown("alice", "account_holder"), {"absent": "absent", "present": "Alice Delvigne"}),
    "href": Seen(first_href, {"relative": False, "absolute": True}),
    "logical_id": Seen(same_id_again, {"per_consent": False, "stable": True}),
    "unknown_logical_id": Seen(unknown_id, {"401": 401, "404": 404}),
    "currency_omitted": Seen(currencies, {"EUR": ["EUR"], "all": ["EUR", "GBP", "USD"]}),
    "lacking_compartment": Seen(in_yen, {"empty": 200, "404": 404}),
    "item_amount": Seen(kind("amount"), {"number": "float", "string": "str"}),
    "item_sign": Seen(direction, {"signed": (-2.5, None), "indicator": (2.5, "DBIT")}),
    "item_fields": Seen(
        lambda tpp: [name for name in Reader(tpp).page()["transactions"][0] if name[:3] == "val"],
        {"snake": ["value_date"], "camel": ["valueDate"]},
    ),
    "pending_items": Seen(waiting_line, {"not_shown": [("booked", True)], "shown": [("PDNG", True), ("booked", True)]}),
    "pending_lines": Seen(
        pending_fields,
        {
            "full": None,
            "nearly_empty": ["amount", "communication_type", "currency", "execution_date", "status", "transaction_ref"],
        },
    ),
    "reference_repeats": Seen(references, {"never": [2, 2], "may": [1, 1]}),
    "reference_renumbered": Seen(references, {"stays": [2, 2], "changes": [2, 4]}),
    "reference_when_booked": Seen(changes("transaction_ref"), {"stays": None, "changes": True}),
    "text_when_booked": Seen(changes("communication", "remittance_info"), {"stays": None, "changes": True}),
    "counterparty_bic": Seen(bics, {"absent": ["absent"] * 4, "present": ["SBXBBEBB", "GKCCBEBB", None, None]}),
    "value_date_field": Seen(value_dates, {"present": True, "sometimes": False}),
    "item_dates": Seen(newest("value_date"), {"date": "2027-03-01", "date_time": "2027-03-01T00:00:00+01:00"}),
    "item_blanks": Seen(newest("counterparty_account"), {"usual": None, "empty": "", "absent": "absent"}),
    "order_of_items": Seen(order, {"newest_first": ("newest", True), "oldest_first": ("oldest", True)}),
    "exact_last_page": Seen(full_page, {"no_key": [5], "key": [5, 0]}),
    "empty_page": Seen(first_pages, {"last_only": False, "first": True}),
    "next_alone": Seen(without_filters, {"enough": (200, 200), "needs_filters": (400, 200)}),
    "old_dates_without_sca": Seen(
        old_period,
        {
            "cut": (200, ""),
            "401": (401, "SCA_REQUIRED"),
            "403": (403, "ACCESS_DENIED"),
            "400_address": (400, "SCA_REQUIRED"),
        },
    ),
    "balance_after_90_days": Seen(after_100_days, {"readable": (200, ""), "401": (401, "SCA_REQUIRED")}),
    "page_size": Seen(page_length, {"50": 50, "10": 10}),
}


@pytest.mark.parametrize("axis, value", cases(SEEN))
def test_each_value_shows_on_the_wire(tpp: Tpp, axis: str, value: str) -> None:
    show(tpp, SEEN, axis, value)


def test_the_address_in_the_text_leads_to_the_authentication_that_opens_the_history(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"old_dates_without_sca": "400_address"})
    reader = Reader(tpp)
    refused = reader.transactions(query=OLD)
    body = refused.get_json()
    assert (refused.status_code, set(body)) == (400, {"error", "error_code", "error_description"})
    address = str(body["error_description"]).split()[-1]
    assert address.startswith("http://localhost/psu/consent/")
    assert approve(tpp, address, "alice").status_code == 200
    assert reader.page(query=OLD)["transactions"]
    present = Reader(tpp, "bram").transactions(query=OLD | {"psu_involved": "true"})
    assert (present.status_code, "_links" in present.get_json()) == (401, True)  # service 4.10


def test_a_pending_line_has_the_reference_and_the_text_of_its_booked_line_where_nothing_says_otherwise(
    tpp: Tpp,
) -> None:
    tpp.control("PATCH", "/settings", variants={"pending_items": "shown"})
    pending, booked = pending_and_booked(tpp)
    assert pending == booked | {"status": "PDNG"}


def test_pending_lines_are_on_the_first_page_that_is_not_empty(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"pending_items": "shown", "empty_page": "first"})
    signed(tpp, requested_execution_date="2027-03-03", debtor_account={"iban": ALICE})
    pages = Reader(tpp).walk(date_from="2027-02-01", pagesize=10)
    assert pages[0] == [] and len(pages[1]) == 10
    assert [[row.get("status") for row in page].count("PDNG") for page in pages] == [0, 1, *[0] * len(pages[2:])]


def test_references_that_change_are_the_same_in_a_copy_of_the_world_at_the_same_moment(tpp: Tpp) -> None:
    """What a log replays is what another server reads."""
    tpp.control("PATCH", "/settings", variants={"reference_renumbered": "changes", "reference_when_booked": "changes"})
    reader = Reader(tpp)
    signed(tpp, requested_execution_date="2027-03-03", debtor_account={"iban": ALICE})
    book(tpp, tpp.iban_of("alice"))
    tpp.advance("1m")
    there, place = refs(reader.page()["transactions"]), reader.first
    content = tpp.http.get(f"{tpp.prefix}/_sandbox/export").data
    sent = {"Content-Type": "application/x-ndjson"}
    assert tpp.http.post("/_sandbox/import?as=copy", data=content, headers=sent).status_code == 201
    reader.tpp = Tpp(tpp.http.application, "copy")
    assert refs(reader.page(place)["transactions"]) == there
    reader.tpp.advance("1m")
    assert not set(refs(reader.page(place)["transactions"])) & set(there)


def test_consent_is_not_touched_by_axes_of_accounts(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", variants={"href": "absolute", "logical_id": "stable"})
    assert consent_uris(tpp).status_code == 200
