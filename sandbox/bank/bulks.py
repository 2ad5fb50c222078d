"""Bulk files. A file is received, later validated, then signed, and executed batch by batch (service 2.3, 4.6; choice
7)."""

import math
from functools import partial

from sandbox.bank import accounts, bulk_checks, entries, initiations, returns
from sandbox.bank.bounded_registers import drop_invalid
from sandbox.bank.execution import compute_due_time, compute_execution_time
from sandbox.bank.initiations import RequestKey
from sandbox.bank.records import Batch, BulkFile, Origin, ScaAddress, list_cancellation_facts
from sandbox.bank.rules import RuleFacts
from sandbox.bank.state import Bank
from sandbox.banking.calendar import find_following_banking_day
from sandbox.banking.money import Money
from sandbox.bulkfiles.report import BatchStatus, FileStatus
from sandbox.bulkfiles.stages import Kind
from sandbox.contract import kinds
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status, Trigger
from sandbox.contract.reasons import Reason


def initiate(
    bank: Bank, kind: Kind, packed: bytes, reference: str | None, origin: Origin, request_key: RequestKey
) -> tuple[str, Status]:
    """Registers a file that passed the checks of the POST, and schedules its validation. Returns the file's id and
    status. `packed` is the compressed content of the file. If an identical call came before, returns the id of the
    earlier file and registers nothing. Raises a Refusal if `find_identical_call` refuses the Request-ID, or if a rule
    of the scenario refuses the file."""
    earlier = initiations.find_identical_call(bank, request_key)
    if earlier is not None:
        return earlier.subject_id, Status.RCVD
    rule = bank.rulebook.match_or_refuse(make_rule_facts(kind, origin, reference), bank.clock.now)
    bulk = BulkFile(bank.mint.draw_id(), kind, origin, packed, reference=reference)
    bank.files_waiting[bulk.id] = len(packed)
    initiations.register(bank, bulk, rule, bulk.reference_group, reference)
    bank.agenda.add(bank.clock.now + bank.find_decisions(bulk).bulk_validation, bulk.id, Trigger.VALIDATED)
    initiations.remember(bank, request_key, bulk.id, "")
    return bulk.id, bulk.status


def demand_room(bank: Bank, size: int) -> None:
    """Refuses a file of `size` bytes if this file and the files that wait for their validation would together exceed
    the setting `files_waiting_max`. Accepts any size if no file waits."""
    waiting, most = bank.files_waiting, bank.decisions.files_waiting_max
    if waiting and sum(waiting.values()) + size > most:
        seconds = min(map(partial(count_seconds_left, bank), waiting))
        decided_by = {"files_waiting": len(waiting), "bytes_waiting": sum(waiting.values()), "bytes_of_this": size}
        decided_by |= {"bytes_allowed": most, "retry_after_seconds": seconds}
        raise Refusal(Error.FILES_WAITING, count=len(waiting), most=most, seconds=seconds, decided_by=decided_by)


def count_seconds_left(bank: Bank, bulk_id: str) -> int:
    """Returns the seconds of bank time until a file is validated, at least 1."""
    bulk = bank.bulks[bulk_id]
    due = bulk.history[0].at + bank.find_decisions(bulk).bulk_validation
    return max(1, math.ceil((due - bank.clock.now).total_seconds()))


def make_rule_facts(kind: Kind, origin: Origin, reference: str | None) -> RuleFacts:
    return RuleFacts("bulk", origin.client_id, kind, endtoend_identification=reference)


def complete(bank: Bank, bulk: BulkFile) -> None:
    """Schedules the execution of each batch, after the last signature of the file. Each batch has a day of its own
    (choice 7)."""
    bank.move(bulk, Trigger.SIGNED)
    bulk.signed_on = bank.clock.today
    decisions = bank.find_decisions(bulk)
    for part in bulk.payable_parts:
        bank.move(part, Trigger.SIGNED)
        bulk.unpaid += 1
        _count(bank, bulk, part, +1)
        part.executes_on = bulk_checks.find_day_of_batch(bank, part)
        delay = decisions.instant_settlement if part.paying.is_instant else decisions.bulk_execution
        bank.agenda.add(compute_due_time(part, bank.clock.now + delay), part.id, Trigger.EXECUTED)


