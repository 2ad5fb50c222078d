"""The SEPA rulebook in pain.001: characters, references, charge bearer, service level, debtor agent (choice 7)."""

import pytest

from sandbox.banking.iban import BANK_BIC
from sandbox.bulkfiles import checks
from sandbox.bulkfiles.report import ValidationRules
from sandbox.bulkfiles.stages import read_file
from tests.bulkfiles.a_file import (
    NEW,
    OLD,
    TODAY,
    Bulk,
    codes,
    csv,
    euros,
    pain,
    read,
    reference,
    remittance,
    transaction,
)

TX = "PmtInf[1]/CdtTrfTxInf[1]"
BOTH = pytest.mark.parametrize("version", [OLD, NEW])
AGENT = {OLD: "BIC", NEW: "BICFI"}


def sent_by(element: str) -> Bulk:
    """A bulk with this as its debtor agent."""
    return Bulk(agent=f"<DbtrAgt>{element}</DbtrAgt>")


def text_of(content: bytes) -> str:
    report = read(content)
    everything = (report.findings, *(batch.findings for batch in report.batches))
    (finding,) = [finding for findings in everything for finding in findings]
    return finding.text


# Characters


@pytest.mark.parametrize("text", ["Jérôme Łukasiewicz", "Straße", "Œuvre", "Ce\u0301line", "Ţepeş", "A/b-?:().,'+ 9"])
@BOTH
def test_the_scheme_s_set_and_latin_letters_with_marks_are_taken(version: str, text: str) -> None:
    one = transaction(text, creditor=f"<Nm>{text}</Nm>", remittance=remittance(f"<Ustrd>{text}</Ustrd>"))
    assert codes(read(pain(Bulk((one,), name=text), version=version, message_id=text))) == []


@pytest.mark.parametrize("sign", ["_", "&amp;", "*", "€", "Ж", "漢", "ª", "\u0301", "\u00a0", "😀", "@"])
@BOTH
def test_any_other_character_is_refused_and_named(version: str, sign: str) -> None:
    content = pain(Bulk((transaction(creditor=f"<Nm>Jan {sign}</Nm>"),)), version=version)
    assert codes(read(content)) == [(f"{TX}/Cdtr/Nm", "CHARACTERS")]
    assert f"(U+{ord(sign[0]):04X})" in text_of(content)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"endtoend": "E_1"}, "PmtId/EndToEndId"),
        ({"remittance": reference("INV_1")}, "RmtInf/Strd/CdtrRefInf/Ref"),
        ({"remittance": remittance("<Ustrd>a_b</Ustrd>")}, "RmtInf/Ustrd"),
        ({"creditor": "<Nm>Jan</Nm><PstlAdr><AdrLine>rue_1</AdrLine></PstlAdr>"}, "Cdtr/PstlAdr/AdrLine"),
    ],
)
@BOTH
def test_a_character_is_found_in_every_text_that_is_sent_on(version: str, changes: dict[str, str], place: str) -> None:
    assert codes(read(pain(Bulk((transaction(**changes),)), version=version))) == [(f"{TX}/{place}", "CHARACTERS")]


def test_contact_details_are_not_sent_on_so_their_characters_are_free() -> None:
    creditor = "<Nm>Jan</Nm><CtctDtls><EmailAdr>jan_p@example.com</EmailAdr></CtctDtls>"
    assert codes(read(pain(Bulk((transaction(creditor=creditor),))))) == []


def test_an_indented_file_holds() -> None:
    assert codes(read(pain(Bulk()).replace(b"><", b">\r\n\t <"))) == []


def test_the_debtor_s_name_is_of_the_set_too() -> None:
    content = pain(Bulk()).replace(b"<Dbtr><Nm>Bakkerij</Nm>", b"<Dbtr><Nm>Bakkerij &amp; Zoon</Nm>")
    assert codes(read(content)) == [("PmtInf[1]/Dbtr/Nm", "CHARACTERS")]


