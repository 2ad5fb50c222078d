"""Bulk files: taken in, validated later, signed, executed bulk by bulk (service 2.3, 4.6; choice 7)."""

from decimal import Decimal

from sandbox.bank import accounts, bulk_books, initiations, replays, ruling, sca
from sandbox.bank.bulk_records import Bulk, Part
from sandbox.bank.records import Origin
from sandbox.bank.replays import Ask
from sandbox.bank.rules import Looks
from sandbox.bank.state import Bank, verb
from sandbox.errors import Error, Refusal
from sandbox.files.reader import Kind, read_file
from sandbox.files.report import Batch, Finding, Report
from sandbox.rules.calendar import at_brussels, following_banking_day, next_banking_day
from sandbox.rules.iban import country_of
from sandbox.rules.lifecycle import Status, Trigger
from sandbox.rules.money import Money

NO_FUNDS = "AM04"
BAD_FORMAT = "FF01"
AT_SIX = 6
LIVING = (Status.PATC, Status.PDNG)


@verb
def initiate(
    bank: Bank, kind: Kind, content: bytes, reference: str | None, origin: Origin, ask: Ask
) -> tuple[str, Status]:
    """What could be refused at once was; the rest takes its time."""
    earlier = replays.first_answer(bank, ask)
    if earlier is not None:
        return earlier.subject_id, Status.RCVD
    match = ruling.meet(bank, Looks("bulk", origin.client_id, kind, endtoend_identification=reference))
    bulk = Bulk(bank.mint.id(), kind, origin, content)
    bulk.rule = ruling.take(bank, match)
    bank.bulks[bulk.id] = bulk
    initiations.register(bank, bulk, reference or bulk.id)
    bank.agenda.add(bank.clock.now + bank.settings_of(bulk).bulk_validation, bulk.id, Trigger.VALIDATED)
    replays.remember(bank, ask, bulk.id, "")
    return bulk.id, bulk.status


def validate(bank: Bank, bulk: Bulk) -> None:
    """All faults of the file at once; a bulk that fails is refused alone (choice 7)."""
    report = read_file(
        bulk.format, bulk.content, bank.clock.today, days_ahead_max=bank.settings.execution_days_ahead_max
    )
    bulk.content = b""
    bulk.message_id = report.message_id
    bulk.findings = report.findings
    _demand_new(bank, bulk, report)
    _add_by_rule(bank, bulk, report)
    for number, batch in enumerate(report.batches, 1):
        part = Part(f"{bulk.id}/{number}", bulk.id, batch)
        bulk.parts.append(part)
        if isinstance(batch, Batch):
            _demand_account(bank, part, batch)
        refused = bool(bulk.findings or batch.findings)
        bank.move(part, Trigger.INVALID if refused else Trigger.VALIDATED, BAD_FORMAT if refused else None)
    if bulk.living and not signers(bank, bulk):
        bulk.findings.add("/", "SIGNER", "no customer may sign for all debtor accounts of the file")
        for part in bulk.living:
            bank.move(part, Trigger.REJECTED, BAD_FORMAT)
    if not bulk.living:
        bank.move(bulk, Trigger.INVALID, BAD_FORMAT)
        return
    bank.move(bulk, Trigger.VALIDATED)
    if bulk.message_id is not None:
        bank.message_ids.setdefault((bulk.origin.client_id, bulk.message_id), bulk.id)


def _add_by_rule(bank: Bank, bulk: Bulk, report: Report) -> None:
    """Findings that a scenario puts there; bulks count from 1, 0 is the whole file."""
    rule = None if bulk.rule is None else bank.rulebook.rules[bulk.rule]
    for added in rule.validation if rule else ():
        if added.bulk == 0:
            bulk.findings.add("/", added.code, added.text)
        elif added.bulk <= len(report.batches):
            batch = report.batches[added.bulk - 1]
            batch.findings.add(batch.place, added.code, added.text)


def _demand_new(bank: Bank, bulk: Bulk, report: Report) -> None:
    """A MsgId is used once by a client."""
    if report.message_id is not None and (bulk.origin.client_id, report.message_id) in bank.message_ids:
        report.findings.add("/Document/CstmrCdtTrfInitn/GrpHdr/MsgId", "DUPLICATE_MSGID", "the MsgId was used before")


def _demand_account(bank: Bank, part: Part, batch: Batch) -> None:
    """A business customer's account of this bank, in an electronic channel."""
    account = bank.accounts.get(batch.debtor_iban)
    if account is None:
        part.findings.add(batch.place, "ACCOUNT", f"{batch.debtor_iban} is no account of this bank")
    elif bank.customers[account.owners[0]].kind != "business":
        part.findings.add(batch.place, "PROFILE", "bulk files are for business customers")
    else:
        try:
            accounts.demand_channel(bank, account)
        except Refusal as refusal:
            part.findings.add(batch.place, "CHANNEL", refusal.text)


def signers(bank: Bank, bulk: Bulk) -> tuple[str, ...]:
    """Those who may sign for every account of the file, in the order of the first."""
    allowed = [bank.accounts[part.paying.debtor_iban].may_sign for part in bulk.living]
    return tuple(name for name in allowed[0] if all(name in names for names in allowed))


