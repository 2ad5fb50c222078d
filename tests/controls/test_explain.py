"""Explain by Request-ID: the rule, its clause, the state and the time of every answer (choice 10)."""

from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.test import TestResponse

from sandbox.contract.errors import OF_CONTROLS, Error
from tests import contracts
from tests.contract.test_body_reader import EARLIER
from tests.payer import a_code, code_form, post_form
from tests.reader import Reader, consent_uris, post_token, refresh_form
from tests.spec import files
from tests.stories import explained, faulty, ruled, signed_by_alice
from tests.tpp import BELGIAN, SCT, XB, Tpp, payment, version

AMERICAN = {"bban": "123456789", "country": "US", "bank_national_id": "021000021", "bic": "CHASUS33"}
LIMITED = "limited"


def paid(**changes: Any) -> Callable[[Tpp], TestResponse]:
    return lambda tpp: tpp.initiate(body=payment(**changes))


def across(**changes: Any) -> Callable[[Tpp], TestResponse]:
    return lambda tpp: tpp.initiate(XB, payment(XB, **changes))


def ordered(**changes: Any) -> Callable[[Tpp], TestResponse]:
    return lambda tpp: contracts.order(tpp, contracts.contract(**changes))


def sent(**headers: Any) -> Callable[[Tpp], TestResponse]:
    return lambda tpp: tpp.initiate(**headers)


def from_account(customer: str, **changes: Any) -> Callable[[Tpp], TestResponse]:
    return lambda tpp: tpp.initiate(body=payment(debtor_account={"iban": tpp.iban_of(customer)}, **changes))


def withdrawn(tpp: Tpp) -> TestResponse:
    reader = Reader(tpp)
    ids = list(reader.ids.values())
    tpp.control("POST", "/psu/withdraw", client_id="demo-tpp", customer="alice", scope="AIS")
    return reader.get(f"/accounts/{ids[0]}")


def again(tpp: Tpp) -> TestResponse:
    reader = Reader(tpp)
    ids = list(reader.ids.values())
    tpp.advance("91d")
    reader.renew()
    return reader.get(f"/accounts/{ids[0]}/transactions")


def of_another(tpp: Tpp) -> TestResponse:
    token = f"Bearer {tpp.token_for('bram')}"
    payment_id = signed_by_alice(tpp)
    return tpp.call("GET", f"/payments/{SCT}/{payment_id}/details", authorization=token)


def too_late(tpp: Tpp) -> TestResponse:
    token = f"Bearer {tpp.token_for('alice')}"
    payment_id = signed_by_alice(tpp)
    return tpp.call("DELETE", f"/payments/{SCT}/{payment_id}", accept=version(2), authorization=token)


def twice(tpp: Tpp) -> TestResponse:
    tpp.initiated()
    tpp.initiated()
    return tpp.call("GET", f"/payments/{SCT}/INVOICE-2027-001/status?paymentIdType=EXTERNAL")


def outside_sepa(tpp: Tpp) -> TestResponse:
    body = {"debtor_account": {"iban": tpp.iban_of(LIMITED)}, "instructed_amount__amount": "1.00"}
    return tpp.initiate(XB, payment(XB, **body))


def wrong_verifier(tpp: Tpp) -> TestResponse:
    return post_form(tpp, code_form(a_code(tpp), code_verifier="x" * 43))


def closed(tpp: Tpp) -> TestResponse:
    tpp.control("PATCH", f"/accounts/{tpp.iban_of('alice')}", closed=True)
    return from_account("alice")(tpp)


# One call that provokes each error; those that come by a fault or a rule of the scenario alone stand below.
def one_file_too_many(tpp: Tpp) -> TestResponse:
    tpp.control("PATCH", "/settings", files_waiting_max=1)
    files.sent(tpp, b"a", "csv")
    return files.send(tpp, b"b", "csv")