# References


@pytest.mark.parametrize("wrong", ["/1", "1/", "a//b", "/", "//"])
def test_a_reference_neither_begins_nor_ends_with_a_slash_nor_holds_two(wrong: str) -> None:
    assert codes(read(pain(Bulk((transaction(wrong),))))) == [(f"{TX}/PmtId/EndToEndId", "REFERENCE_SLASHES")]
    instruction = transaction().replace("<PmtId>", f"<PmtId><InstrId>{wrong}</InstrId>")
    assert codes(read(pain(Bulk((instruction,))))) == [(f"{TX}/PmtId/InstrId", "REFERENCE_SLASHES")]
    assert codes(read(pain(Bulk(name=wrong)))) == [("PmtInf[1]/PmtInfId", "PMT_INF_ID")]
    assert codes(read(pain(Bulk(), message_id=wrong))) == [("GrpHdr/MsgId", "MSG_ID")]


@pytest.mark.parametrize("right", ["1/2", "ABC/060928/CCT001", "a/b/c"])
def test_a_slash_within_a_reference_is_taken(right: str) -> None:
    assert codes(read(pain(Bulk((transaction(right),), name=right), message_id=right))) == []


@pytest.mark.parametrize("text", ["INV_1", "2027_1"])
def test_an_identification_names_the_character_that_is_refused(text: str) -> None:
    assert "'_' (U+005F)" in text_of(pain(Bulk(), message_id=text))
    assert "'_' (U+005F)" in text_of(pain(Bulk(name=text)))


@pytest.mark.parametrize("text", ["090933755494", "RF19539007547034", "INVOICE 2027/118", "A"])
@BOTH
def test_a_creditor_reference_is_free_text_of_the_set(version: str, text: str) -> None:
    report = read(pain(Bulk((transaction(remittance=reference(text)),)), version=version))
    assert codes(report) == []
    assert report.valid_batches[0].transfers[0].structured == text


def scheme(name: str, text: str) -> str:
    """A creditor reference with the scheme that it follows."""
    kind = "<CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry>" if name != "OGM" else "<CdOrPrtry><Prtry>OGM</Prtry></CdOrPrtry>"
    issuer = f"<Issr>{name}</Issr>" if name not in ("OGM", "") else ""
    return remittance(f"<Strd><CdtrRefInf><Tp>{kind}{issuer}</Tp><Ref>{text}</Ref></CdtrRefInf></Strd>")


@pytest.mark.parametrize(
    "name, text, taken",
    [
        ("BBA", "090933755493", True),
        ("BBA", "+++090/9337/55493+++", True),
        ("BBA", "090933755494", False),
        ("BBA", "INVOICE 118", False),
        ("BBA", "RF18539007547034", False),
        ("bba", "090933755494", False),
        ("OGM", "090933755493", True),
        ("OGM", "090933755494", False),
        ("ISO", "RF18539007547034", True),
        ("ISO", "RF19539007547034", False),
        ("ISO", "090933755493", False),
        ("RF", "RF19539007547034", False),
        ("KBO", "090933755494", True),
        ("", "RF19539007547034", True),
    ],
)
@BOTH
def test_a_reference_whose_scheme_has_check_digits_has_right_ones(
    version: str, name: str, text: str, taken: bool
) -> None:
    content = pain(Bulk((transaction(remittance=scheme(name, text)),)), version=version)
    assert codes(read(content)) == ([] if taken else [(f"{TX}/RmtInf/Strd/CdtrRefInf/Ref", "STRUCTURED")])
    assert codes(read_file("pain.001", content, ValidationRules(TODAY, with_digits=False))) == []


def test_a_wrong_reference_is_told_with_its_scheme_and_form() -> None:
    told = text_of(pain(Bulk((transaction(remittance=scheme("ISO", "RF19539007547034")),))))
    assert (
        told == "RF19539007547034 is of the scheme ISO, and not a reference of ISO 11649: RF, 2 check digits, 21 signs"
    )