def execute(bank: Bank, part: Batch) -> None:
    """Executes a batch if the funds suffice, and arranges the return of transfers to closed accounts. If funds are
    missing, schedules another try. After the last try, or if `_is_given_up` says so, gives the batch up instead. Also
    gives it up if the debtor's account is closed. In each case updates the status of the file."""
    batch, bulk = part.paying, bank.bulks[part.bulk_id]
    closed, needs = accounts.is_closed(bank, part.debtor.iban), Money(batch.control_sum, batch.debtor_currency)
    if not closed and accounts.compute_execution_funds(bank, part.debtor) >= needs:
        bank.move(part, Trigger.EXECUTED)
        for name, refund in entries.book(bank, part).items():
            returns.promise(bank, name, refund)
        bulk.unpaid -= 1
    elif closed or part.tries >= bank.decisions.recycling_tries or _is_given_up(bank, part):
        reason = Reason.ACCOUNT_CLOSED if closed else Reason.FUNDS_MISSING
        bank.move(part, Trigger.GIVEN_UP, reason.code)
        _count(bank, bulk, part, -1)
        bulk.unpaid -= 1
    else:
        bank.move(part, Trigger.FUNDS_MISSING)
        part.tries += 1
        part.executes_on = find_following_banking_day(bank.clock.today)
        bank.agenda.add(compute_execution_time(part.executes_on), part.id, Trigger.EXECUTED)
    update_file_status(bank, bulk)


def _is_given_up(bank: Bank, part: Batch) -> bool:
    """Whether a batch without funds is given up at once, without further tries. This is so for an instant batch. It is
    also so for a batch that is due at the signature if the decision `funds_of_today` is `RJCT`."""
    return part.paying.is_instant or (part.executes_on is None and bank.decisions.funds_of_today == "RJCT")


def update_file_status(bank: Bank, bulk: BulkFile) -> None:
    """Sets the final status of a signed file when no batch waits for its execution: ACSC if a batch was paid, else
    RJCT."""
    if bulk.unpaid or bulk.status is not Status.PDNG:
        return
    if any(part.status is Status.ACSC for part in bulk.parts):
        bank.move(bulk, Trigger.SETTLED)
    else:
        reasons = [part.reason for part in bulk.parts if part.reason]
        bank.move(bulk, Trigger.REJECTED, reasons[-1] if reasons else None)


def end(trigger: Trigger, bank: Bank, bulk: BulkFile, reason: str | None) -> None:
    """Ends a file and its unpaid batches. `trigger` is REFUSED or REJECTED."""
    bank.move(bulk, trigger, reason)
    _end_parts(bank, bulk, trigger, reason)


def cancel(bank: Bank, bulk: BulkFile, reason: str | None = None) -> None:
    """Cancels a file and its unpaid batches (service 3.4). Batches that were executed stay executed. If there are such
    batches and the decision `mixed_file_after_cancel` is `ACSC`, the file gets the status ACSC instead of CANC.

    Refuses if the table of moves does not permit a cancellation now. Does nothing if the file is cancelled already and
    `is_cancelled_again` accepts that.
    """
    if initiations.is_cancelled_again(bank, bulk):
        return
    if not bank.can(bulk, Trigger.CANCELLED):
        raise Refusal(Error.NOT_CANCELLABLE, status=bulk.status.value, decided_by=list_cancellation_facts(bulk))
    paid = any(part.status is Status.ACSC for part in bulk.parts)
    if paid and bank.decisions.mixed_file_after_cancel == "ACSC":
        bank.move(bulk, Trigger.SETTLED)
    else:
        bank.move(bulk, Trigger.CANCELLED, reason)
    _end_parts(bank, bulk, Trigger.CANCELLED, reason)