def signatures_required(bank: Bank, bulk: Bulk) -> int:
    return max(bank.accounts[part.paying.debtor_iban].signatures_required for part in bulk.living)


def demand_fit(bank: Bank, bulk: Bulk, customer: str) -> None:
    """Who signs, and whether the customers' own settings let it pass (service 1)."""
    if customer not in signers(bank, bulk):
        raise Refusal(Error.ACCESS_DENIED, input="customer", why="the customer may not sign for this file")
    for part in bulk.living:
        account = bank.accounts[part.paying.debtor_iban]
        accounts.demand_channel(bank, account)
        for country in sorted({country_of(transfer.creditor_iban) for transfer in part.paying.transfers}):
            accounts.demand_profile(bank, account, country, part.paying.control_sum)


def complete(bank: Bank, bulk: Bulk) -> None:
    """The last signature: each bulk waits for its own day (choice 7)."""
    bank.move(bulk, Trigger.SIGNED)
    today = bank.clock.today
    for part in bulk.living:
        bank.move(part, Trigger.SIGNED)
        wanted = part.paying.execution_date
        part.executes_on = next_banking_day(wanted) if wanted > today else None
        due = bank.clock.now + bank.settings_of(bulk).bulk_execution
        bank.agenda.add(at_brussels(part.executes_on, AT_SIX) if part.executes_on else due, part.id, Trigger.EXECUTED)


def execute(bank: Bank, part: Part) -> None:
    """The balance decides, as for single payments; then the file looks at its bulks."""
    batch = part.paying
    if accounts.available(bank, part.debtor) >= Money(batch.control_sum, batch.debtor_currency):
        bank.move(part, Trigger.EXECUTED)
        bulk_books.book(bank, part)
    elif part.tries >= bank.settings.recycling_tries:
        bank.move(part, Trigger.GIVEN_UP, NO_FUNDS)
    else:
        bank.move(part, Trigger.FUNDS_MISSING)
        part.tries += 1
        part.executes_on = following_banking_day(bank.clock.today)
        bank.agenda.add(at_brussels(part.executes_on, AT_SIX), part.id, Trigger.EXECUTED)
    look_at_parts(bank, bank.bulks[part.bulk_id])


def look_at_parts(bank: Bank, bulk: Bulk) -> None:
    """ACSC when all living bulks are; RJCT when none was paid."""
    if bulk.living or bulk.status is not Status.PDNG:
        return
    if any(part.status is Status.ACSC for part in bulk.parts):
        bank.move(bulk, Trigger.SETTLED)
    else:
        reasons = [part.reason for part in bulk.parts if part.reason]
        bank.move(bulk, Trigger.REJECTED, reasons[-1] if reasons else None)


def refuse(bank: Bank, bulk: Bulk, reason: str) -> None:
    """The PSU refuses: the file and its bulks are cancelled."""
    bank.move(bulk, Trigger.REFUSED, reason)
    for part in bulk.living:
        bank.move(part, Trigger.REFUSED, reason)


def cancel(bank: Bank, bulk: Bulk, reason: str | None = None) -> None:
    """DELETE (service 3.4); bulks that were executed stay so."""
    if not bank.can(bulk, Trigger.CANCELLED):
        raise Refusal(Error.NOT_CANCELLABLE, status=bulk.status.value)
    bank.move(bulk, Trigger.CANCELLED, reason)
    for part in bulk.living:
        bank.move(part, Trigger.CANCELLED, reason)


@verb
def delete(bank: Bank, client_id: str, kind: str, reference: str, external: bool) -> None:
    cancel(bank, find(bank, client_id, kind, reference, external=external))


def find(bank: Bank, client_id: str, kind: str, reference: str, *, external: bool) -> Bulk:
    bulk = initiations.find(bank, client_id, f"bulk {kind}", reference, external=external, field="payment-file-id")
    assert isinstance(bulk, Bulk)
    return bulk


def waits_for_signature(bulk: Bulk) -> bool:
    return bulk.status is Status.PATC and not bulk.signatures


def living_address(bank: Bank, bulk: Bulk) -> str | None:
    """The address to sign at, while it lives."""
    address = bank.sca_addresses.get(bulk.sca_token or "")
    return address.token if address is not None and bank.clock.now < address.until else None


@verb
def renew_address(bank: Bank, client_id: str, kind: str, reference: str, external: bool) -> None:
    """The status call gives a fresh address when there is none that lives (service 4.6 rule 3)."""
    bulk = find(bank, client_id, kind, reference, external=external)
    if waits_for_signature(bulk) and living_address(bank, bulk) is None:
        give_address(bank, bulk)


def give_address(bank: Bank, bulk: Bulk) -> None:
    bulk.sca_token = sca.new_address(bank, bulk.id, bank.settings_of(bulk).sca_address_life)


def total(bulk: Bulk) -> Decimal:
    """What a signature would pay."""
    return sum((part.paying.control_sum for part in bulk.living), Decimal())


def found_in(part: Part) -> tuple[Finding, ...]:
    return tuple(part.findings.first)