# Amounts and addresses


@pytest.mark.parametrize("number, taken", [("999999999.99", True), ("1000000000.00", False), ("9999999999999", False)])
@BOTH
def test_a_transaction_has_a_most(version: str, number: str, taken: bool) -> None:
    content = pain(Bulk((transaction(amount=euros(number)),)), version=version)
    assert codes(read(content)) == ([] if taken else [(f"{TX}/Amt/InstdAmt", "AMOUNT")])


def test_several_transactions_may_make_more_than_that() -> None:
    assert (
        codes(read(pain(Bulk(tuple(transaction(f"E-{one}", amount=euros("999999999.99")) for one in range(3)))))) == []
    )


def test_an_amount_over_the_most_is_told_with_it() -> None:
    told = text_of(pain(Bulk((transaction(amount=euros("1000000000")),))))
    assert told == "1000000000 is over 999999999.99, the most of one SEPA credit transfer"


@pytest.mark.parametrize("lines, taken", [(0, True), (2, True), (3, False), (7, False)])
@BOTH
def test_an_address_has_two_lines_at_most(version: str, lines: int, taken: bool) -> None:
    address = f"<PstlAdr><Ctry>BE</Ctry>{'<AdrLine>Rue Haute 1</AdrLine>' * lines}</PstlAdr>"
    of_creditor = pain(Bulk((transaction(creditor=f"<Nm>Jan Peeters</Nm>{address}"),)), version=version)
    assert codes(read(of_creditor)) == ([] if taken else [(f"{TX}/Cdtr/PstlAdr", "ADDRESS_LINES")])
    of_debtor = pain(Bulk(), version=version).replace(
        b"<Dbtr><Nm>Bakkerij</Nm>", f"<Dbtr><Nm>Bakkerij</Nm>{address}".encode()
    )
    assert codes(read(of_debtor)) == ([] if taken else [("PmtInf[1]/Dbtr/PstlAdr", "ADDRESS_LINES")])


def test_too_many_lines_are_counted_in_the_text() -> None:
    address = f"<PstlAdr>{'<AdrLine>a</AdrLine>' * 3}</PstlAdr>"
    assert text_of(pain(Bulk((transaction(creditor=f"<Nm>Jan</Nm>{address}"),)))) == "it has 3 AdrLine; 2 are taken"


# Local instrument


def instrument(inner: str, level: str = "") -> str:
    return f"<PmtTpInf>{level}<LclInstrm>{inner}</LclInstrm></PmtTpInf>"


INST = "<Cd>INST</Cd>"
TODAY_TEXT = "2027-03-01"


def of_one(kind: str, name: str = "E-1") -> str:
    return transaction(name).replace("</PmtId>", f"</PmtId>{kind}")


@BOTH
def test_a_bulk_or_each_of_its_transactions_asks_for_instant_transfers(version: str) -> None:
    kind = instrument(INST, "<SvcLvl><Cd>SEPA</Cd></SvcLvl>")
    for bulk in (Bulk(kind=kind, day=TODAY_TEXT), Bulk((of_one(kind), of_one(kind, "E-2")), day=TODAY_TEXT)):
        report = read(pain(bulk, version=version))
        assert codes(report) == [] and report.valid_batches[0].is_instant
    assert not read(pain(Bulk(), version=version)).valid_batches[0].is_instant


@pytest.mark.parametrize(
    "inner, level, day, place, told",
    [
        ("<Cd>CORE</Cd>", "", TODAY_TEXT, "PmtTpInf/LclInstrm", "CORE is not taken: INST is, as Cd"),
        ("<Prtry>INST</Prtry>", "", TODAY_TEXT, "PmtTpInf/LclInstrm", "a local instrument of one's own (Prtry) is not"),
        (INST, "<SvcLvl><Cd>URGP</Cd></SvcLvl>", TODAY_TEXT, "PmtTpInf/LclInstrm", "INST cannot go with the service"),
        (INST, "", "2027-03-02", "ReqdExctnDt", "INST goes with today, 2027-03-01"),
    ],
)
@BOTH
def test_a_local_instrument_that_cannot_be_is_refused_and_never_passed_over(
    version: str, inner: str, level: str, day: str, place: str, told: str
) -> None:
    content = pain(Bulk(kind=instrument(inner, level), day=day), version=version)
    assert codes(read(content)) == [(f"PmtInf[1]/{place}", "LOCAL_INSTRUMENT")]
    assert told in text_of(content)


