"""What the reference client does where a bank wants proofs of it: signatures, and a clock that is right."""

from datetime import datetime, timedelta
from functools import partial

from sandbox.client import Client, Manual, Refused, Signer
from sandbox.testing import BankFixture
from tests.vary.steps import ORDER, SIGNED, attempt, now, sign, status

SLOW = timedelta(seconds=60)  # the client's clock, before it is set


def proves(bank: BankFixture) -> None:
    """Signs where that is wanted, as the manual says, and sets its clock where the bank does not take its time."""
    late = [SLOW]

    def time() -> datetime:
        return now(bank) - late[0]

    signer = Signer(time)
    bank.controls.call("PUT", "/clients/demo-tpp", {"keys": [signer.public]})
    manual, http = Manual.of(bank.settings()), bank.controls.http
    without, proven = (Client(bank.base_url, http=http, manual=manual, signer=one) for one in (None, signer))
    attempt(partial(without.pay, **ORDER))
    payment = attempt(partial(proven.pay, **ORDER))
    if isinstance(payment, Refused):
        assert payment.status == 401
        late[0] = timedelta()
        payment = proven.pay(**ORDER)
    sign(bank, payment)
    assert status(bank, payment) in SIGNED
