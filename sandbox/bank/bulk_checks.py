"""Checks of a bulk file that need the bank's data: whether its MsgId is new, whether its debtor accounts can pay, and
who may sign (choice 7). The content of the file has been checked before."""

from collections import defaultdict
from datetime import date
from decimal import Decimal
from typing import cast

from sandbox.bank import accounts, initiations, payee_checks
from sandbox.bank.execution import find_execution_day
from sandbox.bank.records import Batch, BulkFile, Debtor
from sandbox.bank.state import Bank
from sandbox.banking.iban import find_country
from sandbox.banking.money import Money
from sandbox.bulkfiles.report import BatchReport, FileReport, FindingCode, RefusedBatch, ValidationRules
from sandbox.bulkfiles.stages import ReportInput, take_report
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Trigger
from sandbox.contract.reasons import Reason

MESSAGE_ID = "GrpHdr/MsgId"


def validate(bank: Bank, bulk: BulkFile) -> None:
    """Validates a file (choice 7): registers its batches, and accepts or refuses each. A batch is refused if it has
    findings, except findings about transfers that were left out. All batches are refused if the file itself has
    findings, such as a MsgId that the client used before. All are also refused if one is refused and the decision
    `bad_transaction` is `the_file`.

    Refuses the file if no batch is accepted, or if no customer may sign for all debtor accounts. Otherwise checks the
    payees, and lists the file for the customers of the debtor accounts.
    """
    report = take_report(make_report_input(bank, bulk, bank.clock.today))
    drop_content(bank, bulk)
    bulk.message_id, bulk.version = report.message_id, report.version
    bulk.findings = report.findings
    # A client uses a MsgId once; one whose file was refused may come again.
    is_id_used = bulk.message_id is not None and (bulk.origin.client_id, bulk.message_id) in bank.message_ids
    if is_id_used and bank.decisions.duplicate_message_id != "accepted":
        bulk.findings.add(MESSAGE_ID, "DUPLICATE_MSGID", f"{bulk.message_id} was used before")
    batches = [_drop_refused_transfers(bank, batch) for batch in report.batches]
    left_out = [batch.findings.count if isinstance(batch, BatchReport) else 0 for batch in batches]
    _add_by_rule(bank, bulk, report)
    for number, batch in enumerate(batches, 1):
        bulk.parts.append(Batch(f"{bulk.id}/{number}", bulk.id, batch))
        if isinstance(batch, BatchReport):
            _demand_account(bank, batch)
    faulty = [batch.findings.count > count for batch, count in zip(batches, left_out, strict=True)]
    whole = any(faulty) and bank.decisions.bad_transaction == "the_file"
    for part, alone in zip(bulk.parts, faulty, strict=True):
        if whole or bulk.findings or alone:
            bank.move(part, Trigger.INVALID, Reason.FORMAT_INVALID.code)
        else:
            bank.move(part, Trigger.VALIDATED)
    if bulk.payable_parts and not find_signers(bank, bulk):
        bulk.findings.add("/", "SIGNER", "no customer may sign for all debtor accounts of the file")
        for part in bulk.payable_parts:
            bank.move(part, Trigger.REJECTED, Reason.FORMAT_INVALID.code)
    if not bulk.payable_parts:
        bank.move(bulk, Trigger.INVALID, Reason.FORMAT_INVALID.code)
        return
    bank.move(bulk, Trigger.VALIDATED)
    payee_checks.check_file(bank, bulk)
    initiations.list_for_customers(bank, bulk, (part.debtor.iban for part in bulk.payable_parts))
    if bank.decisions.unsigned_file == "60_minutes":
        bank.agenda.add(bank.clock.now + bank.decisions.unsigned_after, bulk.id, Trigger.REFUSED)
    if bulk.message_id is not None:
        bank.message_ids[bulk.origin.client_id, bulk.message_id] = bulk.id


def _drop_refused_transfers(bank: Bank, batch: BatchReport | RefusedBatch) -> BatchReport | RefusedBatch:
    """Returns a refused batch without its faulty transfers if the decision `bad_transaction` is `it_alone`, so that its
    valid transfers are paid (service 2.3). Otherwise returns the batch unchanged."""
    valid_batch = batch.rest if isinstance(batch, RefusedBatch) else None
    return batch if valid_batch is None or bank.decisions.bad_transaction != "it_alone" else valid_batch


def make_report_input(bank: Bank, bulk: BulkFile, today: date) -> ReportInput:
    """Returns the input for validating a file on the day `today`."""
    decisions = bank.decisions
    with_digits = decisions.creditor_reference_in_file == "checked"
    rules = ValidationRules(today, decisions.execution_days_ahead_max, with_digits)
    return ReportInput(bulk.format, bulk.packed, rules)


def drop_content(bank: Bank, bulk: BulkFile) -> None:
    """Removes the stored content of a file. It is needed only for the validation."""
    bulk.packed = b""
    bank.files_waiting.pop(bulk.id, None)