PROVOKED: dict[Error, Callable[[Tpp], TestResponse]] = {
    Error.HEADER_MISSING: sent(redirect_uri=None),
    Error.INPUT_MISSING: paid(creditor_name=None),
    Error.HEADER_INVALID: sent(redirect_uri="https://example.org/"),
    Error.INPUT_INVALID: paid(colour="red"),
    Error.ENDTOEND_MISSING: paid(endtoend_identification=None),
    Error.COUNTRY_NOT_ACCEPTED: paid(creditor_account__iban="TR330006100519786457841326"),
    Error.AMOUNT_NOT_POSITIVE: paid(instructed_amount__amount="0"),
    Error.CURRENCY_NOT_ACCEPTED: paid(instructed_amount__currency="USD"),
    Error.BBAN_WITH_BIC: across(creditor_account=AMERICAN),
    Error.BEGIN_NOT_FUTURE: ordered(start_date="2027-03-01"),
    Error.END_MONTH_OFF_PERIOD: ordered(frequency="QUARTERLY", end_date="2027-05-31"),
    Error.END_BEFORE_START: ordered(end_date="2027-03-31"),
    Error.BIC_WRONG: across(creditor_account={"iban": "TR330006100519786457841326"}),
    Error.ACCESS_TOKEN_REFUSED: sent(authorization="Bearer x"),
    Error.REFRESH_TOKEN_REFUSED: lambda tpp: post_token(tpp, refresh_form("x")),
    Error.SECURITY_INPUT_REFUSED: wrong_verifier,
    Error.CLIENT_UNKNOWN: sent(client_id="nobody"),
    Error.CREDENTIALS_REFUSED: lambda tpp: post_token(tpp, refresh_form("x"), credentials=("demo-tpp", "x")),
    Error.SECURITY_PROOF_REFUSED: lambda tpp: Reader(tpp).get("/accounts/x"),
    Error.SCA_REQUIRED: again,
    Error.TPP_INVALID: sent(client_id="idle-tpp"),
    Error.ACCOUNT_FOREIGN: paid(debtor_account={"iban": BELGIAN}),
    Error.ACCOUNT_CLOSED: closed,
    Error.ACCOUNT_SAVINGS: paid(debtor_account={"iban": "BE36539100002481"}),
    Error.ACCESS_DENIED: of_another,
    Error.CHANNEL_CLOSED: from_account("blocked"),
    Error.CONSENT_ENDED: withdrawn,
    Error.NON_SEPA_BARRED: outside_sepa,
    Error.PROFILE_FORBIDS: from_account("alice", instruction_priority="HIGH"),
    Error.FUNDS_MISSING: from_account("poor", instructed_amount__amount="99999.00"),
    Error.NOT_CANCELLABLE: too_late,
    Error.NOT_FOUND: lambda tpp: tpp.status("x"),
    Error.METHOD_NOT_ALLOWED: lambda tpp: tpp.call("DELETE", f"/payments/{XB}/x", accept=version(2)),
    Error.NOT_ACCEPTABLE: sent(accept="*/*"),
    Error.LANGUAGE_NOT_ACCEPTABLE: sent(accept_language="xx"),
    Error.CONFLICT: twice,
    Error.FILES_WAITING: one_file_too_many,
    Error.UNSUPPORTED_MEDIA_TYPE: lambda tpp: files.send(tpp, b"x", content_type="text/plain"),
}
BY_ORDER = {
    Error.REQUEST_TIMEOUT: 408,
    Error.TOO_MANY_REQUESTS: 429,
    Error.CERTIFICATE_REFUSED: 495,
    Error.INTERNAL: 500,
    Error.UNAVAILABLE: 503,
}


