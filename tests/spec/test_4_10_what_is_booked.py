"""choice 8, 5, 6, 7: payments, standing orders and bulk files as the readers of both accounts see them."""

from typing import Any

from tests.bulkfiles.a_file import Bulk, pain, reference, remittance, transaction
from tests.reader import Reader, book
from tests.tpp import BELGIAN, ISCT, SCT, XB, Tpp, payment, version

STRUCTURED = "+++090/9337/55493+++"


def newest(tpp: Tpp, customer: str, count: int = 1, **query: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = Reader(tpp, customer).page(query={"pagesize": count, **query})["transactions"]
    return rows


def paid(tpp: Tpp, product: str = SCT, **changes: Any) -> str:
    reply = tpp.initiate(product, payment(product, **changes))
    tpp.signed(reply)
    return str(reply.get_json()["payment_id"])


def names(tpp: Tpp) -> dict[str, str]:
    return {row["customer"]: row["name"] for row in tpp.listed("customers")}


def test_a_payment_appears_when_its_money_leaves(tpp: Tpp) -> None:
    iban = tpp.iban_of("alice")
    before = newest(tpp, "alice")
    payment_id = paid(tpp, debtor_account__iban=iban, remittance_information_unstructured="Bill 7")
    tpp.advance("4s")
    assert newest(tpp, "alice") == before
    tpp.advance("1s")
    (row,) = newest(tpp, "alice")
    assert row == {
        "transaction_ref": f"{payment_id}-D",
        "amount": -12.5,
        "currency": "EUR",
        "execution_date": "2027-03-01",
        "value_date": "2027-03-02",
        "counterparty_account": BELGIAN,
        "counterparty_info": "Jan Peeters",
        "communication": "Bill 7",
        "communication_type": "FREETEXT",
        "remittance_info": "SEPA CREDIT TRANSFER INVOICE-2027-001",
    }


def test_an_instant_payment_is_of_the_same_value_date_and_shows_its_structured_communication(tpp: Tpp) -> None:
    digits = STRUCTURED.replace("+", "").replace("/", "")
    for given in (STRUCTURED, digits):
        changes = {"remittance_information_structured": given, "debtor_account__iban": tpp.iban_of("alice")}
        paid(tpp, ISCT, **changes)
        (row,) = newest(tpp, "alice")
        assert (row["communication"], row["communication_type"]) == (STRUCTURED, "STRUCTURED")
        assert row["value_date"] == row["execution_date"] == "2027-03-01"


def test_a_payment_without_a_communication_has_an_empty_one(tpp: Tpp) -> None:
    paid(tpp, ISCT, debtor_account__iban=tpp.iban_of("alice"))
    (row,) = newest(tpp, "alice")
    assert (row["communication"], row["communication_type"]) == ("", "FREETEXT")


def test_a_beneficiary_of_this_bank_sees_who_paid_once_it_is_settled(tpp: Tpp) -> None:
    alice, bram = tpp.iban_of("alice"), tpp.iban_of("bram")
    changes = {"creditor_account__iban": bram, "creditor_name": "Bram", "debtor_account__iban": alice}
    payment_id = paid(tpp, remittance_information_unstructured="Lunch", **changes)
    before = newest(tpp, "bram")
    tpp.advance("59s")
    assert newest(tpp, "bram") == before
    tpp.advance("1s")
    (theirs,), (ours,) = newest(tpp, "bram"), newest(tpp, "alice")
    assert (theirs["transaction_ref"], theirs["amount"]) == (f"{payment_id}-C", 12.5)
    assert (theirs["counterparty_account"], theirs["counterparty_info"]) == (alice, names(tpp)["alice"])
    assert (ours["counterparty_account"], ours["counterparty_info"], ours["amount"]) == (bram, "Bram", -12.5)
    assert theirs["communication"] == ours["communication"] == "Lunch"


def test_money_that_comes_back_is_a_second_transaction(tpp: Tpp) -> None:
    payment_id = paid(tpp, debtor_account__iban=tpp.iban_of("alice"))
    tpp.advance("5s")
    tpp.control("POST", f"/payments/{payment_id}/move", status="RJCT", reason="AC04")
    back, out = newest(tpp, "alice", 2)
    assert (back["amount"], out["amount"]) == (12.5, -12.5)
    assert back["transaction_ref"] != out["transaction_ref"]
    assert back["counterparty_account"] == out["counterparty_account"] == BELGIAN
    assert "AC04" in back["remittance_info"]


def test_a_cross_border_payment_is_a_line_of_the_compartment_that_paid(tpp: Tpp) -> None:
    changes = {"debtor_account__iban": tpp.iban_of("bram"), "debtor_account__currency": "USD"}
    before = newest(tpp, "bram")
    payment_id = paid(tpp, XB, **changes)
    tpp.advance("5s")
    (row,) = newest(tpp, "bram", currency="USD")
    assert (row["transaction_ref"], row["amount"], row["currency"]) == (f"{payment_id}-D", -12.5, "USD")
    assert newest(tpp, "bram") == before


def test_every_execution_of_a_standing_order_is_a_transaction(tpp: Tpp) -> None:
    alice, bram = tpp.iban_of("alice"), tpp.iban_of("bram")
    body = payment(debtor_account__iban=alice, creditor_account__iban=bram, creditor_name="Bram")
    body |= {
        "start_date": "2027-03-05",
        "frequency": "WEEKLY",
        "execution_date": "2027-03-05",
        "remittance_information_structured": STRUCTURED,
    }
    reply = tpp.call("POST", "/periodic-payments/sepa-credit-transfers", json=body, accept=version(2))
    tpp.signed(reply)
    tpp.advance("15d")
    reader, receiver = Reader(tpp), Reader(tpp, "bram")
    ours, theirs = (
        [row for row in of.full(date_from="2027-03-02") if row["communication"] == STRUCTURED]
        for of in (reader, receiver)
    )
    assert [row["execution_date"] for row in ours] == ["2027-03-12", "2027-03-05"]
    assert len({row["transaction_ref"] for row in ours}) == 2
    for out, into in zip(ours, theirs, strict=True):
        assert (out["amount"], into["amount"]) == (-12.5, 12.5)
        assert out["communication_type"] == into["communication_type"] == "STRUCTURED"
        assert (out["counterparty_account"], out["counterparty_info"]) == (bram, "Bram")
        assert (into["counterparty_account"], into["counterparty_info"]) == (alice, names(tpp)["alice"])


def executed_bulk(tpp: Tpp, content: bytes) -> None:
    """Through validation, signature and execution."""
    sent = {"accept": version(2), "content_type": "application/xml"}
    reply = tpp.call("POST", "/bulk-payments/pain.001", data=content, **sent)
    assert reply.status_code == 201, reply.text
    tpp.advance("120s")
    path = f"/bulk-payments/pain.001/{reply.get_json()['payment_file_id']}/status"
    status = tpp.call("GET", path, accept=version(2)).get_json()
    assert status["status"] == "PATC", status
    address = status["_links"]["sca_redirect"]["href"]
    assert tpp.control("POST", "/psu/approve", address=address).status_code == 200
    tpp.advance("1d")
    assert tpp.call("GET", path, accept=version(2)).get_json()["status"] == "ACSC"


def to(iban: str, endtoend: str, said: str) -> str:
    return transaction(endtoend, account=f"<IBAN>{iban}</IBAN>", remittance=said)


def test_a_bulk_that_is_booked_line_by_line_shows_each_transfer(tpp: Tpp) -> None:
    alice, bakkerij = tpp.iban_of("alice"), tpp.iban_of("bakkerij")
    free = remittance("<Ustrd>Wages</Ustrd>")
    transfers = (to(alice, "E-1", free), to(BELGIAN, "E-2", reference(STRUCTURED)))
    executed_bulk(tpp, pain(Bulk(transfers, booking="<BtchBookg>false</BtchBookg>")))
    rows = newest(tpp, "bakkerij", 2)
    assert [(row["amount"], row["counterparty_account"], row["communication"]) for row in rows] == [
        (-10.0, BELGIAN, STRUCTURED),
        (-10.0, alice, "Wages"),
    ]
    assert [row["communication_type"] for row in rows] == ["STRUCTURED", "FREETEXT"]
    (theirs,) = newest(tpp, "alice")
    assert (theirs["amount"], theirs["counterparty_account"], theirs["communication"]) == (10.0, bakkerij, "Wages")


def test_a_bulk_that_is_booked_as_one_shows_its_sum_and_to_each_beneficiary_its_own_transfer(tpp: Tpp) -> None:
    alice, bakkerij = tpp.iban_of("alice"), tpp.iban_of("bakkerij")
    transfers = tuple(to(alice, f"E-{n}", remittance(f"<Ustrd>Wages {n}</Ustrd>")) for n in (1, 2))
    executed_bulk(tpp, pain(Bulk((*transfers, to(BELGIAN, "E-3", "")))))
    (sum_of_all,) = newest(tpp, "bakkerij")
    assert (sum_of_all["amount"], sum_of_all["communication"]) == (-30.0, "BULK-A (3)")
    rows = newest(tpp, "alice", 2)
    assert [row["communication"] for row in rows] == ["Wages 2", "Wages 1"]
    assert len({row["transaction_ref"] for row in rows}) == 2
    for row in rows:
        assert (row["amount"], row["counterparty_account"]) == (10.0, bakkerij)
        assert row["counterparty_info"] == names(tpp)["bakkerij"]


def test_an_incoming_salary_is_made_by_hand(tpp: Tpp) -> None:
    employer = {"iban": BELGIAN, "name": "Works NV"}
    made = book(tpp, tpp.iban_of("alice"), "2500.00", counterparty=employer, communication="Salary", date="2027-02-26")
    period = {"date_from": "2027-02-26", "date_to": "2027-02-27"}
    (row,) = newest(tpp, "alice", 1, **period)
    assert row == made
    assert (row["amount"], row["counterparty_account"], row["counterparty_info"]) == (2500.0, BELGIAN, "Works NV")
    assert (row["communication"], row["communication_type"]) == ("Salary", "FREETEXT")