def _count(bank: Bank, bulk: BulkFile, part: Batch, sign: int) -> None:
    """Adds the amount of a batch to the sum of the day on which the file was signed. With `sign` -1, subtracts the
    amount from this sum. These sums are checked against the limits of accounts."""
    assert bulk.signed_on is not None
    accounts.count_spent(bank, part.debtor.iban, bulk.signed_on, sign * part.paying.control_sum)


def _end_parts(bank: Bank, bulk: BulkFile, trigger: Trigger, reason: str | None) -> None:
    """Ends the unpaid batches of a file by `trigger`, and removes the stored content of the file."""
    bulk_checks.drop_content(bank, bulk)
    for part in bulk.payable_parts:
        bank.move(part, trigger, reason)
        if bulk.signed_on is not None:
            _count(bank, bulk, part, -1)
    bulk.unpaid = 0


def delete(bank: Bank, client_id: str, kind: str, reference: str, external: bool) -> None:
    cancel(bank, find(bank, client_id, kind, reference, external=external))


def find(bank: Bank, client_id: str, kind: str, reference: str, *, external: bool) -> BulkFile:
    group, field = kinds.BULK.make_group(kind), kinds.BULK.id_input
    bulk = initiations.find(bank, client_id, group, reference, external=external, field=field)
    assert isinstance(bulk, BulkFile)
    return bulk


def make_file_status(bank: Bank, bulk: BulkFile) -> FileStatus:
    """Returns the content of the file's status report. Raises a Refusal before the validation."""
    if not bulk.is_validated:
        raise Refusal(Error.NOT_VALIDATED, status=bulk.status.value)
    return FileStatus(
        bulk.id,
        bulk.format,
        bulk.version,
        bulk.message_id,
        bulk.reference,
        bulk.status,
        bulk.reason,
        bulk.findings,
        tuple(BatchStatus(part.batch, part.status, _find_reason(part)) for part in bulk.parts),
        bank.clock.now,
    )


def _find_reason(part: Batch) -> str | None:
    """Returns the reason why the batch ended, or None if there is no reason. Returns AM04 while the batch waits for
    another try because funds were missing."""
    return Reason.FUNDS_MISSING.code if part.tries and part.status is Status.PDNG else part.reason


def waits_for_signature(bulk: BulkFile) -> bool:
    return bulk.status is Status.PATC and not bulk.signatures


def find_valid_sca_token(bank: Bank, bulk: BulkFile) -> str | None:
    """Returns the token of the file's SCA address, or None if the file has no address or its address has expired."""
    address = bank.sca_addresses.get(bulk.sca_token or "")
    return address.token if address is not None and bank.clock.now < address.until else None


def renew_address(bank: Bank, client_id: str, kind: str, reference: str, external: bool) -> str | None:
    """Gives a new SCA address to a file that waits for its first signature and has no valid address (service 4.6 rule
    3). If the decision `address_at_status` is `new`, also replaces a valid address. Returns the token of the file's
    newest address, even if the address has expired. Returns None if the file never had an address."""
    bulk = find(bank, client_id, kind, reference, external=external)
    always_new = bank.decisions.address_at_status == "new"
    if waits_for_signature(bulk) and (always_new or find_valid_sca_token(bank, bulk) is None):
        if always_new and bulk.sca_token is not None:
            bank.sca_addresses.pop(bulk.sca_token, None)
        give_address(bank, bulk)
    return bulk.sca_token


def give_address(bank: Bank, bulk: BulkFile) -> None:
    """Gives the file a new SCA address. If there are too many replaced addresses, drops the oldest ones."""
    bulk.sca_token = initiations.create_address(bank, bulk.id, bank.find_decisions(bulk).sca_address_life)

    def is_valid(token: str, address: ScaAddress) -> bool:
        bulk = bank.bulks.get(address.subject_id)
        return bulk is None or bulk.sca_token == token

    valid_count = len(bank.payments) + len(bank.standing_orders) + len(bank.bulks)
    drop_invalid(bank.sca_addresses, valid_count, bank.decisions.remembered_max, is_valid)
