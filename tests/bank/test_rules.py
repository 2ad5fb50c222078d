"""Rules of a scenario at work: each condition held and refused, and what follows (choice 13)."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from flask import Flask

from sandbox.contract.errors import Error
from sandbox.contract.operations import BY_NAME
from sandbox.scenarios.rules import NAMES
from sandbox.storage.state_hash import hash_state
from sandbox.web.docs.responses import list_causes
from sandbox.worlds.registry import WorldRegistry
from tests import contracts
from tests.reader import code_of, consent_address
from tests.spec import files
from tests.stories import follow, journal_of, ruled, signed_by_alice, told
from tests.tpp import BELGIAN, FRENCH, ISCT, SCT, XB, Tpp, payment, refused

NUMBERS = count()
RULED = (403, "B14821ZZ-2101")
OURS = {"refuse": "PROFILE_FORBIDS"}


@pytest.fixture
def tpp(crowd: WorldRegistry, crowd_app: Flask) -> Iterator[Tpp]:
    """A world of its own."""
    name = f"rules-{next(NUMBERS)}"
    crowd.make(name)
    yield Tpp(crowd_app, name)
    crowd.drop(name)


def meets(tpp: Tpp, product: str = SCT, **changes: Any) -> bool:
    """Whether an initiation meets the one rule, which refuses."""
    reply = tpp.initiate(product, payment(product, **changes))
    assert reply.status_code == 201 or refused(reply, *RULED, "the scenario says so (the rule)"), reply.text
    return reply.status_code != 201


# when: each condition by an initiation that holds it and one that does not.
CONDITIONS: tuple[tuple[dict[str, Any], dict[str, Any], dict[str, Any]], ...] = (
    ({"product": SCT}, {}, {"product": ISCT}),
    ({"product": "*sepa*"}, {"product": ISCT}, {"product": XB, "creditor_account__iban": FRENCH}),
    ({"debtor": "alice"}, {"debtor_account": {"iban": contracts.ALICE}}, {}),
    (
        {"debtor": "BE1653*"},
        {"debtor_account": {"iban": contracts.ALICE}},
        {"debtor_account": {"iban": files.BAKKERIJ}},
    ),
    ({"creditor_iban": BELGIAN}, {}, {"creditor_account__iban": FRENCH}),
    ({"creditor_iban": "FR*"}, {"creditor_account__iban": FRENCH}, {}),
    ({"creditor_name": "Closed*"}, {"creditor_name": "Closed Ltd"}, {"creditor_name": "Not Closed"}),
    ({"creditor_name": "Closed ?td"}, {"creditor_name": "Closed Ltd"}, {"creditor_name": "Closed"}),
    ({"creditor_name": "Closed"}, {"creditor_name": "Closed"}, {"creditor_name": "closed"}),
    ({"amount": "12.50"}, {}, {"instructed_amount__amount": "12.51"}),
    ({"amount": {"equal": "12.5"}}, {}, {"instructed_amount__amount": "12.49"}),
    ({"amount": {"over": 12}}, {"instructed_amount__amount": "12.01"}, {"instructed_amount__amount": "12.00"}),
    ({"amount": {"under": 12}}, {"instructed_amount__amount": "11.99"}, {"instructed_amount__amount": "12"}),
    ({"amount": {"over": 10, "under": 20}}, {}, {"instructed_amount__amount": "20.00"}),
    ({"endtoend_identification": "TEST-*"}, {"endtoend_identification": "TEST-1"}, {}),
    ({"from": "2027-03-01T09:00"}, {}, {"after": "0s", "when": {"from": "2027-03-01T09:00:01"}}),
)


@pytest.mark.parametrize("when, held, other", CONDITIONS, ids=lambda part: str(part)[:40])
def test_a_rule_is_met_by_what_holds_its_condition_and_by_nothing_else(
    tpp: Tpp, when: dict[str, Any], held: dict[str, Any], other: dict[str, Any]
) -> None:
    ruled(tpp, when={"kind": "payment", **when}, **OURS)
    assert meets(tpp, **held)
    if "when" in other:
        ruled(tpp, when={"kind": "payment", **other["when"]}, **OURS)
        assert not meets(tpp)
    else:
        assert not meets(tpp, **other)


def test_a_window_of_world_time_begins_with_its_first_instant_and_ends_before_its_last(tpp: Tpp) -> None:
    ruled(tpp, when={"from": "2027-03-01T09:01", "until": "2027-03-01T09:02"}, **OURS)
    assert not meets(tpp)
    tpp.advance("60s")
    assert meets(tpp)
    tpp.advance("59s")
    assert meets(tpp)
    tpp.advance("1s")
    assert not meets(tpp)


def test_a_rule_about_a_client_is_met_by_that_client_alone(tpp: Tpp, crowd_app: Flask) -> None:
    ruled(tpp, when={"client": "other-tpp"}, **OURS)
    second = Tpp(crowd_app, tpp.prefix.rpartition("/")[2], "other-tpp")
    assert meets(second)
    assert not meets(tpp)


def test_a_rule_about_a_currency_is_met_by_that_currency_alone(tpp: Tpp) -> None:
    ruled(tpp, when={"currency": "EUR"}, **OURS)
    assert meets(tpp)
    assert not meets(tpp, XB, creditor_account__iban=FRENCH)


@pytest.mark.parametrize("kind", ("payment", "standing_order", "bulk", "consent"))
def test_a_rule_about_a_kind_is_met_by_that_kind_alone(tpp: Tpp, kind: str) -> None:
    ruled(tpp, when={"kind": kind}, refuse="UNAVAILABLE")
    replies = {
        "payment": tpp.initiate(),
        "standing_order": contracts.order(tpp, contracts.contract()),
        "bulk": files.send(tpp, files.pain()),
        "consent": tpp.call("GET", "/consent-uris?scope=AIS", accept="application/vnd.service.api+json; version=4"),
    }
    assert [name for name, reply in replies.items() if reply.status_code == 503] == [kind]


def test_what_is_not_known_fits_no_rule_that_asks_for_it(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "payment", "debtor": "*"}, **OURS)
    assert not meets(tpp)


def test_the_first_rule_that_fits_is_the_only_one(tpp: Tpp) -> None:
    follow(
        tpp,
        rules=[
            {"title": "first", "when": {"creditor_name": "Closed*"}, "timings": {"unsigned_after": "10s"}},
            {"title": "second", "when": {"amount": {"over": 1}}, **OURS},
        ],
    )
    assert journal_of(tpp, tpp.initiated(creditor_name="Closed Ltd"))[0] == ("RCVD", None, "first")
    assert refused(tpp.initiate(), *RULED, "second")


def test_nth_counts_the_initiations_that_fit_the_rest_and_were_taken(tpp: Tpp) -> None:
    ruled(tpp, when={"creditor_name": "Closed*", "nth": 3}, **OURS)
    assert not meets(tpp, creditor_name="Closed 1")
    assert not meets(tpp)
    assert refused(tpp.initiate(SCT, payment(creditor_name="Closed", instructed_amount__amount="0")), 400, "B14821ZZ")
    assert not meets(tpp, creditor_name="Closed 2")
    assert meets(tpp, creditor_name="Closed 3")
    assert not meets(tpp, creditor_name="Closed 4")


def test_a_signature_is_no_second_initiation_for_nth(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "payment", "nth": 2}, then=[{"on": "PDNG", "move": "RJCT", "reason": "AC04"}])
    first, second = signed_by_alice(tpp), signed_by_alice(tpp)
    tpp.advance("2m")
    assert told(tpp, first) == ("ACSC", None)
    assert told(tpp, second) == ("RJCT", "AC04")


def test_a_refusal_by_rule_leaves_nothing_but_its_count(tpp: Tpp, crowd: WorldRegistry) -> None:
    ruled(tpp, when={"kind": "payment"}, **OURS)
    world = crowd.find(tpp.prefix.rpartition("/")[2])
    before = hash_state(world.bank)
    assert meets(tpp) and meets(tpp)
    assert hash_state(world.bank) == before
    ruled(tpp, when={"kind": "payment", "nth": 1}, **OURS)
    before = hash_state(world.bank)
    assert meets(tpp)
    assert hash_state(world.bank) != before and tpp.listed("payments") == []
    assert not meets(tpp)


REFUSALS = sorted({cause.error.name for cause in list_causes(BY_NAME["payment_initiation"])} & set(NAMES))


@pytest.mark.parametrize("name", REFUSALS)
def test_a_rule_may_refuse_with_every_error_that_the_operation_may_give(tpp: Tpp, name: str) -> None:
    ruled(tpp, when={"kind": "payment"}, refuse=name)
    reply = tpp.initiate()
    row = Error[name].value
    assert (reply.status_code, reply.get_json()["error"], reply.get_json()["error_code"]) == (
        row.status,
        row.error,
        row.code,
    )
    assert ("Retry-After" in reply.headers) == (row.status in (429, 503))


# The customer is known later


def test_a_rule_about_a_customer_is_met_at_the_signature(tpp: Tpp) -> None:
    ruled(tpp, when={"customer": "alice"}, then=[{"on": "PDNG", "after": "1s", "move": "RJCT", "reason": "AC04"}])
    mine = signed_by_alice(tpp)
    reply = tpp.initiate()
    tpp.signed(reply, "bram")
    tpp.advance("2m")
    assert told(tpp, mine) == ("RJCT", "AC04")
    assert told(tpp, reply.get_json()["payment_id"]) == ("ACSC", None)


def test_a_rule_about_a_customer_may_refuse_the_signature_and_the_payment_waits_on(tpp: Tpp) -> None:
    ruled(tpp, when={"customer": "alice"}, **OURS)
    reply = tpp.initiate()
    asked = {"address": reply.headers["Location"], "customer": "alice"}
    assert refused(tpp.control("POST", "/psu/approve", **asked), *RULED, "the rule")
    assert told(tpp, reply.get_json()["payment_id"]) == ("RCVD", None)
    tpp.signed(reply, "bram")


def test_a_token_tells_the_customer_at_once(tpp: Tpp) -> None:
    ruled(tpp, when={"customer": "alice", "creditor_name": "Closed*"}, **OURS)
    token = f"Bearer {tpp.token_for('alice')}"
    assert refused(tpp.initiate(body=payment(creditor_name="Closed Ltd"), authorization=token), *RULED)


# Moves


def test_a_rule_moves_with_its_reason_after_its_delay_and_the_journal_names_it(tpp: Tpp) -> None:
    """The example of a scenario: the default path waits for the rule."""
    ruled(
        tpp,
        when={"product": SCT, "creditor_name": "Closed*", "amount": {"over": 100}},
        then=[{"on": "ACSP", "after": "2h", "move": "RJCT", "reason": "AC04"}],
    )
    balance = money(tpp)
    closed = signed_by_alice(tpp, creditor_name="Closed Ltd", instructed_amount__amount="250.00")
    tpp.advance("1h")
    assert told(tpp, closed) == ("ACSP", None) and money(tpp) == balance - 250
    tpp.advance("3605s")
    assert told(tpp, closed) == ("RJCT", "AC04") and money(tpp) == balance
    tpp.advance("30d")
    assert journal_of(tpp, closed) == [
        ("RCVD", None, "the rule"),
        ("PATC", None, None),
        ("PDNG", None, None),
        ("ACSP", None, None),
        ("RJCT", "AC04", "the rule"),
    ]


def money(tpp: Tpp) -> float:
    return next(
        float(row["balances"][0]["balance"]) for row in tpp.listed("accounts") if row["iban"] == contracts.ALICE
    )


def test_a_rule_may_move_without_delay(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "payment"}, then=[{"on": "PDNG", "move": "RJCT", "reason": "AM05"}])
    closed = signed_by_alice(tpp)
    assert told(tpp, closed) == ("RJCT", "AM05")


def test_a_rule_may_carry_a_payment_through_all_its_statuses(tpp: Tpp) -> None:
    ruled(
        tpp,
        when={"kind": "payment"},
        then=[
            {"on": "RCVD", "after": "10s", "move": "PATC"},
            {"on": "PDNG", "after": "1d", "move": "ACSP"},
            {"on": "ACSP", "after": "1d", "move": "ACSC"},
        ],
    )
    waiting = tpp.initiated()
    tpp.advance("9s")
    assert told(tpp, waiting)[0] == "RCVD"
    tpp.advance("1s")
    assert told(tpp, waiting)[0] == "PATC"
    slow = signed_by_alice(tpp)
    for span, status in (("86399s", "PDNG"), ("1s", "ACSP"), ("86399s", "ACSP"), ("1s", "ACSC")):
        tpp.advance(span)
        assert told(tpp, slow)[0] == status


def test_where_the_table_does_not_let_a_rule_move_the_default_path_goes_on(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "payment"}, then=[{"on": "PDNG", "after": "2h", "move": "CANC"}])
    direct = signed_by_alice(tpp)
    tpp.advance("1h")
    assert told(tpp, direct)[0] == "PDNG"
    tpp.advance("2h")
    assert told(tpp, direct)[0] == "ACSC"


def test_a_rule_ends_a_contract_whose_executions_go_on_until_then(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "standing_order"}, then=[{"on": "ACWP", "after": "60d", "move": "CANC", "reason": "MS03"}])
    contract = contracts.active(tpp, contracts.contract(debtor_account={"iban": contracts.ALICE}))
    tpp.advance("70d")
    assert [to for to, _, _ in journal_of(tpp, contract)] == ["PATC", "PDNG", "ACWP", "ACWP", "CANC"]


# Timings


def test_changed_timings_hold_for_what_meets_the_rule_alone(tpp: Tpp) -> None:
    ruled(tpp, when={"creditor_name": "Soon"}, timings={"unsigned_after": "10s"})
    soon, later = tpp.initiated(creditor_name="Soon"), tpp.initiated()
    tpp.advance("10s")
    assert told(tpp, soon) == ("CANC", "TIME_OUT")
    assert told(tpp, later) == ("PATC", None)


def test_an_instant_payment_takes_the_time_that_its_rule_says(tpp: Tpp) -> None:
    ruled(tpp, when={"product": ISCT}, timings={"instant_settlement": "10s"})
    paid = signed_by_alice(tpp, ISCT)
    tpp.advance("9s")
    assert told(tpp, paid, ISCT)[0] == "ACSP"
    tpp.advance("1s")
    assert told(tpp, paid, ISCT)[0] == "ACSC"


# Bulk files


def test_a_rule_adds_findings_to_a_bulk_and_the_rest_goes_on(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "bulk"}, validation=[{"bulk": 2, "code": "AC04", "text": "closed"}])
    file = files.validated(tpp, files.pain(files.bulk(name="A"), files.bulk(name="B")))
    shown = files.status(tpp, file)
    assert shown["status"] == "PATC"
    assert [bulk["status"] for bulk in shown["bulks"]] == ["PATC", "RJCT"]
    assert [(row["code"], row["text"]) for row in shown["bulks"][1]["errors"]] == [("AC04", "closed")]


def test_a_rule_refuses_a_whole_file(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "bulk"}, validation=[{"refuse": True, "code": "FF01", "text": "no"}])
    assert files.status(tpp, files.validated(tpp, files.pain()))["status"] == "RJCT"


def test_a_rule_rejects_a_signed_file_before_it_is_executed(tpp: Tpp) -> None:
    ruled(
        tpp,
        when={"kind": "bulk"},
        psu={"approves": True, "after": "2s"},
    )
    file = files.validated(tpp, files.pain())
    tpp.advance("2s")
    assert files.status(tpp, file)["status"] == "PDNG"
    tpp.advance("60s")
    assert files.status(tpp, file)["status"] == "ACSC"


def test_a_bulk_waits_with_its_file_for_the_rule(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "bulk"}, then=[{"on": "PDNG", "after": "1h", "move": "RJCT", "reason": "AG01"}])
    file = files.validated(tpp, files.pain())
    address = files.status(tpp, file)["_links"]["sca_redirect"]["href"]
    assert tpp.control("POST", "/psu/approve", address=address).status_code == 200
    tpp.advance("59m")
    assert files.status(tpp, file)["status"] == "PDNG"
    tpp.advance("1m")
    shown = files.status(tpp, file)
    assert (shown["status"], [bulk["status"] for bulk in shown["bulks"]]) == ("RJCT", ["RJCT"])


# Customers without a browser


def called_back(tpp: Tpp) -> list[str]:
    return [row["redirect"] for row in tpp.listed("callbacks")]


def test_a_customer_approves_after_a_while_and_is_sent_back_with_a_code(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "payment"}, psu={"approves": True, "customer": "alice", "after": "5s"})
    paid = tpp.initiated()
    tpp.advance("4s")
    assert told(tpp, paid)[0] == "PATC" and called_back(tpp) == []
    tpp.advance("1s")
    assert told(tpp, paid)[0] == "PDNG" and code_of(called_back(tpp)[0])
    assert journal_of(tpp, paid)[-1] == ("PDNG", None, "the rule")


@pytest.mark.parametrize("does", ("refuses", "wrong_code"))
def test_a_customer_who_refuses_or_types_wrong_codes_cancels(tpp: Tpp, does: str) -> None:
    ruled(tpp, when={"kind": "payment"}, psu={does: True, "customer": "alice"})
    paid = tpp.initiated()
    tpp.advance("1s")
    assert told(tpp, paid) == ("CANC", "PSU_REFUSED")
    (redirect,) = called_back(tpp)
    assert "error=access_denied" in redirect
    assert ("wrong+code+3+times" in redirect) == (does == "wrong_code")


def test_a_customer_never_comes(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "payment"}, psu={"never": True})
    paid = tpp.initiated()
    tpp.advance("59m")
    assert told(tpp, paid)[0] == "PATC"
    tpp.advance("1m")
    assert told(tpp, paid) == ("CANC", "TIME_OUT") and called_back(tpp) == []


def test_a_customer_who_comes_late_finds_the_address_outdated(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "payment"}, psu={"approves": True, "customer": "alice", "after": "6m"})
    paid = tpp.initiated()
    tpp.advance("6m")
    assert told(tpp, paid)[0] == "PATC" and called_back(tpp) == []


def test_a_customer_picks_an_account(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "payment"}, psu={"approves": True, "customer": "bakkerij", "account": files.RESERVE})
    paid = tpp.initiated()
    tpp.advance("1s")
    assert tpp.control("GET", f"/payments/{paid}").get_json()["order"]["debtor_account"]["iban"] == files.RESERVE


@pytest.mark.parametrize("second, outcome", (("approves", ("PDNG", None)), ("refuses", ("CANC", "PSU_REFUSED"))))
def test_a_second_signer_follows_in_the_channel(tpp: Tpp, second: str, outcome: tuple[str, str | None]) -> None:
    ruled(
        tpp,
        when={"debtor": "notaris"},
        psu={
            "approves": True,
            "customer": "notaris",
            "second": {second: True, "customer": "griet", "after": "50m"},
        },
    )
    paid = tpp.initiated(debtor_account={"iban": files.NOTARIS})
    tpp.advance("49m")
    assert told(tpp, paid) == ("PATC", None)
    tpp.advance("1m")
    assert told(tpp, paid) == outcome


def test_whom_the_account_does_not_name_does_not_sign_as_second(tpp: Tpp) -> None:
    ruled(
        tpp,
        when={"debtor": "notaris"},
        psu={"approves": True, "customer": "notaris", "second": {"approves": True, "customer": "alice", "after": "1m"}},
    )
    paid = tpp.initiated(debtor_account={"iban": files.NOTARIS})
    tpp.advance("50m")
    assert told(tpp, paid) == ("PATC", None)


def test_a_second_signer_of_a_rule_refuses_unchecked(tpp: Tpp) -> None:
    """A stored world that did so is replayed to the same outcome."""
    second = {"refuses": True, "customer": "alice", "after": "1m"}
    ruled(tpp, when={"debtor": "notaris"}, psu={"approves": True, "customer": "notaris", "second": second})
    paid = tpp.initiated(debtor_account={"iban": files.NOTARIS})
    tpp.advance("5m")
    assert told(tpp, paid) == ("CANC", "PSU_REFUSED")


def test_a_customer_signs_a_standing_order(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "standing_order"}, psu={"approves": True, "customer": "alice", "after": "1s"})
    contract = contracts.ordered(tpp, contracts.contract())
    tpp.advance("2s")
    assert contracts.status(tpp, contract) == ("ACWP", None)


@pytest.mark.parametrize("does, part", (("approves", "code="), ("refuses", "error=access_denied")))
def test_a_customer_answers_a_consent_address_once(tpp: Tpp, does: str, part: str) -> None:
    ruled(tpp, when={"kind": "consent", "client": "demo-tpp"}, psu={does: True, "customer": "alice", "after": "2s"})
    consent_address(tpp)
    tpp.advance("1s")
    assert called_back(tpp) == []
    tpp.advance("1s")
    (redirect,) = called_back(tpp)
    assert part in redirect


def test_a_consent_address_lives_as_long_as_its_rule_says(tpp: Tpp) -> None:
    ruled(tpp, when={"kind": "consent"}, timings={"consent_address_life": "1s"})
    address = consent_address(tpp)
    tpp.advance("1s")
    reply = tpp.control("POST", "/psu/approve", address=address, customer="alice")
    assert refused(reply, 410, "SBX-0410-000001")
