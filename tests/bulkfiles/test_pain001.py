"""pain.001 against its schema and then against the bank's own checks: choice 7."""

from datetime import date
from decimal import Decimal

import pytest

from sandbox.banking.iban import make_belgian
from sandbox.bulkfiles.pain001_stream import borrow_schema
from sandbox.bulkfiles.report import BatchReport, RefusedBatch
from tests.bulkfiles.a_file import (
    CREDITOR,
    DEBTOR,
    NEW,
    OLD,
    Bulk,
    codes,
    euros,
    pain,
    read,
    reference,
    remittance,
    texts,
    transaction,
)

TX = "PmtInf[1]/CdtTrfTxInf[1]"
BOTH = pytest.mark.parametrize("version", [OLD, NEW])

# What holds


@BOTH
def test_a_file_that_holds_gives_its_transfers(version: str) -> None:
    agent = "BIC" if version == OLD else "BICFI"
    full = transaction(
        agent=f"<CdtrAgt><FinInstnId><{agent}>KREDBEBB</{agent}></FinInstnId></CdtrAgt>",
        remittance=reference("090933755493"),
    )
    report = read(pain(Bulk((full, transaction("E-2"))), version=version))
    (batch,) = report.valid_batches
    assert codes(report) == [] and not report.is_refused
    assert report.message_id == "M-1" and {batch.debtor_iban for batch in report.valid_batches} == {DEBTOR}
    assert (batch.payment_information_id, batch.debtor_iban, batch.debtor_currency) == ("BULK-A", DEBTOR, "EUR")
    assert (batch.execution_date, batch.batch_booking) == (date(2027, 3, 2), True)
    assert (batch.number_of_transactions, batch.control_sum) == (2, Decimal("20.00"))
    first, second = batch.transfers
    assert (first.place, first.creditor_name, first.creditor_iban) == (TX, "Jan Peeters", CREDITOR)
    assert (first.creditor_bic, first.amount.text()) == ("KREDBEBB", "10.00")
    assert (first.structured, first.unstructured) == ("+++090/9337/55493+++", None)
    assert (second.endtoend_identification, second.structured, second.unstructured) == ("E-2", None, "Wages")


@pytest.mark.parametrize(
    "bulk",
    [
        Bulk(day="2027-03-01"),
        Bulk(day="2028-02-29"),  # 365 days ahead
        Bulk(day="2027-03-02+01:00"),
        Bulk(booking=""),
        Bulk(number="<NbOfTxs>1</NbOfTxs>", total="<CtrlSum>10</CtrlSum>"),
        Bulk(account=f"<Id><IBAN>{DEBTOR}</IBAN></Id><Ccy>EUR</Ccy>"),
        Bulk((transaction("NOTPROVIDED"), transaction("NOTPROVIDED"))),
        Bulk((transaction("Facture 2027/118 (a)"),)),
        Bulk((transaction(remittance=""),)),
        Bulk((transaction(remittance=reference("RF18539007547034")),)),
        Bulk((transaction(remittance=reference("+++090/9337/55493+++")),)),
        Bulk((transaction(account="<IBAN>FR1420041010050500013M02606</IBAN>"),)),
        Bulk((transaction(amount=euros("0.01")),)),
        Bulk((transaction(amount=euros(" 999999999.99 ")),)),
        Bulk((transaction(creditor="<Nm>a<!-- not a fault -->b</Nm>"),)),
    ],
)
@BOTH
def test_a_bulk_holds(version: str, bulk: Bulk) -> None:
    assert codes(read(pain(bulk, version=version))) == []


# What the schema cannot say


