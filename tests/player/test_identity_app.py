"""service 5.7: a scenario says that its customer signs in the identity app, and who activated it."""

from typing import Any

from tests.player.conftest import Play

PAY: dict[str, Any] = {"pay": {"debtor": "notaris", "amount": "25.00"}, "as": "rent"}
METHOD = {"method": "identity_app"}


def test_both_signatures_of_a_scenario_are_given_in_the_identity_app(play: Play) -> None:
    sign = {"psu": {"approves": "rent", **METHOD}}
    further = {"sign": {"of": "rent", "customer": "griet", **METHOD, "expect": {"status": "PDNG"}}}
    assert [step.passed for step in play(PAY, sign, further)] == [True] * 3


def test_a_customer_signs_in_the_identity_app_as_soon_as_it_is_activated(play: Play) -> None:
    pay: dict[str, Any] = {"pay": {"debtor": "poor", "amount": "1.00"}, "as": "rent"}
    too_early = {"psu": {"approves": "rent", **METHOD, "refused": 403}}
    activate = {"change": {"customer": "poor", "methods": ["identity_app"]}}
    sign = {"psu": {"approves": "rent", **METHOD}}
    assert [step.passed for step in play(pay, too_early, activate, sign)] == [True] * 4
