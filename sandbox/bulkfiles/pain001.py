"""Reads and checks both versions of pain.001: first against the schema, then against further rules (choice 7)."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any

from sandbox.banking.iban import BANK_BIC
from sandbox.bulkfiles import checks
from sandbox.bulkfiles.admission import NAMESPACE, Progress, UndecodableError
from sandbox.bulkfiles.checks import EUR, INSTANT, TRANSACTIONS_MAX, AmountSum, BatchDraft, Fault, TransferText
from sandbox.bulkfiles.pain001_stream import (
    ElementPart,
    ElementStream,
    UnreadableError,
    borrow_schema,
    find_schema_faults,
)
from sandbox.bulkfiles.report import BatchReport, FileFindings, FileReport, RefusedBatch, ValidationRules

# The path of each field in a transaction, which findings name. The newer version has another path for a BIC.
TEXT_PATHS = {
    "creditor_name": "Cdtr/Nm",
    "creditor_iban": "CdtrAcct/Id/IBAN",
    "creditor_bic": "CdtrAgt/FinInstnId/BIC",
    "endtoend_identification": "PmtId/EndToEndId",
    "instruction": "PmtId/InstrId",
    "charge_bearer": "ChrgBr",
}
OTHER_PATHS = {
    "amount": "Amt/InstdAmt",
    "currency": "Amt/InstdAmt",
    "equivalent": "Amt/EqvtAmt",
    "structured": "RmtInf/Strd/CdtrRefInf/Ref",
    "unstructured": "RmtInf/Ustrd",
}
SCHEME_PATHS = ("CdtrRefInf/Tp/Issr", "CdtrRefInf/Tp/CdOrPrtry/Prtry")
DEBTOR_BICS = ("", checks.NOT_PROVIDED, BANK_BIC, f"{BANK_BIC}XXX")


class Dialect:
    """Reads the fields of elements by the element names of one version of pain.001."""

    def __init__(self, version: str) -> None:
        is_newer = version == "pain.001.001.09"
        bic = "BICFI" if is_newer else "BIC"
        self.places = TEXT_PATHS | OTHER_PATHS | {"creditor_bic": f"CdtrAgt/FinInstnId/{bic}"}
        self.date = "ReqdExctnDt/Dt" if is_newer else "ReqdExctnDt"
        self.debtor_bic = f"DbtrAgt/FinInstnId/{bic}"
        prefix = f"{{{NAMESPACE}{version}}}"
        # Cached, because each of 100,000 transactions needs them.
        self.path = cache(lambda path: "/".join(prefix + name for name in path.split("/")))

    def read_text(self, element: Any, path: str) -> str:
        """Returns the text at a path, or an empty text if the element is missing."""
        return str(element.findtext(self.path(path), ""))

    def transfer(self, place: str, element: Any) -> TransferText:
        """Returns the texts of a transaction. It also reads a transaction that the schema refuses, so texts can be
        missing."""
        amount, remittance = element.find(self.path("Amt/InstdAmt")), element.find(self.path("RmtInf"))
        parts = () if remittance is None else remittance
        structured = [part for part in parts if part.tag == self.path("Strd")]
        return TransferText(
            place,
            **{name: self.read_text(element, self.places[name]) for name in TEXT_PATHS},
            amount="" if amount is None else (amount.text or "").strip(),
            currency="" if amount is None else amount.get("Ccy", ""),
            structured=[part.findtext(self.path("CdtrRefInf/Ref")) for part in structured],
            unstructured=[part.text or "" for part in parts if part.tag == self.path("Ustrd")],
            service_levels=self.read_service_levels(element),
            instrument=self.read_instrument(element),
            scheme=self._read_scheme(structured[0]) if structured else "",
            is_equivalent=amount is None and element.find(self.path("Amt/EqvtAmt")) is not None,
        )

    def read_service_levels(self, element: Any) -> list[str]:
        """Returns the codes of the service levels of a batch or a transaction. The newer version of pain.001 may have
        several. A level without a code is returned as a description, which no check accepts."""
        levels = element.findall(self.path("PmtTpInf/SvcLvl"))
        return [self.read_text(level, "Cd") or "a level of one's own (Prtry)" for level in levels]

    def read_instrument(self, element: Any) -> str:
        """Returns the code of the local instrument of a batch or a transaction, or an empty text if it is missing. A
        local instrument without a code is returned as a description, which no check accepts."""
        if element.find(self.path("PmtTpInf/LclInstrm")) is None:
            return ""
        return self.read_text(element, "PmtTpInf/LclInstrm/Cd") or "a local instrument of one's own (Prtry)"

    def _read_scheme(self, structured: Any) -> str:
        """Returns the scheme of a structured communication: its issuer or its own type, in upper case."""
        texts = (self.read_text(structured, path).strip() for path in SCHEME_PATHS)
        return next((text.upper() for text in texts if text), "")


class BatchHead:
    """The fields of a batch that precede its transactions."""

    def __init__(self, element: Any, dialect: Dialect) -> None:
        def text(path: str) -> str:
            return dialect.read_text(element, path).strip()

        self.name, self.method = text("PmtInfId"), text("PmtMtd")
        self.iban, self.currency = text("DbtrAcct/Id/IBAN"), text("DbtrAcct/Ccy") or EUR
        self.number, self.total = text("NbOfTxs"), text("CtrlSum")
        self.booking = text("BtchBookg") in ("true", "1")
        self.charge_bearer, self.debtor_bic = text("ChrgBr"), text(dialect.debtor_bic)
        self.read_service_levels, self.read_instrument = (
            dialect.read_service_levels(element),
            dialect.read_instrument(element),
        )
        self.is_moment = bool(text(f"{dialect.date}Tm"))
        self.day = text(dialect.date)[:10]  # without the time zone that the schema allows after a date


class PainFileReader(checks.FileReader):
    """Reads a pain.001 file into a report, one transaction or batch after the other."""

    def __init__(self, rules: ValidationRules) -> None:
        super().__init__(rules)
        self.message_id: str | None = None
        self.batches: list[BatchReport | RefusedBatch] = []
        self.batch_names = set[str]()
        self.sum = AmountSum()
        self.declared: tuple[str, str] = ("", "")  # the number and the sum that the header declares
        self.draft = BatchDraft("", self.findings, rules.today)

    def read(self, content: bytes, progress: Progress) -> FileReport:
        stream = ElementStream()
        try:
            parts = stream.read_parts(content, progress)
            next(parts)  # the root, whose tag has the version
            with borrow_schema(stream.version) as schema:
                self._read_parts(parts, schema, Dialect(stream.version))
        except UnreadableError as error:
            self.findings.add(error.place, error.code, error.text)
        except UndecodableError as error:
            self.findings.add("1", "ENCODING", str(error))
        return FileReport(self.message_id, tuple(self.batches), self.findings, stream.version or None)

    def _read_parts(self, parts: Iterator[tuple[ElementPart, Any]], schema: Any, dialect: Dialect) -> None:
        for part, element in parts:
            match part:
                case ElementPart.TRANSACTION:
                    self._read_transaction(schema, dialect, element)
                case ElementPart.BATCH_START:
                    if len(self.batches) == TRANSACTIONS_MAX:  # each batch has at least one transaction
                        raise UnreadableError("Document", "TOO_MANY", f"more than {TRANSACTIONS_MAX} bulks")
                    place = f"PmtInf[{len(self.batches) + 1}]"
                    self.draft = BatchDraft(place, FileFindings(self.allowance), self.rules.today)
                case ElementPart.BATCH:
                    self._read_batch(schema, dialect, element)
                case ElementPart.HEADER:
                    self.message_id = dialect.read_text(element, "MsgId")[: checks.NAME_LENGTH_MAX]
                    self.declared = dialect.read_text(element, "NbOfTxs"), dialect.read_text(element, "CtrlSum")
                case ElementPart.WHOLE:
                    self._check_file(schema, element)

    def _read_transaction(self, schema: Any, dialect: Dialect, element: Any) -> None:
        draft = self.draft
        transfer = dialect.transfer(f"{draft.place}/CdtTrfTxInf[{draft.sum.count + 1}]", element)
        draft.sum.add(transfer.amount)
        draft.instant_count += transfer.instrument == INSTANT
        if self.sum.count + draft.sum.count > TRANSACTIONS_MAX:
            raise UnreadableError("Document", "TOO_MANY", f"more than {TRANSACTIONS_MAX} transactions")
        draft.add(transfer, self._find_transaction_faults(schema, dialect, element, transfer))

    def _find_transaction_faults(
        self, schema: Any, dialect: Dialect, element: Any, transfer: TransferText
    ) -> Iterator[Fault]:
        """Yields the faults of a transaction against the schema. If there are none, yields its faults against the other
        rules."""
        is_valid = True
        for below, text in find_schema_faults(schema, element):
            is_valid = False
            yield transfer.place + below, "XSD", text
        if not is_valid:
            return
        rulebook = checks.find_rulebook_faults(element, transfer, self.rules.with_digits)
        repetitions = checks.find_repetition(transfer, self.endtoend_ids)
        for name, code, text in chain(checks.find_transfer_faults(transfer), rulebook, repetitions):
            yield f"{transfer.place}/{dialect.places.get(name, name)}", code, text

    def _read_batch(self, schema: Any, dialect: Dialect, element: Any) -> None:
        draft, findings, head = self.draft, self.draft.findings, BatchHead(element, dialect)
        count_before = findings.count
        draft.name, draft.debtor_iban, draft.debtor_currency = head.name, head.iban, head.currency
        draft.batch_booking = head.booking
        for below, text in find_schema_faults(schema, element):
            findings.add(draft.place + below, "XSD", text)
        if findings.count == count_before:
            add_faults(findings, draft.place, self._find_head_faults(head, element, dialect))
            add_faults(findings, draft.place, self._read_day(head))
        name = dialect.read_text(element, "PmtInfId")
        if name and name in self.batch_names:
            findings.add(f"{draft.place}/PmtInfId", "DUPLICATE_PMT_INF", f"{name} occurs before in the file")
        self.batch_names.add(name)
        self.sum.join(draft.sum)
        draft.has_valid_head = findings.count == count_before
        self.batches.append(draft.close())

    def _find_head_faults(self, head: BatchHead, element: Any, dialect: Dialect) -> Iterator[Fault]:
        if head.method != "TRF":
            yield "PmtMtd", "PMT_MTD", f"{head.method} is no credit transfer (TRF)"
        fault = checks.find_iban_fault(head.iban, "it is missing: the account that pays is given by its IBAN")
        if fault is not None:
            yield "DbtrAcct/Id/IBAN", "IBAN", fault
        if head.currency != EUR:
            yield "DbtrAcct/Ccy", "CURRENCY", f"{head.currency} is not EUR"
        yield from compare_sums(head.number, head.total, self.draft.sum)
        if (fault := checks.find_reference_fault(head.name)) is not None:
            yield "PmtInfId", "PMT_INF_ID", fault
        yield from checks.find_term_faults(head.charge_bearer, head.read_service_levels, head.read_instrument)
        if head.debtor_bic not in DEBTOR_BICS:
            fault = f"{head.debtor_bic} is not this bank's BIC, {BANK_BIC}; {checks.NOT_PROVIDED} is taken too"
            yield dialect.debtor_bic, "DEBTOR_AGENT", fault
        for name in ("Dbtr", "UltmtDbtr"):
            party = element.find(dialect.path(name))
            if party is not None:
                for path, code, fault in chain(checks.find_character_faults(party), checks.find_address_faults(party)):
                    yield f"{name}/{path}", code, fault

    def _read_day(self, head: BatchHead) -> Iterator[Fault]:
        """Reads the execution day of a batch and yields its faults. If one transaction of the batch is instant, all
        must be instant, and the day must be today."""
        draft = self.draft
        try:
            if head.is_moment:
                raise ValueError("DtTm is not taken: give the date alone, as ReqdExctnDt/Dt")
            draft.execution_date = checks.read_date(head.day, self.rules)
        except ValueError as error:
            yield "ReqdExctnDt", "DATE", str(error)
        draft.is_instant = head.read_instrument == INSTANT or draft.instant_count > 0
        if draft.is_instant and head.read_instrument != INSTANT and draft.instant_count < draft.sum.count:
            asking = f"{draft.instant_count} of {draft.sum.count} transactions ask for {INSTANT}"
            yield "PmtTpInf/LclInstrm", "LOCAL_INSTRUMENT", f"{asking}: all of a bulk do, or none does"
        if draft.is_instant and draft.execution_date != self.rules.today:
            fault = f"an instant transfer is executed at once: {INSTANT} goes with today, {self.rules.today}"
            yield "ReqdExctnDt", "LOCAL_INSTRUMENT", fault

    def _check_file(self, schema: Any, element: Any) -> None:
        for below, text in find_schema_faults(schema, element):
            self.findings.add(below.removeprefix("/CstmrCdtTrfInitn/") or "Document", "XSD", text)
        add_faults(self.findings, "GrpHdr", compare_sums(*self.declared, self.sum))
        fault = None if self.message_id is None else checks.find_reference_fault(self.message_id)
        if fault is not None:
            self.findings.add("GrpHdr/MsgId", "MSG_ID", fault)


def add_faults(findings: FileFindings, place: str, faults: Iterable[Fault]) -> None:
    for path, code, text in faults:
        findings.add(f"{place}/{path}", code, text)


def compare_sums(number: str, total: str, counted: AmountSum) -> Iterator[Fault]:
    """Yields a fault for each declared number or sum of a batch or a file that differs from the counted one. Skips a
    declared text that is not a number, and a sum if an amount is not a number."""
    declared = checks.read_decimal(number.strip())
    if declared is not None and declared != counted.count:
        yield "NbOfTxs", "NB_OF_TXS", f"it says {declared}, the file has {counted.count}"
    declared = checks.read_decimal(total.strip())
    if declared is not None and counted.is_whole and declared != counted.total:
        yield "CtrlSum", "CTRL_SUM", f"it says {declared}, the amounts make {counted.total}"