def test_a_transaction_with_another_local_instrument_is_refused() -> None:
    content = pain(Bulk((of_one(instrument("<Cd>TRF</Cd>")),)))
    assert codes(read(content)) == [(f"{TX}/PmtTpInf/LclInstrm", "LOCAL_INSTRUMENT")]


def test_a_bulk_that_is_instant_in_part_is_refused() -> None:
    content = pain(Bulk((of_one(instrument(INST)), transaction("E-2")), day=TODAY_TEXT))
    assert codes(read(content)) == [("PmtInf[1]/PmtTpInf/LclInstrm", "LOCAL_INSTRUMENT")]
    assert text_of(content) == "1 of 2 transactions ask for INST: all of a bulk do, or none does"


# Charges, service level, agent


@pytest.mark.parametrize("bearer, taken", [("SLEV", True), ("SHAR", False), ("DEBT", False), ("CRED", False)])
@BOTH
def test_charges_follow_the_service_level(version: str, bearer: str, taken: bool) -> None:
    element = f"<ChrgBr>{bearer}</ChrgBr>"
    of_one = pain(Bulk((transaction(agent=element),)), version=version)
    of_all = pain(Bulk(charges=element), version=version)
    assert codes(read(of_one)) == ([] if taken else [(f"{TX}/ChrgBr", "CHARGE_BEARER")])
    assert codes(read(of_all)) == ([] if taken else [("PmtInf[1]/ChrgBr", "CHARGE_BEARER")])


@pytest.mark.parametrize(
    "level, taken",
    [
        ("<Cd>SEPA</Cd>", True),
        ("<Cd>URGP</Cd>", True),
        ("<Cd>NURG</Cd>", False),
        ("<Cd>SDVA</Cd>", False),
        ("<Prtry>SEPA</Prtry>", False),
    ],
)
@BOTH
def test_the_service_level_is_that_of_sepa(version: str, level: str, taken: bool) -> None:
    element = f"<PmtTpInf><SvcLvl>{level}</SvcLvl></PmtTpInf>"
    of_one = transaction().replace("</PmtId>", f"</PmtId>{element}")
    place = "PmtTpInf/SvcLvl"
    assert codes(read(pain(Bulk((of_one,)), version=version))) == (
        [] if taken else [(f"{TX}/{place}", "SERVICE_LEVEL")]
    )
    of_all = pain(Bulk(kind=element), version=version)
    assert codes(read(of_all)) == ([] if taken else [(f"PmtInf[1]/{place}", "SERVICE_LEVEL")])


@pytest.mark.parametrize(
    "bic, taken",
    [(BANK_BIC, True), (f"{BANK_BIC}XXX", True), ("NOTPROVIDED", True), ("KREDBEBB", False), (f"{BANK_BIC}ABC", False)],
)
@BOTH
def test_the_debtor_agent_is_this_bank(version: str, bic: str, taken: bool) -> None:
    name = AGENT[version]
    report = read(pain(sent_by(f"<FinInstnId><{name}>{bic}</{name}></FinInstnId>"), version=version))
    assert codes(report) == ([] if taken else [(f"PmtInf[1]/DbtrAgt/FinInstnId/{name}", "DEBTOR_AGENT")])