# The rule that refuses a DELETE of a cross-border payment stands with the cancellations.
OF_THE_RULE_THAT_SPOKE = {
    Error.METHOD_NOT_ALLOWED: "service 3.4",
    Error.INPUT_MISSING: "service 2.1",
    Error.INPUT_INVALID: "choice 5",
    Error.CURRENCY_NOT_ACCEPTED: "service 2.1.4",
    Error.PROFILE_FORBIDS: "service 2.1.6",
    Error.SECURITY_PROOF_REFUSED: "choice 8",
}
FUNDS = {"needed", "booked", "reserved", "overdraft", "available"}
# What decided is told under these names.
DECIDED = {
    Error.INPUT_MISSING: {"product"},
    Error.ENDTOEND_MISSING: {"product"},
    Error.INPUT_INVALID: {"sent"},
    Error.HEADER_INVALID: {"sent"},
    Error.COUNTRY_NOT_ACCEPTED: {"country", "accepted"},
    Error.CURRENCY_NOT_ACCEPTED: {"currency", "product", "accepted"},
    Error.BBAN_WITH_BIC: {"bban", "bic"},
    Error.BIC_WRONG: {"country"},
    Error.CLIENT_UNKNOWN: {"client_id"},
    Error.TPP_INVALID: {"active"},
    Error.ACCOUNT_FOREIGN: {"iban"},
    Error.ACCOUNT_CLOSED: {"iban", "closed"},
    Error.ACCOUNT_SAVINGS: {"iban", "type"},
    Error.CHANNEL_CLOSED: {"customer", "channel_blocked"},
    Error.NON_SEPA_BARRED: {"non_sepa"},
    Error.PROFILE_FORBIDS: {"customer_kind"},
    Error.LANGUAGE_NOT_ACCEPTABLE: {"sent"},
    Error.UNSUPPORTED_MEDIA_TYPE: {"sent"},
    Error.BEGIN_NOT_FUTURE: {"today", "start_date"},
    Error.END_BEFORE_START: {"start_date", "end_date"},
    Error.END_MONTH_OFF_PERIOD: {"start_date", "end_date", "frequency"},
    Error.SCA_REQUIRED: {"authenticated", "days_since", "days_allowed", "consent_until", "history_from"},
    Error.AMOUNT_NOT_POSITIVE: {"amount", "above"},
    Error.NOT_ACCEPTABLE: {"offered"},
    Error.FILES_WAITING: {"files_waiting", "bytes_waiting", "bytes_of_this", "bytes_allowed", "retry_after_seconds"},
    Error.CONSENT_ENDED: {"given", "valid_until"},
    Error.FUNDS_MISSING: FUNDS,
    Error.NOT_CANCELLABLE: {"status", "since", "cancellable_while"},
    Error.CONFLICT: {"fitting", "newest"},
}


# The sentence says it all, or a secret decided, which is not told.
WITHOUT_NUMBERS = {
    Error.HEADER_MISSING,
    Error.CREDENTIALS_REFUSED,
    Error.SECURITY_PROOF_REFUSED,
    Error.ACCESS_DENIED,
    Error.NOT_FOUND,
    Error.METHOD_NOT_ALLOWED,
    # By a fault rule alone, or because the bank itself failed.
    Error.REQUEST_TIMEOUT,
    Error.INTERNAL,
    Error.UNAVAILABLE,
}


def refreshed_twice(tpp: Tpp) -> TestResponse:
    reader = Reader(tpp)
    first = reader.refresh
    post_token(tpp, refresh_form(first))
    return post_token(tpp, refresh_form(first))


def outdated_code(tpp: Tpp) -> TestResponse:
    code = a_code(tpp)
    tpp.advance("11m")
    return post_form(tpp, code_form(code))


def reused_id(tpp: Tpp) -> TestResponse:
    request_id = "5f0f62d4-3c3c-4a7e-8a9b-0c2f1d6b7e11"
    tpp.initiate(request_id=request_id)
    return tpp.initiate(body=payment(creditor_name="Another"), request_id=request_id)


def expired_token(tpp: Tpp) -> TestResponse:
    token = f"Bearer {tpp.token_for('alice')}"
    tpp.advance("61m")
    return tpp.initiate(authorization=token)


def over_the_rate(tpp: Tpp) -> TestResponse:
    tpp.control("PATCH", "/settings", requests_per_minute=1)
    tpp.initiate()
    return tpp.initiate()


def of_the_list(query: str) -> Callable[[Tpp], TestResponse]:
    def read(tpp: Tpp) -> TestResponse:
        reader = Reader(tpp)
        return reader.get(f"/accounts/{next(iter(reader.ids.values()))}/transactions?{query}")

    return read


def two_signatures(tpp: Tpp) -> TestResponse:
    return contracts.order(tpp, contracts.contract(debtor_account={"iban": tpp.iban_of("notaris")}))


