"""Each well-known value of the default scenario leads to what its title says (choice 13)."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from sandbox.bank.rules import ScenarioRule
from sandbox.machine import machine_time
from sandbox.player.runs import Script, run_one
from sandbox.scenarios import load, read_scenario
from sandbox.scenarios.well_known_values import write_markdown
from sandbox.web.docs.site import read_text

Steps = list[dict[str, Any]]
RULES = {f"{rule.title}, {rule.when.kind or 'any kind'}": rule for rule in load("default").rules}
SCT, ISCT, XB = "sepa-credit-transfers", "instant-sepa-credit-transfers", "cross-border-credit-transfers"
OVERSEAS = {
    "creditor_bban": "123456789012",
    "creditor_country": "US",
    "bank_national_id": "021000021",
    "creditor_address": {"city": "Boston", "country": "US"},
    "currency": "USD",
    "debtor": "bram",
    "debtor_currency": "USD",
}


def pay(rule: ScenarioRule, product: str = SCT) -> dict[str, Any]:
    more = OVERSEAS if product == XB else {"debtor": "bram"}
    return {"product": product, "creditor_name": rule.when.creditor_name, "amount": "20.00", **more}


def order(rule: ScenarioRule) -> dict[str, Any]:
    return {"debtor": "bram", "creditor_name": rule.when.creditor_name, "amount": "20.00"}


def file(rule: ScenarioRule) -> dict[str, Any]:
    bulks = [{"amount": "10.00"}, {"amount": "11.00", "on": "2027-03-05"}]
    return {"debtor": "bakkerij", "payment_information_id": rule.when.endtoend_identification, "transfers": bulks}


def is_now(status: str, reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"status": {"of": "it", "expect": {"status": status, "reason": reason, **more}}}


def balance(product: str, wanted: Any) -> dict[str, Any]:
    currency = "USD" if product == XB else "EUR"
    return {"expect": {"account": "bram", "currency": currency, "balance": wanted}}


def initiated(step: dict[str, Any]) -> Steps:
    return [{**step, "as": "it"}]


def signed(step: dict[str, Any]) -> Steps:
    return [*initiated(step), {"psu": {"approves": "it"}}]


def comes_back(rule: ScenarioRule, product: str) -> Steps:
    reason = str(rule.when.creditor_name).removeprefix("Test ")
    begins: Steps = [] if product == ISCT else [is_now("PDNG"), {"clock": "5s"}]
    seconds = int(rule.then[0].after.total_seconds())
    gone: Steps = [is_now("ACSP"), balance(product, {"less": "20.00"}), {"clock": f"{seconds - 1}s"}, is_now("ACSP")]
    gone = [*gone, {"clock": "1s"}]
    return [*signed({"pay": pay(rule, product)}), *begins, *gone, is_now("RJCT", reason), balance(product, "unchanged")]


def never_leaves(rule: ScenarioRule, product: str) -> Steps:
    reason = str(rule.when.creditor_name).removeprefix("Test PDNG ")
    begun = signed({"pay": pay(rule, product)})
    return [*begun, is_now("PDNG"), {"clock": "1s"}, is_now("RJCT", reason), balance(product, "unchanged")]


def refused(rule: ScenarioRule) -> Steps:
    """By what the title names: the token, or digits of the code."""
    told = rule.title.removeprefix("Refused at the POST, ")
    found = {"error_code": f"*-{told}-*"} if told.isdecimal() else {"error": told}
    bodies = {"pay": pay(rule), "order": order(rule)}
    words = {"payment": ["pay"], "standing_order": ["order"]}.get(rule.when.kind or "", ["pay", "order"])
    return [{word: {**bodies[word], "refused": True, "expect": found}} for word in words]


def file_refused(rule: ScenarioRule) -> Steps:
    told = {"FORBIDDEN": "FORBIDDEN", "CHANNEL": "CHANNEL_NOT_PERMITTED", "429": 429, "503": 503}
    return [{"file": {**file(rule), "refused": told[rule.title.removeprefix("The file is refused at the POST, ")]}}]


def by_both(rule: ScenarioRule, *after: dict[str, Any]) -> Steps:
    """For a payment, then in a fresh world for a standing order."""
    return [*initiated({"pay": pay(rule)}), *after, {"reset": None}, *initiated({"order": order(rule)}), *after]


def sent_back(rule: ScenarioRule, line: str) -> Steps:
    """Settled, and nothing before its time; then the money is there and the status as it was."""
    wait = int((rule.then[0].compute_due_time(SETTLED_AT) - SETTLED_AT).total_seconds())
    begun = [*signed({"pay": pay(rule)}), {"clock": "60s"}, is_now("ACSC"), balance(SCT, {"less": "20.00"})]
    early: Steps = [{"clock": f"{wait - 1}s"}, balance(SCT, {"less": "20.00"}), {"clock": "1s"}]
    books: Steps = [
        {"consent": {"customer": "bram", "account": "bram-current"}, "as": "books"},
        {"transactions": {"of": "books", "account": "bram-current", "pagesize": 1}},
        {"expect": {"_embedded.transactions": [{"amount": 20.00, "remittance_info": f"{line}*"}]}},
    ]
    return [*begun, *early, is_now("ACSC"), balance(SCT, "unchanged"), *books]


def checked(rule: ScenarioRule, outcome: str) -> Steps:
    """The outcome stands in the journal, where the bank checks; the customer goes on."""
    line = {"expect": {"journal": [{"trigger": "payee_checked", "reason": outcome}], "of": "it"}}
    by_default = {"expect": {"journal": {"none": {"trigger": "payee_checked"}}, "of": "it"}}
    return [
        *signed({"pay": pay(rule)}),
        by_default,
        {"reset": None},
        {"settings": {"payee_check": "page"}},
        *signed({"pay": pay(rule)}),
        line,
        {"clock": "60s"},
        is_now("ACSC"),
        *signed({"order": order(rule)}),
        line,
    ]


VALID = {"clock": "120s"}
BEGIN = "2027-03-01T09:00"
SETTLED_AT = datetime.fromisoformat(f"{BEGIN}:00+01:00") + timedelta(seconds=60)

# What the title of a rule promises, as steps.
PROMISES: dict[str, Callable[[ScenarioRule], Steps]] = {
    "Sent back by the beneficiary's bank 2 days after the settlement, on a banking day": lambda rule: sent_back(
        rule, "RETURN AC04"
    ),
    "Recalled 5 days after the settlement, on a banking day": lambda rule: sent_back(rule, "RECALL FOCR"),
    "Stays received until its address is opened": lambda rule: [
        *initiated({"pay": pay(rule)}),
        {"clock": "50m"},
        is_now("RCVD"),
        *signed({"pay": pay(rule)}),
        is_now("PDNG"),
    ],
    "Stays pending for a day after the signature": lambda rule: [
        *signed({"pay": pay(rule)}),
        {"clock": "23h"},
        is_now("PDNG"),
        {"clock": "1h"},
        is_now("ACSP"),
    ],
    "Stays in settlement for a day": lambda rule: [
        *signed({"pay": pay(rule)}),
        {"clock": "23h"},
        is_now("ACSP"),
        {"clock": "1h"},
        is_now("ACSC"),
    ],
    "The contract stays pending for a day": lambda rule: [
        *signed({"order": order(rule)}),
        {"clock": "23h"},
        is_now("PDNG"),
        {"clock": "1h"},
        is_now("ACWP"),
    ],
    "Nobody signs in time, which here is 10 s": lambda rule: [
        *initiated({"pay": pay(rule)}),
        {"clock": "9s"},
        is_now("PATC"),
        {"clock": "1s"},
        is_now("CANC", "TIME_OUT"),
    ],
    "Cancelled by hand while it waits for the signature": lambda rule: [
        *initiated({"pay": pay(rule)}),
        {"clock": "1s"},
        is_now("PATC"),
        {"clock": "5s"},
        is_now("CANC", "MS03"),
    ],
    "The contract is ended by hand a minute after it began": lambda rule: [
        *signed({"order": order(rule)}),
        {"clock": "1s"},
        is_now("ACWP"),
        {"clock": "1m"},
        is_now("CANC", "MS03"),
    ],
    "The customer signs after 2 s": lambda rule: by_both(
        rule, {"clock": "2s"}, {"expect": {"payment": "it", "status": "PDNG"}}
    ),
    "The customer refuses after 2 s": lambda rule: by_both(rule, {"clock": "2s"}, is_now("CANC", "PSU_REFUSED")),
    "The customer types wrong codes until it is refused": lambda rule: [
        *initiated({"pay": pay(rule)}),
        {"clock": "2s"},
        is_now("CANC", "PSU_REFUSED"),
    ],
    "The customer never comes": lambda rule: by_both(rule, {"clock": "4m"}, is_now("PATC")),
    "Refused on the page before the signature, the beneficiary's bank is not reachable (instant)": lambda rule: [
        *initiated({"pay": pay(rule, ISCT)}),
        {"psu": {"approves": "it", "refused": 403}},
        is_now("RCVD"),
        {"psu": {"refuses": "it"}},
        is_now("CANC", "PSU_REFUSED"),
    ],
    "The name of the payee is a match": lambda rule: checked(rule, "match"),
    "The name of the payee is a close match": lambda rule: checked(rule, "close_match"),
    "The name of the payee is no match": lambda rule: checked(rule, "no_match"),
    "The name of the payee cannot be verified": lambda rule: checked(rule, "not_possible"),
    "The whole file is refused": lambda rule: [
        *initiated({"file": file(rule)}),
        VALID,
        is_now("RJCT", "FF01", bulks={"none": {"status": "PATC"}}),
    ],
    "The first bulk is refused, the rest goes on": lambda rule: [
        *initiated({"file": file(rule)}),
        VALID,
        is_now("PATC", bulks=[{"status": "RJCT", "errors": {"some": {"code": "AC04"}}}, {"status": "PATC"}]),
    ],
    "Validation takes an hour": lambda rule: [
        *initiated({"file": file(rule)}),
        {"clock": "59m"},
        is_now("RCVD"),
        {"clock": "1m"},
        is_now("PATC"),
    ],
    "The file is rejected after the signature": lambda rule: [
        *initiated({"file": file(rule)}),
        VALID,
        {"psu": {"approves": "it"}},
        is_now("PDNG"),
        {"clock": "1s"},
        is_now("RJCT", "AG01"),
    ],
    "The customer signs the file after 2 s": lambda rule: [
        *initiated({"file": file(rule)}),
        VALID,
        {"clock": "2s"},
        is_now("PDNG"),
    ],
    "The customer refuses the file after 2 s": lambda rule: [
        *initiated({"file": file(rule)}),
        VALID,
        {"clock": "2s"},
        is_now("CANC", "PSU_REFUSED"),
    ],
}


def promised(rule: ScenarioRule) -> Steps:
    if rule.title.startswith("Rejected after the money left"):
        return comes_back(rule, rule.when.product or SCT)
    if rule.title.startswith("Rejected before the money left"):
        assert rule.when.product is not None
        return never_leaves(rule, rule.when.product)
    if rule.title.startswith("Refused at the POST"):
        return refused(rule)
    if rule.title.startswith("The file is refused at the POST"):
        return file_refused(rule)
    return PROMISES[rule.title](rule)


def held(url: str, steps: Steps) -> list[str]:
    text = json.dumps({"scenario": "A well-known value", "clock": {"at": BEGIN}, "steps": steps})
    report = run_one(Script(read_scenario(text, "value"), text), url, machine_time)
    assert report.trouble is None
    return [f"{step.text}: {'; '.join(step.faults)}" for step in report.steps if not step.passed]


@pytest.mark.parametrize("name", RULES)
def test_a_value_leads_to_what_its_title_says(url: str, name: str) -> None:
    assert held(url, promised(RULES[name])) == []


@pytest.mark.parametrize("product", [ISCT, XB])
@pytest.mark.parametrize(
    "name", [name for name, rule in RULES.items() if name.startswith("Rejected after") and not rule.when.product]
)
def test_money_comes_back_from_every_product(url: str, product: str, name: str) -> None:
    assert held(url, comes_back(RULES[name], product)) == []


@pytest.mark.parametrize("code", ["AB05", "AB06", "AB08", "AC04", "AC06", "AG01", "AM04", "TM01"])
def test_an_instant_payment_fails_with_the_code_of_its_name(url: str, code: str) -> None:
    rule = next(rule for rule in RULES.values() if rule.when.creditor_name == f"Test {code}")
    assert held(url, comes_back(rule, ISCT)) == []


@pytest.mark.parametrize("code", ["AB05", "AB06", "AB08", "AM04", "TM01"])
def test_what_fails_an_instant_payment_alone_lets_others_pass(url: str, code: str) -> None:
    begun = signed({"pay": {"debtor": "bram", "creditor_name": f"Test {code}", "amount": "20.00"}})
    assert held(url, [*begun, {"clock": "60s"}, is_now("ACSC"), balance(SCT, {"less": "20.00"})]) == []


def test_a_name_that_is_none_of_them_goes_its_ordinary_way(url: str) -> None:
    assert (
        held(url, [*signed({"pay": {"debtor": "bram", "creditor_name": "Tester"}}), {"clock": "60s"}, is_now("ACSC")])
        == []
    )


def test_the_documentation_has_the_table_as_it_is() -> None:
    assert write_markdown(load("default")) in read_text("well-known-values")


def test_a_rule_about_direct_debits_has_its_value_too() -> None:
    text = "rules: [{title: Back, when: {kind: direct_debit, creditor_name: Telecom}, then: [{refund: MD06}]}]"
    assert "| `Telecom` | `creditor_name` | direct debit | back |" in write_markdown(read_scenario(text, "debits"))
