"""Uses the extension of the example: its rule, its control in the document and over HTTP, and its command."""

import httpx
from click.testing import CliRunner

import sandbox
from sandbox.cli import main
from sandbox.testing import BankFixture

INVOICE = "INV-000123"


def pay(bank: BankFixture, text: str) -> str:
    payment = bank.tpp.pay(
        creditor_iban="BE68539007547034",
        creditor_name="Jan Peeters",
        amount="12.50",
        remittance_information_unstructured=text,
    )
    return payment.payment_id


def probe(bank: BankFixture) -> None:
    named, unnamed = pay(bank, f"{INVOICE} chairs"), pay(bank, "chairs")
    rows = httpx.get(f"{bank.base_url}/_sandbox/company/invoices").json()["invoices"]
    assert rows == [{"invoice": INVOICE, "payment_id": named, "status": "RCVD"}]
    document = httpx.get(f"{bank.base_url}/_sandbox/controls.json").json()
    assert "PaidInvoice" in document["components"]["schemas"]
    (found,) = [row for row in bank.findings if row["rule"] == "company-invoice"]
    assert (found["severity"], found["clause"]) == ("warning", "our handbook 4.2")
    assert found["what"] == "its communication is 'chairs'" and unnamed != named
    assert "company-invoice" in httpx.get(f"{bank.base_url}/_sandbox/docs/referee-rules").text
    settings = {"extensions": ["company_invoices: optional"]}
    reply = httpx.patch(f"{bank.base_url}/_sandbox/settings", json=settings)
    assert reply.json()["settings"]["extensions"] == settings["extensions"]
    pay(bank, "tables")
    assert [row["what"] for row in bank.findings if row["rule"] == "company-invoice"] == [found["what"]]
    for wrong in ("company_invoices: never", "company_invoice: required"):
        reply = httpx.patch(f"{bank.base_url}/_sandbox/settings", json={"extensions": [wrong]})
        assert reply.status_code == 400, reply.text
    outcome = CliRunner().invoke(main, ["invoices", "--url", bank.base_url])
    assert (outcome.exit_code, outcome.output) == (0, f"{INVOICE}  RCVD\n"), outcome.output


if __name__ == "__main__":
    with sandbox.running() as bank:
        probe(bank)
    print("done")  # noqa: T201
