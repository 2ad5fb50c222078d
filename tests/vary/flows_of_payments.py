"""What the reference client does with payments at a bank that may differ."""

from decimal import Decimal
from functools import partial

import httpx

from sandbox.client import Reference, Refused, returned
from sandbox.testing import BankFixture
from tests.vary.steps import (
    ISCT,
    MONDAY,
    ORDER,
    PAID,
    SCT,
    SIGNED,
    SUNDAY,
    UNSIGNED,
    XB,
    approve,
    assert_details,
    attempt,
    cancel,
    client_on,
    day,
    go_to,
    iban_of,
    is_approved,
    next_weekday,
    own_reference,
    paid,
    pay,
    refuse,
    sign,
    status,
)


def pays(bank: BankFixture) -> None:
    today, text = day(bank), "Invoice 7"
    payment = pay(bank, amount="12.5", requested_execution_date=today, remittance_information_unstructured=text)
    assert payment.status in (None, *UNSIGNED)
    bank.clock.advance("5s")
    assert status(bank, payment) in UNSIGNED
    tokens = sign(bank, payment)
    assert status(bank, payment) in SIGNED
    bank.clock.advance("5m")
    assert status(bank, payment) in (*SIGNED, *PAID)
    bank.clock.advance("5d")
    assert status(bank, payment) in PAID
    terms = {"requested_execution_date": today.isoformat(), "remittance_information_unstructured": text}
    assert_details(bank, payment, bank.tpp.refresh(tokens), PAID, **terms)


def pays_abroad(bank: BankFixture) -> None:
    """In dollars, from a euro account: the details are those of the order, whatever else the bank puts beside."""
    payment = pay(bank, XB, currency="USD", debtor_iban=iban_of(bank, "alice"))
    details = bank.tpp.details(payment, sign(bank, payment))
    amount = details["instructed_amount"]
    assert (Decimal(str(amount["amount"])), amount["currency"]) == (Decimal("12.50"), "USD")


def comes_late(bank: BankFixture) -> None:
    """The customer takes minutes and the client a minute: what is over is begun again, and nothing is paid twice."""
    first, second = (own_reference(bank, word) for word in ("LATE", "LATER"))
    payment = pay(bank, endtoend_identification=first)
    bank.clock.advance("3m")
    if not is_approved(bank, payment, "alice"):
        payment = pay(bank, endtoend_identification=second)
        assert is_approved(bank, payment, "alice")
    bank.clock.advance("1h")
    assert status(bank, payment) in (*SIGNED, *PAID)
    bank.clock.advance("5d")
    assert paid(bank, first, second) == 1


def exchanges_late(bank: BankFixture) -> None:
    """A code that is over is no end of the payment: its status needs no token."""
    payment = pay(bank)
    callback = approve(bank, payment)
    bank.clock.advance("1m")
    tokens = attempt(lambda: bank.tpp.tokens_from(callback, payment.flow))
    if not isinstance(tokens, Refused):
        bank.tpp.details(payment, tokens)
    assert status(bank, payment) in (*SIGNED, *PAID)


class Losing(httpx.BaseTransport):
    """A line on which the reply to the first POST is lost."""

    def __init__(self, line: httpx.Client) -> None:
        self.line, self.lost = line, False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        reply = self.line.send(request)
        if request.method == "POST" and not self.lost:
            self.lost = True
            raise httpx.ReadError("the reply is lost")
        return httpx.Response(reply.status_code, headers=reply.headers, content=reply.content)


def loses_a_reply(bank: BankFixture) -> None:
    """The client asks for the reply again. Where the bank has none for it, the first payment cannot be signed."""
    first, second = (own_reference(bank, word) for word in ("LOST", "AGAIN"))
    with httpx.Client(transport=Losing(bank.controls.http)) as line:
        tpp = client_on(bank, line)
        payment = attempt(lambda: tpp.pay(**ORDER, endtoend_identification=first))
        if isinstance(payment, Refused):
            assert status(bank, Reference(SCT, first, external=True)) in UNSIGNED
            payment = tpp.pay(**ORDER, endtoend_identification=second)
    sign(bank, payment)
    bank.clock.advance("5d")
    assert paid(bank, first, second) == 1


def begins_again(bank: BankFixture) -> None:
    """The customer presses the button twice, and one order is paid once."""
    tokens, own = sign(bank, pay(bank)), own_reference(bank, "TWICE")
    payment = pay(bank, token=tokens, endtoend_identification=own)
    again = attempt(lambda: pay(bank, token=tokens, endtoend_identification=own))
    payment = payment if isinstance(again, Refused) else again
    approve(bank, payment)
    bank.clock.advance("5d")
    assert paid(bank, own) == 1 and status(bank, payment) in PAID


def finds_its_own(bank: BankFixture) -> None:
    """A reference that fits two payments names neither; the bank's own id does."""
    own = own_reference(bank, "SAME")
    tokens = sign(bank, pay(bank))
    first = pay(bank, endtoend_identification=own)
    attempt(lambda: pay(bank, endtoend_identification=own, amount="20.00"))
    attempt(lambda: bank.tpp.status(first.external))
    attempt(lambda: bank.tpp.cancel(first.external, tokens))
    assert cancel(bank, first, tokens)