@BOTH
def test_an_agent_that_is_not_provided_is_taken(version: str) -> None:
    agent = "<FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId>"
    assert codes(read(pain(sent_by(agent), version=version))) == []
    bic = f"<CdtrAgt><FinInstnId><{AGENT[version]}>NOTPROVIDED</{AGENT[version]}></FinInstnId></CdtrAgt>"
    report = read(pain(Bulk((transaction(agent=bic),)), version=version))
    assert codes(report) == [] and report.valid_batches[0].transfers[0].creditor_bic is None


# Versions


@pytest.mark.parametrize("version", ["pain.001.001.08", "pain.001.001.10", "pain.001.001.12", "pain.001.003.03"])
def test_another_version_is_refused_by_the_names_of_those_taken(version: str) -> None:
    content = pain(Bulk()).replace(b"pain.001.001.03", version.encode())
    assert codes(read(content)) == [("Document", "VERSION")]
    assert text_of(content) == f"the file is {version}; taken are pain.001.001.03 and pain.001.001.09"


# Texts


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (pain(Bulk((transaction(remittance=remittance("<Strd/>")),))), "needs its reference, CdtrRefInf/Ref"),
        (pain(Bulk((transaction(account="<Othr><Id>1</Id></Othr>"),))), "it is missing"),
        (pain(Bulk(account="<Id><Othr><Id>539</Id></Othr></Id>")), "it is missing"),
        (
            pain(Bulk((transaction(amount='<EqvtAmt><Amt Ccy="EUR">1</Amt><CcyOfTrf>EUR</CcyOfTrf></EqvtAmt>'),))),
            "EqvtAmt is not taken",
        ),
        (pain(Bulk(day="<DtTm>2027-03-02T08:00:00</DtTm>"), version=NEW), "DtTm is not taken"),
        (csv({"amount": ""}), "amount: it is missing"),
        (csv({"debtor_iban": ""}), "debtor_iban: it is missing"),
        (csv({"currency": ""}), "currency: it is missing"),
        (csv({"requested_execution_date": ""}), "requested_execution_date: it is missing"),
    ],
)
def test_a_finding_says_what_is_missing_and_what_is_taken_instead(content: bytes, told: str) -> None:
    assert told in text_of(content)


@pytest.mark.parametrize(("version", "name"), AGENT.items())
def test_a_bic_beside_no_iban_is_not_called_one_of_another_country(version: str, name: str) -> None:
    agent = f"<CdtrAgt><FinInstnId><{name}>KREDBEBB</{name}></FinInstnId></CdtrAgt>"
    one = transaction(agent=agent, account="<Othr><Id>1</Id></Othr>")
    assert codes(read(pain(Bulk((one,)), version=version))) == [(f"{TX}/CdtrAcct/Id/IBAN", "IBAN")]


@pytest.mark.parametrize(
    ("content", "has_findings"),
    [
        (pain(Bulk((transaction(creditor="<Nm>A &amp; B</Nm>"),))), True),
        (pain(Bulk((transaction("caf\u00e9"),))), False),
        (pain(Bulk(name="caf\u00e9")), False),
        (pain(Bulk(), message_id="caf\u00e9"), False),
        (pain(Bulk((transaction(remittance=reference("090933755494")),))), False),
        (pain(Bulk()).decode().replace("UTF-8", "UTF-16").encode("utf-16"), False),
    ],
)
def test_signs_outside_the_character_set_are_findings_and_free_references_are_none(
    content: bytes, has_findings: bool
) -> None:
    assert bool(read_file("pain.001", content, ValidationRules(TODAY)).findings_count) == has_findings


def test_a_text_of_any_length_is_looked_at_once() -> None:
    assert checks.find_forbidden_character("é" * 1_000_000 + "_") == "_"


def test_what_is_usual_is_what_the_slow_way_takes() -> None:
    for sign in map(chr, range(0x20, 0x3000)):
        taken = checks.is_latin(sign) or checks.SEPA_SET.fullmatch(sign) is not None
        assert (checks.find_forbidden_character(sign) is None) == taken, hex(ord(sign))