@pytest.mark.parametrize(
    ("wrong", "field", "code"),
    [
        ({"account": f"<IBAN>{CREDITOR[:-1]}0</IBAN>"}, "CdtrAcct/Id/IBAN", "IBAN"),
        ({"account": f"<IBAN>{CREDITOR.replace('BE', 'XX')}</IBAN>"}, "CdtrAcct/Id/IBAN", "IBAN"),
        ({"account": "<Othr><Id>539</Id></Othr>"}, "CdtrAcct/Id/IBAN", "IBAN"),
        ({"account": "<IBAN>TR330006100519786457841326</IBAN>"}, "CdtrAcct/Id/IBAN", "COUNTRY"),
        ({"amount": euros("10.005")}, "Amt/InstdAmt", "AMOUNT"),
        ({"amount": euros("0.00")}, "Amt/InstdAmt", "AMOUNT"),
        ({"amount": euros("10000000000000")}, "Amt/InstdAmt", "AMOUNT"),
        ({"amount": euros("+10.00")}, "Amt/InstdAmt", "AMOUNT"),
        ({"amount": euros("10.00", "USD")}, "Amt/InstdAmt", "CURRENCY"),
        ({"creditor": ""}, "Cdtr/Nm", "NAME"),
        ({"creditor": "<Nm>  </Nm>"}, "Cdtr/Nm", "NAME"),
        ({"creditor": f"<Nm>{'n' * 71}</Nm>"}, "Cdtr/Nm", "NAME"),
        ({"creditor": "<Nm>two\nlines</Nm>"}, "Cdtr/Nm", "NAME"),
        ({"remittance": remittance("<Strd/>")}, "RmtInf/Strd/CdtrRefInf/Ref", "STRUCTURED"),
        ({"remittance": remittance("<Strd/><Strd/>")}, "RmtInf/Strd/CdtrRefInf/Ref", "STRUCTURED"),
        ({"remittance": remittance("<Ustrd>a</Ustrd><Ustrd>b</Ustrd>")}, "RmtInf/Ustrd", "REMITTANCE"),
        ({"remittance": remittance("<Ustrd>a\tb</Ustrd>")}, "RmtInf/Ustrd", "REMITTANCE"),
    ],
)
@BOTH
def test_a_transaction_is_refused(version: str, wrong: dict[str, str], field: str, code: str) -> None:
    content = pain(Bulk((transaction(**wrong),)), version=version)
    assert schema_takes(content, version)  # so the finding is ours
    report = read(content)
    assert codes(report) == [(f"{TX}/{field}", code)]
    assert report.is_refused and not report.valid_batches


def schema_takes(content: bytes, version: str) -> bool:
    from lxml import etree

    with borrow_schema(f"pain.001.001.{version}") as schema:
        return bool(schema.validate(etree.fromstring(content)))


@pytest.mark.parametrize(("version", "name"), [(OLD, "BIC"), (NEW, "BICFI")])
def test_a_bic_of_another_country_is_refused(version: str, name: str) -> None:
    agent = f"<CdtrAgt><FinInstnId><{name}>ABNANL2A</{name}></FinInstnId></CdtrAgt>"
    report = read(pain(Bulk((transaction(agent=agent),)), version=version))
    assert codes(report) == [(f"{TX}/CdtrAgt/FinInstnId/{name}", "BIC")]


def test_a_text_beside_a_structured_communication_is_refused() -> None:
    both = "<Ustrd>a</Ustrd><Strd><CdtrRefInf><Ref>090933755493</Ref></CdtrRefInf></Strd>"
    report = read(pain(Bulk((transaction(remittance=remittance(both)),))))
    assert codes(report) == [(f"{TX}/RmtInf/Ustrd", "REMITTANCE")]