# Further ways to the errors where another number or date decides.
NUMBERS: list[tuple[Error, Callable[[Tpp], TestResponse], set[str]]] = [
    (Error.INPUT_INVALID, paid(instructed_amount__amount="1.234"), {"sent"}),  # the pattern, not the currency
    (
        Error.INPUT_INVALID,
        across(instructed_amount={"amount": "1.50", "currency": "JPY"}),
        {"amount", "decimals_allowed"},
    ),
    (Error.INPUT_INVALID, paid(requested_execution_date="2027-02-28"), {"today", "asked", "days_ahead"}),
    (Error.INPUT_INVALID, ordered(execution_date="2027-04-09"), {"execution_date", "earliest", "latest"}),
    (Error.INPUT_INVALID, of_the_list("pagesize=51"), {"pagesize", "least", "most"}),
    (Error.INPUT_INVALID, of_the_list("date_from=2027-02-01&date_to=2027-01-01"), {"date_from", "date_to"}),
    (Error.HEADER_INVALID, reused_id, {"first_used", "used_for"}),
    (Error.SECURITY_INPUT_REFUSED, outdated_code, {"valid_until"}),
    (
        Error.SECURITY_INPUT_REFUSED,
        sent(Date="Mon, 01 Mar 2026 08:00:00 GMT"),
        {"given", "bank_time", "real_time", "seconds_allowed"},
    ),
    (Error.ACCESS_TOKEN_REFUSED, expired_token, {"expired_at", "life_seconds"}),
    (Error.REFRESH_TOKEN_REFUSED, refreshed_twice, {"newer_pair_until"}),
    (Error.PROFILE_FORBIDS, two_signatures, {"signatures_required", "signatures_allowed"}),
    (Error.PROFILE_FORBIDS, from_account("limited", instructed_amount__amount="251.00"), {"limit", "used", "left"}),
    (Error.TOO_MANY_REQUESTS, over_the_rate, {"requests_per_minute", "retry_after_seconds"}),
]
# Shown elsewhere: the dates of a certificate in trust/, the room of a server in bank/test_bytes.py.
ELSEWHERE = {Error.CERTIFICATE_REFUSED, Error.FILES_FULL}


def test_each_error_of_the_catalogue_has_its_numbers_or_can_have_none() -> None:
    numbered = {*DECIDED, *(error for error, _, keys in NUMBERS if keys), *ELSEWHERE}
    assert numbered | WITHOUT_NUMBERS == set(Error) - OF_CONTROLS
    assert numbered & WITHOUT_NUMBERS == set()


@pytest.mark.parametrize(("error", "provoke", "keys"), NUMBERS)
def test_the_number_or_the_date_that_decided_is_named(
    tpp: Tpp, error: Error, provoke: Callable[[Tpp], TestResponse], keys: set[str]
) -> None:
    reply = provoke(tpp)
    row = why(tpp, reply)
    assert row["error"] == error.name, reply.text
    assert set(row["decided_by"]) >= keys and bool(row["decided_by"]) is bool(keys)


BY_THE_SERVER = {Error.FILES_FULL}  # bank/test_bytes.py fills one


def refreshed(**changes: str) -> Callable[[Tpp], TestResponse]:
    return lambda tpp: post_token(tpp, refresh_form(Reader(tpp).refresh) | changes)


def consented(query: str) -> Callable[[Tpp], TestResponse]:
    return lambda tpp: consent_uris(tpp, query)


