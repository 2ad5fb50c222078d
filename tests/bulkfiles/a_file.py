"""A small pain.001 or csv file that holds, with anything in it replaced."""

from dataclasses import dataclass
from datetime import date

from sandbox.banking.iban import make_belgian
from sandbox.bulkfiles.report import FileReport, ValidationRules
from sandbox.bulkfiles.stages import read_file

TODAY = date(2027, 3, 1)
DEBTOR = make_belgian("539", 1000048)
CREDITOR = make_belgian("152", 2210347)
OLD, NEW = "03", "09"
HEADER = (
    "debtor_iban,requested_execution_date,creditor_name,creditor_iban,creditor_bic,amount,currency,"
    "endtoend_identification,remittance_structured,remittance_unstructured"
)
ROW = {
    "debtor_iban": DEBTOR,
    "requested_execution_date": "2027-03-02",
    "creditor_name": "Jan Peeters",
    "creditor_iban": CREDITOR,
    "creditor_bic": "",
    "amount": "10.00",
    "currency": "EUR",
    "endtoend_identification": "E-1",
    "remittance_structured": "",
    "remittance_unstructured": "Wages",
}


def transaction(
    endtoend: str = "E-1",
    amount: str = '<InstdAmt Ccy="EUR">10.00</InstdAmt>',
    agent: str = "",
    creditor: str = "<Nm>Jan Peeters</Nm>",
    account: str = f"<IBAN>{CREDITOR}</IBAN>",
    remittance: str = "<RmtInf><Ustrd>Wages</Ustrd></RmtInf>",
) -> str:
    return (
        f"<CdtTrfTxInf><PmtId><EndToEndId>{endtoend}</EndToEndId></PmtId><Amt>{amount}</Amt>{agent}"
        f"<Cdtr>{creditor}</Cdtr><CdtrAcct><Id>{account}</Id></CdtrAcct>{remittance}</CdtTrfTxInf>"
    )


def euros(number: str, currency: str = "EUR") -> str:
    return f'<InstdAmt Ccy="{currency}">{number}</InstdAmt>'


def remittance(inner: str) -> str:
    return f"<RmtInf>{inner}</RmtInf>"


def reference(text: str) -> str:
    return remittance(f"<Strd><CdtrRefInf><Ref>{text}</Ref></CdtrRefInf></Strd>")


@dataclass
class Bulk:
    transactions: tuple[str, ...] = (transaction(),)
    name: str = "BULK-A"
    method: str = "TRF"
    booking: str = "<BtchBookg>true</BtchBookg>"
    number: str = ""
    total: str = ""
    day: str = "2027-03-02"
    account: str = f"<Id><IBAN>{DEBTOR}</IBAN></Id>"
    after: str = ""
    agent: str = "<DbtrAgt><FinInstnId/></DbtrAgt>"
    charges: str = ""
    kind: str = ""  # PmtTpInf

    def text(self, version: str) -> str:
        day = self.day if version == OLD or "<" in self.day else f"<Dt>{self.day}</Dt>"
        return (
            f"<PmtInf><PmtInfId>{self.name}</PmtInfId><PmtMtd>{self.method}</PmtMtd>{self.booking}{self.number}"
            f"{self.total}{self.kind}<ReqdExctnDt>{day}</ReqdExctnDt><Dbtr><Nm>Bakkerij</Nm></Dbtr><DbtrAcct>{self.account}"
            f"</DbtrAcct>{self.agent}{self.charges}{''.join(self.transactions)}{self.after}</PmtInf>"
        )


def pain(
    *bulks: Bulk,
    version: str = OLD,
    message_id: str = "M-1",
    number: str | None = None,
    total: str = "",
    after: str = "",
) -> bytes:
    count = sum(len(bulk.transactions) for bulk in bulks) if number is None else number
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.{version}"><CstmrCdtTrfInitn><GrpHdr>'
        f"<MsgId>{message_id}</MsgId><CreDtTm>2027-03-01T08:00:00</CreDtTm><NbOfTxs>{count}</NbOfTxs>{total}"
        f"<InitgPty><Nm>Bakkerij</Nm></InitgPty></GrpHdr>"
        f"{''.join(bulk.text(version) for bulk in bulks)}{after}</CstmrCdtTrfInitn></Document>"
    ).encode()


def csv(*rows: dict[str, str], header: str = HEADER, end: str = "\n", mark: str = ",") -> bytes:
    """Each row says what differs from the row that holds; identifications are told apart."""
    said = [header.replace(",", mark)]
    for number, row in enumerate(rows, 1):
        said.append(mark.join((ROW | {"endtoend_identification": f"E-{number}"} | row).values()))
    return "".join(line + end for line in said).encode()


def read(content: bytes) -> FileReport:
    return read_file("csv" if b"debtor_iban" in content[:20] else "pain.001", content, ValidationRules(TODAY))


def texts(report: FileReport) -> list[str]:
    """The text of every finding: those of the file, then those of each bulk."""
    everything = (report.findings, *(batch.findings for batch in report.batches))
    return [finding.text for findings in everything for finding in findings]


def codes(report: FileReport) -> list[tuple[str, str]]:
    """Place and code of every finding: those of the file, then those of each bulk."""
    everything = (report.findings, *(batch.findings for batch in report.batches))
    return [(finding.place, finding.code) for findings in everything for finding in findings]
