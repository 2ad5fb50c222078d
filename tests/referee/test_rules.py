"""Every rule finds its own bad client, and nothing at the good one beside it."""

import pytest

from sandbox.extensions.referee.rule import RefereeRule
from sandbox.extensions.referee.table import BY_ID, TABLE
from tests.referee.actor import Actor
from tests.referee.clients import PLAYS
from tests.spec.files import NOTARIS

RULES_LEAST = 40


@pytest.mark.parametrize("rule", PLAYS)
def test_a_bad_client_is_found_by_exactly_its_rule(actor: Actor, rule: str) -> None:
    PLAYS[rule](actor, True)
    assert set(actor.rules()) == {rule}


@pytest.mark.parametrize("rule", PLAYS)
def test_the_good_client_beside_it_is_not_found(actor: Actor, rule: str) -> None:
    PLAYS[rule](actor, False)
    assert actor.rules() == []


def test_every_rule_has_its_clients() -> None:
    assert set(PLAYS) == set(BY_ID)
    assert len(TABLE) >= RULES_LEAST


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_a_row_says_what_is_wrong_where_it_stands_and_what_to_do(row: RefereeRule) -> None:
    assert row.title[0].isupper() and not row.title.endswith(".")
    assert row.instead.endswith(".")
    assert row.clause.split()[0] in ("service", "choice") and row.clause.split()[1][0].isdigit()


def test_an_outdated_address_for_a_second_authentication_is_asked_for_again(actor: Actor) -> None:
    tokens = actor.reader()
    account = actor.ids(tokens)[0]
    actor.advance("91d")
    tokens = actor.refresh(tokens).get_json()
    for span in ("15m", "0s"):
        reply = actor.get(f"/accounts/{account}/transactions?date_from=2027-05-31", tokens)
        assert reply.get_json()["error"] == "SCA_REQUIRED"
        actor.advance(span)
    assert actor.rules() == []


def test_a_further_signer_who_refuses_is_not_held_against_the_client(actor: Actor) -> None:
    flow = actor.pay(debtor_account={"iban": NOTARIS})
    actor.approve(flow, customer="notaris")
    assert actor.status(flow).get_json()["status"] == "PATC"
    actor.tokens(flow)
    reply = actor.tpp.control("POST", "/psu/refuse", payment_id=flow.id, customer="griet")
    assert reply.status_code == 200
    assert actor.status(flow).get_json()["status"] == "CANC"
    actor.advance("2d")
    assert actor.rules() == []