def is_refused(bank: BankFixture) -> None:
    """The customer says no, or never comes: the status says so, whatever the callback was."""
    declined = pay(bank)
    refuse(bank, declined)
    forgotten = pay(bank)
    assert bank.tpp.status(forgotten).reason is None
    bank.clock.advance("61m")
    for one, reasons in ((declined, ("PSU_REFUSED", "DS02")), (forgotten, ("TIME_OUT", "TM01"))):
        found = bank.tpp.status(one)
        assert found.status == "CANC" and found.reason in (None, *reasons)


def cancels(bank: BankFixture) -> None:
    """What is cancelled stays so however often it is asked for; what is too late is paid."""
    soon, later = (pay(bank, requested_execution_date=day(bank, ahead)) for ahead in (1, 2))
    sign(bank, soon)
    tokens = sign(bank, later)
    go_to(bank, day(bank, 1), 0, 30)
    tokens = bank.tpp.refresh(tokens)
    stopped = cancel(bank, soon, tokens)
    for _ in range(2):
        assert cancel(bank, later, tokens)
    abroad = pay(bank, XB, currency="USD")
    assert not cancel(bank, abroad, tokens)
    bank.clock.advance("7d")
    assert (status(bank, soon) in PAID) != stopped


def pays_on_a_sunday(bank: BankFixture) -> None:
    go_to(bank, next_weekday(SUNDAY, day(bank, 1)), 12)
    payment = pay(bank)
    sign(bank, payment)
    bank.clock.advance("3h")
    assert status(bank, payment) in (*SIGNED, *PAID)
    bank.clock.advance("2d")
    assert status(bank, payment) in PAID


def pays_in_the_evening(bank: BankFixture) -> None:
    go_to(bank, next_weekday(MONDAY, day(bank, 1)), 18)
    payment = pay(bank)
    sign(bank, payment)
    bank.clock.advance("3h")
    assert status(bank, payment) in (*SIGNED, *PAID)
    bank.clock.advance("2d")
    assert status(bank, payment) in PAID


def pays_at_once(bank: BankFixture) -> None:
    payment = pay(bank, ISCT)
    sign(bank, payment)
    bank.clock.advance("5s")
    assert status(bank, payment) in (*PAID, "RJCT")  # never PDNG
    bank.clock.advance("10s")
    assert status(bank, payment) in (*PAID, "RJCT")


def cosigns(bank: BankFixture) -> None:
    """One of two signatures is missing after an hour: the status says whether to wait or to begin again."""
    first, second = (own_reference(bank, word) for word in ("HALF", "WHOLE"))
    terms = {"debtor_iban": iban_of(bank, "notaris"), "amount": "80.00"}
    payment = pay(bank, **terms, endtoend_identification=first)
    approve(bank, payment, "notaris")
    assert status(bank, payment) == "PATC"
    bank.clock.advance("61m")
    if status(bank, payment) == "CANC":
        payment = pay(bank, **terms, endtoend_identification=second)
        approve(bank, payment, "notaris")
    bank.psu.sign(payment.payment_id, "griet")
    bank.clock.advance("5d")
    assert status(bank, payment) in PAID and paid(bank, first, second) == 1


def writes_names(bank: BankFixture) -> None:
    """A name with an accent is written without, where the bank takes no other, at once or at the settlement."""
    references: list[str] = []
    for name in ("Hélène Dupré", "Helene Dupre"):
        references.append(own_reference(bank, f"NAME-{len(references)}"))
        payment = attempt(partial(pay, bank, creditor_name=name, endtoend_identification=references[-1]))
        if isinstance(payment, Refused):
            continue
        sign(bank, payment)
        bank.clock.advance("5d")
        if status(bank, payment) in PAID:
            break
        assert status(bank, payment) == "RJCT"
    assert paid(bank, *references) == 1


def pays_with_a_token(bank: BankFixture) -> None:
    """No code is needed where a token was used: whatever comes beside is left alone."""
    tokens = sign(bank, pay(bank))
    assert bank.tpp.details(pay(bank), tokens).get("psu_name") is None  # nobody was there yet
    payment = pay(bank, token=tokens)
    returned(approve(bank, payment), payment.flow)
    assert bank.tpp.details(payment, tokens)["psu_name"]
    assert status(bank, payment) in (*SIGNED, *PAID)


def is_called_back_twice(bank: BankFixture) -> None:
    """The browser comes back as often as it likes: the code is exchanged once."""
    payment, flows = pay(bank), {}
    flows[payment.flow.state] = payment.flow
    callback = approve(bank, payment)
    found = []
    for _ in range(2):
        flow = flows.pop(payment.flow.state, None)
        if flow is not None:
            found.append(bank.tpp.tokens_from(callback, flow))
    (tokens,) = found
    bank.tpp.details(payment, tokens)


def signs_by_another_method(bank: BankFixture) -> None:
    """The customer signs by the method that the bank has, and the client waits."""
    for methods in (("app", "card_reader"), ("card_reader", "app")):
        payment = pay(bank)
        assert payment.sca_address is not None
        for method in methods:
            callback = attempt(partial(bank.psu.approve, payment.sca_address, customer="alice", method=method))
            if not isinstance(callback, Refused):
                break
            assert status(bank, payment) in UNSIGNED
        bank.tpp.tokens_from(callback, payment.flow)
        assert status(bank, payment) in (*SIGNED, *PAID)