LOWER = BELGIAN.lower()
STRUCTURED = "remittance_information_structured"
# A call that is refused, the clause of the rule that refused it, what decided, and words of the sentence.
CITED: list[tuple[Callable[[Tpp], TestResponse], str, dict[str, Any], str]] = [
    (paid(debtor_account={}), "service 2.1.2", {"sent": "{}"}, "'debtor_account.iban' is missing"),
    (paid(debtor_account={"currency": "EUR"}), "service 2.1.2", {"sent": '{"currency": "EUR"}'}, "is missing"),
    (paid(debtor_account={"iban": LOWER}), "service 2.1.1", {"sent": LOWER}, "country letters must be upper case"),
    (paid(debtor_account={"iban": BELGIAN, "currency": "eur"}), "service 2.1.1", {"sent": "eur"}, "upper-case"),
    (
        paid(debtor_account={"iban": BELGIAN, "currency": "USD"}),
        "service 2.1.1",
        {"currency": "USD", "product": SCT, "accepted": "EUR"},
        "USD",
    ),
    (paid(debtor_account={"iban": "BE00"}), "choice 5", {"sent": "BE00"}, "no valid IBAN"),
    (paid(creditor_account__iban=LOWER), "service 2.1.3", {"sent": LOWER}, "country letters must be upper case"),
    (
        paid(creditor_account__iban="GB29nwbk60161331926819"),
        "choice 5",
        {"sent": "GB29nwbk60161331926819"},
        "its letters must be upper case",
    ),
    (paid(creditor_account__iban="BE68 5390 0754 7034"), "choice 5", {"sent": "BE68 5390 0754 7034"}, "without blanks"),
    (paid(creditor_account={}), "service 2.1", {"product": SCT}, "missing"),
    (paid(creditor_account__country="be"), "service 2.1.3", {"sent": "be"}, "two upper-case letters"),
    (paid(instructed_amount__amount="12,50"), "service 2.1.4", {"sent": "12,50"}, "decimal string"),
    (paid(instructed_amount__amount=12.5), "service 2.1.4", {"sent": "12.5"}, "decimal string"),
    (paid(instructed_amount={"currency": "EUR"}), "service 2.1.4", {"sent": '{"currency": "EUR"}'}, "missing"),
    (
        across(instructed_amount={"amount": "1.50", "currency": "JPY"}),
        "service 2.1.4",
        {"amount": "1.50", "decimals_allowed": 0},
        "fewer decimals",
    ),
    (across(instructed_amount={"amount": "1"}), "service 2.1", {"product": XB}, "missing"),
    (
        across(instructed_amount={"amount": "1", "currency": "XXX"}),
        "service 2.1.8",
        {"currency": "XXX", "product": XB},
        "XXX",
    ),
    (paid(**{STRUCTURED: "RF18539007547034"}), "service 2.1.5", {"sent": "RF18539007547034"}, "no Belgian"),
    (paid(purpose_code="SALA"), "service 2.1", {"product": SCT}, "has no such field"),
    (across(**{STRUCTURED: "+++090/9337/55493+++"}), "service 2.1", {"product": XB}, "has no such field"),
    (paid(colour="red"), "choice 5", {"sent": "red"}, "colour"),
    (from_account("alice", instruction_priority="HIGH"), "service 2.1.6", {"customer_kind": "private"}, "urgent"),
    (ordered(debtor_account={}), "service 2.2", {"sent": "{}"}, "missing"),
    (ordered(creditor_account__iban=LOWER), "service 2.2", {"sent": LOWER}, "country letters"),
    (ordered(instructed_amount={"currency": "EUR"}), "service 2.2", {"periodic_payment_type": "FIXED"}, "missing"),
    (ordered(frequency="DAILY"), "choice 6", {"sent": "DAILY"}, "WEEKLY"),
    (ordered(start_date=None), "choice 6", {"product": "periodic-payments"}, "missing"),
    (
        ordered(periodic_payment_type="VARIABLE", instructed_amount={"currency": "EUR"}),
        "service 2.2.1",
        {"periodic_payment_type": "VARIABLE", "type": None},
        "savings account",
    ),
    (two_signatures, "service 1", {"signatures_required": 2, "signatures_allowed": 1}, "two signatures"),
    (of_the_list("pagesize=51"), "service 4.10", {"pagesize": "51", "least": 1, "most": 50}, "1 to 50"),
    (of_the_list("psu_involved=yes"), "service 4.10", {"sent": "yes"}, "true or false"),
    (of_the_list("date_from=1.2.2027"), "service 4.10", {"sent": "1.2.2027"}, "YYYY-MM-DD"),
    (of_the_list("next=x"), "choice 8", {}, "no key of this list"),
    (refreshed(scope="PIS"), "service 4.8", {"scope": "PIS", "granted": "AIS"}, "granted was AIS"),
    (refreshed(code="x"), "service 4.8", {"grant_type": "refresh_token"}, "does not go with"),
    (consented("scope=CAF"), "service 4.7", {"scope": "CAF", "version": 4}, "is for AIS"),
    (sent(request_id="7"), "service 4.0", {"sent": "7"}, "UUID"),
    (sent(code_challenge=None), "service 4.1", {}, "missing"),
    (sent(Date="yesterday"), "choice 9", {}, "ISO 8601"),
    (reused_id, "choice 2", {}, "used before"),
]


@pytest.mark.parametrize(("provoke", "clause", "facts", "words"), CITED)
def test_a_refusal_cites_the_clause_of_its_own_rule_and_what_decided(
    tpp: Tpp, provoke: Callable[[Tpp], TestResponse], clause: str, facts: dict[str, Any], words: str
) -> None:
    row = why(tpp, provoke(tpp))
    assert row["clause"] == clause, row
    assert row["decided_by"].items() >= facts.items()
    assert words in row["rule"]


