"""Verification of payee before a signature: compares the payee's name with the holder of the account (choice 14).

If a rule of the scenario sets the outcome, that outcome counts. Otherwise the names of the account's holders are
compared. For accounts of other banks these names come from a table. For a closed account, and for an account that the
table does not have, the check is not possible.
"""

from collections import Counter

from sandbox.bank.records import BulkFile, DifferingPayee, FilePayees, Initiation, Payment, StandingOrder
from sandbox.bank.state import Bank
from sandbox.banking.payees import (
    CLOSE_MATCH,
    MATCH,
    NOT_POSSIBLE,
    OUTCOMES,
    PayeeCheck,
    check_foreign,
    check_holders,
    is_reachable,
)
from sandbox.contract import kinds
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Trigger
from sandbox.contract.products import PRODUCTS

DIFFERING_MAX = 50  # transactions of a file whose differing outcome is stored and shown


def check(bank: Bank, iban: str, name: str, kind: str = kinds.PAYMENT.name) -> PayeeCheck:
    """Returns the outcome of the verification of payee for a name and an IBAN. A rule of the scenario can set the
    outcome. Otherwise the name is compared with the holders of the account. For a closed account the check is not
    possible. Stores nothing."""
    by_rule = bank.rulebook.find_payee_check(kind, iban, name, bank.clock.now)
    if by_rule is not None:
        return by_rule
    account = bank.accounts.get(iban)
    if account is None:
        return check_foreign(iban, name)
    if account.closed:
        return PayeeCheck(NOT_POSSIBLE)
    return check_holders(name, (bank.customers[owner].name for owner in account.owners))


def find_check(bank: Bank, initiation: Initiation) -> PayeeCheck | None:
    """Returns the outcome of the verification of payee for a payment or a standing order: the stored outcome, or that
    of a new check if none is stored. Returns None for a bulk file. Also returns None if no outcome is stored and the
    bank makes no check, because the payment is not SEPA or the decision `payee_check` is `off`."""
    if isinstance(initiation, BulkFile):
        return None
    if initiation.payee is not None or not initiation.sepa or bank.decisions.payee_check == "off":
        return initiation.payee
    by_rule = None if initiation.rule is None else bank.rulebook.rules[initiation.rule].payee
    iban = initiation.order.creditor.iban if isinstance(initiation, Payment) else initiation.order.creditor_iban
    assert iban is not None, "SEPA payments have an IBAN"
    return by_rule or check(bank, iban, initiation.order.creditor_name, initiation.kind.name)


def note_check(bank: Bank, initiation: Initiation) -> None:
    """Stores the outcome of the verification of payee in the initiation and in the journal. Does nothing if an outcome
    is stored already, or if `find_check` returns None."""
    outcome = find_check(bank, initiation)
    if isinstance(initiation, Payment | StandingOrder) and initiation.payee is None and outcome is not None:
        initiation.payee = outcome
        bank.note(initiation, Trigger.PAYEE_CHECKED, outcome.outcome)


def is_stopped(bank: Bank, outcome: PayeeCheck | None) -> bool:
    """Whether the bank refuses a signature after this outcome of the verification of payee. It refuses after a close
    match if the decision `payee_close` is `stops`."""
    return outcome is not None and outcome.outcome == CLOSE_MATCH and bank.decisions.payee_close == "stops"


def refuse_close_match(bank: Bank, initiation: Initiation) -> None:
    """Refuses the signature if the payee's name is only a close match and the decision `payee_close` is `stops`."""
    outcome = find_check(bank, initiation)
    if outcome is not None and is_stopped(bank, outcome):
        raise Refusal(Error.PAYEE_DIFFERS, name=outcome.name)


def demand_reachable(bank: Bank, initiation: Initiation) -> None:
    """Refuses an instant payment if the beneficiary's bank cannot receive it now."""
    if not isinstance(initiation, Payment) or not PRODUCTS[initiation.order.product].instant:
        return
    by_rule = initiation.rule is not None and bank.rulebook.rules[initiation.rule].unreachable
    if by_rule or not is_reachable(initiation.order.creditor.iban or ""):
        raise Refusal(Error.PAYEE_BANK_UNREACHABLE, input="creditor_account.iban")


def check_file(bank: Bank, file: BulkFile) -> None:
    """Checks the payee of each transaction that may be paid, and stores the outcomes in the file and in the journal.
    Skips the batches of customers who opted out. Does nothing if the decision `payee_check` is `off`."""
    if bank.decisions.payee_check == "off":
        return
    counts: Counter[str] = Counter()
    differing: list[DifferingPayee] = []
    for part in file.payable_parts:
        owner = bank.accounts[part.debtor.iban].owners[0]
        if not bank.customers[owner].payee_check_of_files:
            continue
        for transfer in part.paying.transfers:
            outcome = check(bank, transfer.creditor_iban, transfer.creditor_name)
            counts[outcome.outcome] += 1
            if outcome.outcome != MATCH and len(differing) < DIFFERING_MAX:
                differing.append(DifferingPayee(transfer.creditor_name, transfer.creditor_iban, outcome))
    if not counts:
        return
    file.payees = FilePayees(tuple((name, counts[name]) for name in OUTCOMES if counts[name]), tuple(differing))
    bank.note(file, Trigger.PAYEE_CHECKED, ", ".join(f"{name} {count}" for name, count in file.payees.counts))


def must_be_shown(bank: Bank, initiation: Initiation) -> bool:
    """Whether the initiation has an outcome of the verification of payee. If so, the customer has to see it before
    signing."""
    return (
        initiation.payees is not None if isinstance(initiation, BulkFile) else find_check(bank, initiation) is not None
    )