def _add_by_rule(bank: Bank, bulk: BulkFile, report: FileReport) -> None:
    """Adds the findings that a rule of the scenario demands for a file. `bulk` is the number of a batch, counted from
    1, or 0 for the whole file (choice 13). Skips a finding for a batch that the file does not have."""
    rule = None if bulk.rule is None else bank.rulebook.rules[bulk.rule]
    for rule_finding in rule.validation if rule else ():
        if rule_finding.bulk == 0:
            bulk.findings.add("/", cast(FindingCode, rule_finding.code), rule_finding.text)
        elif rule_finding.bulk <= len(report.batches):
            batch = report.batches[rule_finding.bulk - 1]
            batch.findings.add(batch.place, cast(FindingCode, rule_finding.code), rule_finding.text)


def _demand_account(bank: Bank, batch: BatchReport) -> None:
    """Adds findings to a batch if its debtor account cannot pay it. The account must be an open account of this bank
    from which payments may leave. It must belong to a business customer, have the currency of the batch, and have
    online access (service 1)."""
    account, findings = bank.accounts.get(batch.debtor_iban), batch.findings
    if account is None:
        findings.add(batch.place, "ACCOUNT", f"{batch.debtor_iban} is no account of this bank")
        return
    if account.closed:
        findings.add(batch.place, "ACCOUNT", f"{batch.debtor_iban} is closed")
    elif not accounts.may_pay(bank, account):
        findings.add(batch.place, "ACCOUNT", f"{batch.debtor_iban} is a savings account, from which no payment leaves")
    if bank.customers[account.owners[0]].kind != "business":
        findings.add(batch.place, "PROFILE", "bulk files are for business customers")
    if batch.debtor_currency not in account.currencies:
        findings.add(batch.place, "CURRENCY", f"{batch.debtor_iban} has no compartment in {batch.debtor_currency}")
    try:
        accounts.demand_channel(bank, account)
    except Refusal as refusal:
        findings.add(batch.place, "CHANNEL", refusal.text)


def find_signers(bank: Bank, bulk: BulkFile) -> tuple[str, ...]:
    """Returns the customers who may sign for every account that pays a payable batch of the file, in the order in which
    the first account lists them. Returns an empty tuple if no batch is payable."""
    allowed = [bank.accounts[part.paying.debtor_iban].may_sign for part in bulk.payable_parts]
    return tuple(name for name in allowed[0] if all(name in names for names in allowed)) if allowed else ()


def count_required_signatures(bank: Bank, bulk: BulkFile) -> int:
    return max(bank.accounts[part.paying.debtor_iban].signatures_required for part in bulk.payable_parts)


def find_day_of_batch(bank: Bank, part: Batch) -> date | None:
    """Returns the day on which a batch is executed if it is signed now. Returns None if it is executed at once. An
    instant batch is always executed at once."""
    return None if part.paying.is_instant else find_execution_day(bank, part.paying.execution_date)


def demand_funds(bank: Bank, bulk: BulkFile) -> None:
    """Refuses a file if funds are missing for its batches that are executed at once. Batches of a later day are not
    checked (choice 7). Refuses nothing unless the decision `funds_of_today` is `page`."""
    due: dict[Debtor, Decimal] = defaultdict(Decimal)
    for part in bulk.payable_parts:
        if find_day_of_batch(bank, part) is None:
            due[part.debtor] += part.paying.control_sum
    for debtor, amount in due.items():
        missing = accounts.compute_available_funds(bank, debtor) < Money(amount, debtor.currency)
        if missing and bank.decisions.funds_of_today == "page":
            decided_by = accounts.describe_funds(bank, debtor, Money(amount, debtor.currency))
            raise Refusal(Error.FUNDS_MISSING, input=debtor.iban, which="file", decided_by=decided_by)


def demand_fit(bank: Bank, bulk: BulkFile, customer: str) -> None:
    """Refuses a customer who may not sign for the file. Also refuses the file if a debtor account is closed, has no
    online access, would exceed a limit, or does not accept a country (service 1)."""
    if customer not in find_signers(bank, bulk):
        reason = "the customer may not sign for this file"
        raise Refusal(Error.ACCESS_DENIED, input="customer", why=reason, which="file")
    leaving: dict[str, Decimal] = defaultdict(Decimal)
    reached: dict[str, set[str]] = defaultdict(set)
    for part in bulk.payable_parts:
        leaving[part.debtor.iban] += part.paying.control_sum
        reached[part.debtor.iban] |= {find_country(transfer.creditor_iban) for transfer in part.paying.transfers}
    for iban, amount in leaving.items():
        account = bank.accounts[iban]
        accounts.demand_open(account)
        accounts.demand_channel(bank, account)
        for country in sorted(reached[iban]):
            accounts.demand_profile(bank, account, country, amount)