def test_version_1_cites_the_same_rules_under_its_own_names(tpp: Tpp) -> None:
    reply = tpp.initiate(body=EARLIER | {"communication": "no", "communication_type": "STRUCTURED"}, accept=version(1))
    row = why(tpp, reply)
    assert (row["clause"], row["decided_by"]) == ("service 2.1.5", {"sent": "no"})
    row = why(tpp, tpp.initiate(body=EARLIER | {"execution_date": "2027-02-28"}, accept=version(1)))
    assert row["clause"] == "choice 5" and "'execution_date'" in row["rule"]


def why(tpp: Tpp, reply: TestResponse) -> dict[str, Any]:
    return explained(tpp, reply.headers["Response-ID"])


def test_every_error_of_the_catalogue_is_explained_here() -> None:
    assert {*PROVOKED, *BY_ORDER, *BY_THE_SERVER} == set(Error) - OF_CONTROLS


def test_every_error_of_the_bank_says_what_would_have_succeeded() -> None:
    assert {error for error in Error if not error.value.remedy} <= OF_CONTROLS


@pytest.mark.parametrize("error", PROVOKED, ids=lambda error: error.name)
def test_a_refusal_is_explained_by_its_rule_and_clause(tpp: Tpp, error: Error) -> None:
    reply = PROVOKED[error](tpp)
    row, catalogue = why(tpp, reply), error.value
    assert (reply.status_code, reply.get_json()["error_code"]) == (catalogue.status, catalogue.code), reply.text
    clause = OF_THE_RULE_THAT_SPOKE.get(error, catalogue.clause)
    assert (row["error"], row["clause"], row["status"]) == (error.name, clause, catalogue.status)
    assert row["would_succeed"].endswith(".")
    assert set(row["decided_by"]) == DECIDED.get(error, set())
    assert row["rule"] == reply.get_json()["error_description"]
    assert row["clause"].split()[0] in ("service", "choice")
    assert row["at"] == tpp.control("GET", "/clock").get_json()["now"]


@pytest.mark.parametrize("error", BY_ORDER, ids=lambda error: error.name)
def test_an_error_that_comes_by_a_fault_alone_is_explained_by_the_fault(tpp: Tpp, error: Error) -> None:
    faulty(tpp, title="a bad Monday", when={"operation": "payment_status"}, answer={"status": BY_ORDER[error]})
    reply = tpp.status("x")
    assert reply.get_json()["error_code"] == error.value.code
    row = why(tpp, reply)
    assert (row["rule"], row["clause"], row["status"]) == (
        "a fault rule: a bad Monday", "choice 13", error.value.status,
    )  # fmt: skip


def test_a_refusal_by_a_rule_of_the_scenario_names_it(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "payment"}, refuse="PROFILE_FORBIDS")
    row = why(tpp, tpp.initiate())
    assert (row["error"], row["scenario_rule"]) == ("PROFILE_FORBIDS", "the rule")
    assert "the rule" in row["rule"]


def test_an_accepted_call_is_explained_by_its_operation_the_state_and_the_rule_it_met(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "payment"}, timings={"unsigned_after": "1m"})
    reply = tpp.initiate()
    payment_id = reply.get_json()["payment_id"]
    row = why(tpp, reply)
    content = row.pop("content")
    assert content["address"] == f"/payments/{SCT}" and "12.50" in content["request"]["body"]
    assert '"payment_id"' in content["reply"]["body"] and content["reply"]["cut"] == ""
    assert row == {
        "request_id": reply.headers["Response-ID"],
        "at": "2027-03-01T09:00:00+01:00",
        "operation": "payment_initiation",
        "method": "POST",
        "path": f"/payments/{SCT}",
        "status": 201,
        "client_id": "demo-tpp",
        "error": None,
        "rule": "Accepted: all checks passed",
        "clause": "service 4.1",
        "subject": payment_id,
        "state": "RCVD",
        "scenario_rule": "the rule",
        "variants": {},
        "decided_by": {},
        "would_succeed": None,
        "history": [
            {"at": "2027-03-01T09:00:00+01:00", "from": None, "to": "RCVD", "trigger": "received", "reason": None},
        ],
    }
    tpp.advance("1m")
    later = why(tpp, tpp.status(payment_id))
    assert (later["clause"], later["state"], later["subject"]) == ("service 4.3", "CANC", payment_id)
    assert why(tpp, reply)["state"] == "RCVD"  # as it was judged then