@pytest.mark.parametrize(
    ("bulk", "place", "code"),
    [
        (Bulk(day="2027-02-28"), "ReqdExctnDt", "DATE"),
        (Bulk(day="2028-03-01"), "ReqdExctnDt", "DATE"),
        (Bulk(day="-2027-03-02"), "ReqdExctnDt", "DATE"),
        (Bulk(name="A_1"), "PmtInfId", "PMT_INF_ID"),
        (Bulk(method="CHK"), "PmtMtd", "PMT_MTD"),
        (Bulk(account=f"<Id><IBAN>{DEBTOR[:-1]}0</IBAN></Id>"), "DbtrAcct/Id/IBAN", "IBAN"),
        (Bulk(account="<Id><Othr><Id>539</Id></Othr></Id>"), "DbtrAcct/Id/IBAN", "IBAN"),
        (Bulk(account=f"<Id><IBAN>{DEBTOR}</IBAN></Id><Ccy>USD</Ccy>"), "DbtrAcct/Ccy", "CURRENCY"),
        (Bulk(number="<NbOfTxs>2</NbOfTxs>"), "NbOfTxs", "NB_OF_TXS"),
        (Bulk(total="<CtrlSum>10.01</CtrlSum>"), "CtrlSum", "CTRL_SUM"),
    ],
)
@BOTH
def test_a_bulk_is_refused(version: str, bulk: Bulk, place: str, code: str) -> None:
    content = pain(bulk, version=version)
    assert schema_takes(content, version)
    assert codes(read(content)) == [(f"PmtInf[1]/{place}", code)]


def test_a_day_that_the_calendar_does_not_have_is_told_as_such() -> None:
    (text,) = texts(read(pain(Bulk(day="2027-02-30"), version=NEW)))
    assert text.endswith("'ISODate'. 2027-02-30 does not exist: February 2027 has 28 days.")


def test_a_moment_is_no_execution_date() -> None:
    report = read(pain(Bulk(day="<DtTm>2027-03-02T08:00:00</DtTm>"), version=NEW))
    assert codes(report) == [("PmtInf[1]/ReqdExctnDt", "DATE")]


# One bulk, and the whole file


def test_a_bulk_that_fails_is_refused_alone() -> None:
    wrong = Bulk((transaction("E-2", amount=euros("0.00")), transaction("E-3")), "BULK-B")
    report = read(pain(Bulk(), wrong, Bulk((transaction("E-4"),), "BULK-C")))
    assert [batch.payment_information_id for batch in report.valid_batches] == ["BULK-A", "BULK-C"]
    assert not report.is_refused
    refused = report.batches[1]
    assert isinstance(refused, RefusedBatch)
    assert (refused.payment_information_id, refused.number_of_transactions) == ("BULK-B", 2)
    assert refused.control_sum == Decimal("10.00")


def test_names_are_given_once_in_a_file() -> None:
    report = read(pain(Bulk(), Bulk((transaction("E-1"),), "BULK-A")))
    assert codes(report) == [
        ("PmtInf[2]/CdtTrfTxInf[1]/PmtId/EndToEndId", "DUPLICATE_ENDTOEND"),
        ("PmtInf[2]/PmtInfId", "DUPLICATE_PMT_INF"),
    ]
    assert isinstance(report.batches[0], BatchReport)


@pytest.mark.parametrize(
    ("changes", "place", "code"),
    [
        ({"number": "2"}, "GrpHdr/NbOfTxs", "NB_OF_TXS"),
        ({"total": "<CtrlSum>10.01</CtrlSum>"}, "GrpHdr/CtrlSum", "CTRL_SUM"),
        ({"message_id": "A_1"}, "GrpHdr/MsgId", "MSG_ID"),
        ({"message_id": "M" * 36}, "GrpHdr/MsgId", "XSD"),
        ({"after": "<Stray/>"}, "Stray", "XSD"),
        ({"version": "11"}, "Document", "VERSION"),
        ({"version": "02"}, "Document", "VERSION"),
    ],
)
def test_a_fault_of_the_whole_file_refuses_all_of_it(changes: dict[str, str], place: str, code: str) -> None:
    report = read(pain(Bulk(), **changes))
    assert (place, code) in codes(report)
    assert report.is_refused


def test_the_sums_of_the_header_hold_over_all_bulks() -> None:
    bulks = (Bulk(), Bulk((transaction("E-2"),), "BULK-B"))
    assert codes(read(pain(*bulks, total="<CtrlSum>20.00</CtrlSum>"))) == []


