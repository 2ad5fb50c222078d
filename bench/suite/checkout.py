"""The TPP under test: what it does with payments, on the reference client. BENCH_DEFECTS breaks it where named."""

import os
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

from sandbox.bulkfiles.samples import fill_sample
from sandbox.client import Initiation, Tokens
from sandbox.testing import BankFixture

ORDER: dict[str, Any] = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "12.50"}
SIGNED = ("PDNG", "PNDG", "ACSP", "ACSC")
PAID = ("ACSC", "ACSP")
FILE = "three-bulks.pain.001.001.03.xml"
DEFECTS = frozenset(os.environ.get("BENCH_DEFECTS", "").split(","))
FAILS_OF_10 = 4


class Checkout:
    """Takes money and looks at accounts."""

    def __init__(self, bank: BankFixture) -> None:
        self.bank = bank
        self.tpp = bank.tpp

    def is_paid(self, payment: Initiation) -> bool:
        """`one`: ACSP is not taken for the end."""
        status = self.tpp.status(payment).status
        return status == "ACSC" if "one" in DEFECTS else status in PAID

    def amount_of(self, details: Mapping[str, Any]) -> Decimal:
        """`pair`: a number is taken apart at its dot, so that 12.5 is 12 euro and 5 cents."""
        amount = details["instructed_amount"]["amount"]
        if "pair" in DEFECTS and not isinstance(amount, str):
            euro, _, cents = str(amount).partition(".")
            return Decimal(euro) + Decimal(cents or 0) / 100
        return Decimal(str(amount))

    def reconcile(self) -> None:
        """`flaky`: what a race between two threads does, without the threads."""
        turns = Path(os.environ.get("BENCH_TURNS", os.devnull))
        if "flaky" in DEFECTS:
            with turns.open("a") as file:
                file.write("x")
            turn = turns.stat().st_size
            assert turn == 1 or Random(turn).randrange(10) >= FAILS_OF_10, "the other thread was first"

    def sign(self, payment: Initiation, customer: str = "alice") -> Tokens:
        assert payment.sca_address is not None
        return self.tpp.tokens_from(self.bank.psu.approve(payment.sca_address, customer=customer), payment.flow)

    def consent(self, customer: str = "bram") -> Tokens:
        consent = self.tpp.consent_addresses()
        return self.tpp.tokens_from(self.bank.psu.approve(consent.address, customer=customer), consent.flow)

    def file(self) -> Initiation:
        own = f"MARCH-{len(self.bank.bulk_payments)}"
        today = self.bank.clock.get().now.date()
        return self.tpp.send_file(fill_sample(FILE, today, own), reference=own)

    def order(self) -> Initiation:
        start = self.bank.clock.get().now.date() + timedelta(1)
        return self.tpp.pay_regularly(**ORDER, start_date=start, frequency="WEEKLY")
