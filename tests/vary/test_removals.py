"""A test that loses its assertion is named by the lies that only the assertion noticed; `make removals` does all."""

import sandbox
from tests.vary.asserting import TESTS
from tests.vary.removals import judge_suite, remove_each

SAMPLE = ("details_have_the_amount", "a_refused_payment_has_a_reason", "a_refusal_comes_back_as_one")


def test_each_removal_of_the_sample_is_named() -> None:
    tests = [test for test in TESTS if test.__name__ in SAMPLE]
    with sandbox.running(at="now") as server:
        removals = list(remove_each(server, judge_suite(server, tests), tests))
    assert [removal.is_named for removal in removals] == [True] * len(SAMPLE)
    assert {removal.test: set(removal.reached) for removal in removals} == {
        "details_have_the_amount": {"details_amount", "details_currency"},
        "a_refused_payment_has_a_reason": {"cancelled_as_paid", "status_reason"},
        "a_refusal_comes_back_as_one": {"callback_accepted"},
    }