def test_no_sum_is_compared_when_an_amount_cannot_be_read() -> None:
    equivalent = '<EqvtAmt><Amt Ccy="EUR">1</Amt><CcyOfTrf>EUR</CcyOfTrf></EqvtAmt>'
    bulk = Bulk((transaction(amount=equivalent),), total="<CtrlSum>1</CtrlSum>")
    assert codes(read(pain(bulk))) == [(f"{TX}/Amt/EqvtAmt", "AMOUNT")]


@pytest.mark.parametrize("content", [b"<Document/>", b"<html><p/></html>", b'<Document xmlns="urn:x"/>'])
def test_another_document_is_no_pain001(content: bytes) -> None:
    assert codes(read(content)) == [("Document", "VERSION")]


# The schema


@pytest.mark.parametrize(
    ("bulk", "place"),
    [
        (Bulk((transaction(), transaction("E" * 36))), "PmtInf[1]/CdtTrfTxInf[2]/PmtId/EndToEndId"),
        (Bulk((transaction(account="<IBAN>nonsense</IBAN>"),)), f"{TX}/CdtrAcct/Id/IBAN"),
        (Bulk((transaction(amount=euros("1e3")),)), f"{TX}/Amt/InstdAmt"),
        (Bulk((transaction(amount=euros("-1.00")),)), f"{TX}/Amt/InstdAmt"),
        (Bulk((transaction() + "<CdtTrfTxInf/>",), number="<NbOfTxs>2</NbOfTxs>"), "PmtInf[1]/CdtTrfTxInf[2]"),
        (Bulk(day="tomorrow"), "PmtInf[1]/ReqdExctnDt"),
        (Bulk(booking="<BtchBookg>yes</BtchBookg>"), "PmtInf[1]/BtchBookg"),
        (Bulk(name=""), "PmtInf[1]/PmtInfId"),
        (Bulk(after="<Stray/>"), "PmtInf[1]/Stray"),
        (Bulk((transaction() + "<Stray/>", transaction("E-2"), transaction("E-3"))), "PmtInf[1]/Stray"),
    ],
)
@BOTH
def test_a_fault_of_the_schema_has_its_place(version: str, bulk: Bulk, place: str) -> None:
    found = codes(read(pain(Bulk((transaction("E-0"),), "SOUND"), bulk, version=version)))
    place = place.replace("PmtInf[1]", "PmtInf[2]")
    if version == NEW:
        place = place.replace("ReqdExctnDt", "ReqdExctnDt/Dt")
    assert [finding for finding in found if finding[1] == "XSD"] == [(place, "XSD")]


def test_a_bulk_without_transactions_is_refused() -> None:
    assert codes(read(pain(Bulk(()), number="0"))) == [("PmtInf[1]", "XSD")]


def test_a_file_without_bulks_is_refused() -> None:
    assert ("/CstmrCdtTrfInitn", "XSD") in codes(read(pain(number="0")))


def test_prefixed_names_are_read_too() -> None:
    content = pain(Bulk((transaction("E" * 36), transaction("E-2"))))
    words = content.decode().replace('Document xmlns="', 'Document xmlns:p="').replace("</", "<//")
    prefixed = words.replace("<//", "</p:").replace("<", "<p:").replace("<p:/p:", "</p:").replace("<p:?", "<?")
    assert codes(read(prefixed.encode())) == [(f"{TX}/PmtId/EndToEndId", "XSD")]


def test_an_account_may_come_again_and_again() -> None:
    bulks = [Bulk((transaction(f"E-{n}"),), f"B-{n}") for n in range(50)]
    other = Bulk((transaction("LAST"),), "LAST", account=f"<Id><IBAN>{make_belgian('539', 1000055)}</IBAN></Id>")
    report = read(pain(*bulks, other))
    assert len(report.valid_batches) == 51 and len({batch.debtor_iban for batch in report.valid_batches}) == 2


def test_two_files_read_at_once_do_not_share_a_schema() -> None:
    with borrow_schema("pain.001.001.03") as mine, borrow_schema("pain.001.001.03") as yours:
        assert mine is not yours
    with borrow_schema("pain.001.001.03") as again:
        assert again in (mine, yours)
