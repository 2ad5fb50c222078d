"""pain.001 in its two versions: schema checks, then rules beyond the schema (choice 7)."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from sandbox.bulkfiles import checks, rulebook, schemas
from sandbox.bulkfiles.admission import Breathe
from sandbox.bulkfiles.checks import EUR, NAME_LENGTH_MAX, TRANSACTIONS_MAX, Draft, Fault, Sum, TransferText
from sandbox.bulkfiles.encodings import HEAD, UTF_8, UndecodableError, encoding_of
from sandbox.bulkfiles.report import Allowance, BatchReport, FileFindings, FileReport, RefusedBatch
from sandbox.bulkfiles.schemas import BatchHead, Dialect
from sandbox.bulkfiles.stream import ElementPart, Stream, UnreadableError


class PainFileReader:
    """Takes the parts of one file as they come."""

    def __init__(
        self, today: date, days_ahead_max: int, *, with_rulebook: bool = True, with_digits: bool = True
    ) -> None:
        self.today, self.days_ahead_max = today, days_ahead_max
        self.with_digits = with_digits  # of structured communications (axis creditor_reference_in_file)
        self.with_rulebook = with_rulebook  # older worlds have the first edition (setting rules_edition)
        self.reference_fault = rulebook.reference_fault if with_rulebook else checks.identification_fault
        self.message_id: str | None = None
        self.batches: list[BatchReport | RefusedBatch] = []
        self.allowance = Allowance()
        self.findings = FileFindings(self.allowance)
        self.sum = Sum()
        self.endtoend, self.names = set[str](), set[str]()
        self.draft = Draft("", self.findings, today)
        self.declared: tuple[str, str] = ("", "")

    def read(self, content: bytes, breathe: Breathe) -> FileReport:
        stream = Stream()
        try:
            if not self.with_rulebook and encoding_of(content[:HEAD]) not in UTF_8:
                raise UndecodableError("the file is not in UTF-8")
            parts = stream.parts(content, breathe)
            _, root = next(parts)
            if stream.version is None:
                raise UnreadableError("Document", "VERSION", schemas.refused_version(root.tag))
            self._take_all(parts, stream.version)
        except UnreadableError as error:
            self.findings.add(*error.args)
        except UndecodableError as error:
            self.findings.add("1", "ENCODING", str(error))
        return FileReport(self.message_id, tuple(self.batches), self.findings)

    def _take_all(self, parts: Iterator[tuple[ElementPart, Any]], version: str) -> None:
        dialect = Dialect(version)
        with schemas.borrow_schema(version) as schema:
            for part, element in parts:
                match part:
                    case ElementPart.TRANSACTION:
                        self._transaction(schema, dialect, element)
                    case ElementPart.BATCH_OPENS if (
                        len(self.batches) == TRANSACTIONS_MAX
                    ):  # each would have one at least
                        raise UnreadableError("Document", "TOO_MANY", f"more than {TRANSACTIONS_MAX} bulks")
                    case ElementPart.BATCH_OPENS:
                        place = f"PmtInf[{len(self.batches) + 1}]"
                        self.draft = Draft(place, FileFindings(self.allowance), self.today)
                    case ElementPart.BATCH:
                        self._batch(schema, dialect, element)
                    case ElementPart.HEADER:
                        self.message_id = dialect.text(element, "MsgId")[:NAME_LENGTH_MAX]
                        self.declared = dialect.text(element, "NbOfTxs"), dialect.text(element, "CtrlSum")
                    case ElementPart.WHOLE:
                        self._whole(schema, element)

    def _transaction(self, schema: Any, dialect: Dialect, element: Any) -> None:
        draft = self.draft
        before = draft.findings.count
        order = dialect.order(f"{draft.place}/CdtTrfTxInf[{draft.sum.count + 1}]", element)
        draft.sum.add(order.amount)
        draft.instant_count += order.instrument == rulebook.INSTANT
        if self.sum.count + draft.sum.count > TRANSACTIONS_MAX:
            raise UnreadableError("Document", "TOO_MANY", f"more than {TRANSACTIONS_MAX} transactions")
        if not schema.validate(element):
            for below, text in schemas.faults(schema, element):
                draft.findings.add(order.place + below, "XSD", text)
            return
        for path, code, text in self._transaction_faults(element, order, dialect):
            draft.findings.add(f"{order.place}/{path}", code, text)
        if draft.findings.count == before:
            draft.transfers.append(checks.transfer(order))

    def _transaction_faults(self, element: Any, order: TransferText, dialect: Dialect) -> Iterator[Fault]:
        places = dialect.places
        yield from ((places[name], code, why) for name, code, why in checks.faults(order))
        if self.with_rulebook:
            yield from rulebook.transaction_faults(element, order, with_digits=self.with_digits)
        else:
            faults = checks.references(order, with_digits=self.with_digits)
            yield from ((places[name], code, why) for name, code, why in faults)
        yield from ((places[name], code, why) for name, code, why in checks.repeated(order, self.endtoend))

    def _batch(self, schema: Any, dialect: Dialect, element: Any) -> None:
        draft, found = self.draft, self.draft.findings
        before = found.count
        name, head = dialect.text(element, "PmtInfId"), BatchHead(element, dialect, draft.sum)
        invalid = list(schemas.faults(schema, element))
        for below, text in invalid:
            found.add(draft.place + below, "XSD", text)
        if not invalid:
            for path, code, text in self._head_faults(head, element, dialect):
                found.add(f"{draft.place}/{path}", code, text)
            self._read_day(draft, head)
            if self.with_rulebook:
                self._read_instrument(draft, head)
        if name and name in self.names:
            found.add(f"{draft.place}/PmtInfId", "DUPLICATE_PMT_INF", f"{name} occurs before in the file")
        self.names.add(name)
        self.sum.join(draft.sum)
        draft.name, draft.debtor_iban, draft.debtor_currency = head.name, head.iban, head.currency
        draft.batch_booking, draft.has_sound_head = head.booking, found.count == before
        self.batches.append(draft.close())

    def _head_faults(self, head: BatchHead, element: Any, dialect: Dialect) -> Iterator[Fault]:
        if head.method != "TRF":
            yield "PmtMtd", "PMT_MTD", f"{head.method} is no credit transfer (TRF)"
        why = checks.iban_fault(head.iban, "it is missing: the account that pays is given by its IBAN")
        if why is not None:
            yield "DbtrAcct/Id/IBAN", "IBAN", why
        if head.currency != EUR:
            yield "DbtrAcct/Ccy", "CURRENCY", f"{head.currency} is not EUR"
        yield from sum_faults(head.number, head.total, head.counted)
        if (why := self.reference_fault(head.name)) is not None:
            yield "PmtInfId", "PMT_INF_ID", why
        if self.with_rulebook:
            yield from rulebook.head_faults(head, element, dialect)

    def _read_day(self, draft: Draft, head: BatchHead) -> None:
        try:
            if head.is_moment:
                raise ValueError("DtTm is not taken: give the date alone, as ReqdExctnDt/Dt")
            draft.execution_date = checks.read_date(head.day, self.today, self.days_ahead_max)
        except ValueError as error:
            draft.findings.add(f"{draft.place}/ReqdExctnDt", "DATE", str(error))

    def _read_instrument(self, draft: Draft, head: BatchHead) -> None:
        """A bulk is executed as a whole, so that all of its transactions are instant, or none is."""
        if head.instrument != rulebook.INSTANT and draft.instant_count == 0:
            return
        draft.is_instant = True
        for path, code, text in rulebook.instant_faults(head, draft, self.today):
            draft.findings.add(f"{draft.place}/{path}", code, text)

    def _whole(self, schema: Any, element: Any) -> None:
        for below, text in schemas.faults(schema, element):
            self.findings.add(below.removeprefix("/CstmrCdtTrfInitn/") or "Document", "XSD", text)
        for path, code, text in sum_faults(*self.declared, self.sum):
            self.findings.add(f"GrpHdr/{path}", code, text)
        why = None if self.message_id is None else self.reference_fault(self.message_id)
        if why is not None:
            self.findings.add("GrpHdr/MsgId", "MSG_ID", why)


def sum_faults(number: str, total: str, counted: Sum) -> Iterator[Fault]:
    """At both levels; what a file leaves out is not compared."""
    declared = checks.decimal(number.strip())
    if declared is not None and declared != counted.count:
        yield "NbOfTxs", "NB_OF_TXS", f"it says {declared}, the file has {counted.count}"
    declared = checks.decimal(total.strip())
    if declared is not None and counted.is_whole and declared != counted.total:
        yield "CtrlSum", "CTRL_SUM", f"it says {declared}, the amounts make {counted.total}"