def test_a_cancellation_is_explained_by_the_state_that_permitted_it_or_did_not(tpp: Tpp) -> None:
    token = f"Bearer {tpp.token_for('alice')}"
    payment_id = tpp.initiated()
    path = f"/payments/{SCT}/{payment_id}"
    first, second = (tpp.call("DELETE", path, accept=version(2), authorization=token) for _ in range(2))
    assert (first.status_code, why(tpp, first)["state"]) == (204, "RCVD")
    assert (second.status_code, why(tpp, second)["state"]) == (403, "CANC")


def test_a_path_that_is_none_of_the_banks_is_explained_too(tpp: Tpp) -> None:
    row = why(tpp, tpp.call("GET", "/nowhere"))
    assert (row["error"], row["operation"], row["subject"]) == ("NOT_FOUND", None, None)


def test_the_last_call_under_an_id_is_explained(tpp: Tpp) -> None:
    reply = tpp.initiate()
    request_id = reply.headers["Response-ID"]
    tpp.status("x", request_id=request_id)
    assert explained(tpp, request_id)["operation"] == "payment_status"


def test_an_unknown_call_is_not_found(tpp: Tpp) -> None:
    assert consent_uris(tpp).status_code == 200
    assert tpp.control("GET", "/explain/none").status_code == 404


def test_missing_funds_are_explained_by_what_is_booked_reserved_and_available(tpp: Tpp) -> None:
    reply = from_account("poor", instructed_amount__amount="99999.00")(tpp)
    decided = why(tpp, reply)["decided_by"]
    assert (decided["needed"], decided["booked"], decided["reserved"]) == ("99999.00 EUR", "12.50 EUR", "0.00 EUR")
    assert decided["available"] == "12.50 EUR"


def test_a_limit_is_explained_by_what_is_used_and_left(tpp: Tpp) -> None:
    decided = why(tpp, from_account(LIMITED, instructed_amount__amount="5000.00")(tpp))["decided_by"]
    assert set(decided) == {"limit", "used", "left", "amount", "days"}
    assert (decided["used"], decided["left"], decided["amount"]) == ("0.00 EUR", decided["limit"], "5000.00 EUR")


def test_an_expired_token_is_explained_by_its_end(tpp: Tpp) -> None:
    token = f"Bearer {tpp.token_for('alice')}"
    tpp.advance("61m")
    decided = why(tpp, tpp.initiate(authorization=token))["decided_by"]
    assert decided == {"expired_at": "2027-03-01T10:00:00+01:00", "life_seconds": 3600}


def test_a_rejected_payment_is_explained_by_its_tries_with_their_days_and_balances(tpp: Tpp) -> None:
    begun = tpp.initiate(body=payment(requested_execution_date="2027-03-02", instructed_amount__amount="900000.00"))
    tpp.signed(begun, "alice")
    tpp.advance("14d")
    row = why(tpp, tpp.status(begun.get_json()["payment_id"]))
    assert row["state"] == "RJCT" and row["decided_by"] == {} and row["would_succeed"] is None
    tries = [move for move in row["history"] if "balance" in move]
    assert [move["at"][:10] for move in tries] == ["2027-03-02", "2027-03-03", "2027-03-04", "2027-03-05"]
    assert {move["trigger"] for move in tries} == {"funds_missing", "given_up"}
    assert all(float(move["balance"]["amount"]) < 900000 for move in tries)


def test_a_call_that_succeeds_has_no_number_that_decided(tpp: Tpp) -> None:
    row = why(tpp, tpp.initiate())
    assert (row["decided_by"], row["would_succeed"]) == ({}, None)
    assert [move["to"] for move in row["history"]] == ["RCVD"]


def test_an_explanation_shows_both_sides_of_the_call_without_secrets_while_they_are_kept(tpp: Tpp) -> None:
    refused = tpp.http.post(
        "/token", headers={"Authorization": "Basic ZGVtbw==", "Request-ID": "1"}, data={"code": "hush"}
    )
    content = why(tpp, refused)["content"]
    assert "hush" not in str(content) and "ZGVtbw" not in str(content) and "code=" in content["request"]["body"]
    tpp.control("PATCH", "/settings", contents_kept=0)
    assert why(tpp, tpp.initiate())["content"] is None
