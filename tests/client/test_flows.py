"""PKCE, state and the callback (service 5.2, 5.3, 6.1; RFC 7636)."""

import pytest

from sandbox.client import CallbackRefused, Flow, ForeignCallback, code_from, new_flow, returned
from tests.client.contract import ORDER, Bank, accepted

CALLBACK = "http://127.0.0.1:9999/callback"
FLOW = Flow("PIS", CALLBACK, "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "my state&")
OWN_QUERY = Flow("PIS", f"{CALLBACK}?tenant=7", "v", "s")


def test_the_challenge_is_the_one_of_the_rfc() -> None:
    assert FLOW.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_each_flow_has_a_verifier_and_a_state_of_its_own() -> None:
    one, other = new_flow("PIS", CALLBACK), new_flow("PIS", CALLBACK)
    assert one.verifier != other.verifier and one.state != other.state
    assert 43 <= len(one.verifier) <= 128


def test_secrets_are_not_shown() -> None:
    assert FLOW.verifier not in repr(FLOW)


def test_the_state_is_appended_to_the_address() -> None:
    assert FLOW.on("https://bank/sign/1") == "https://bank/sign/1?state=my%20state%26"
    assert FLOW.on("https://bank/sign?id=1") == "https://bank/sign?id=1&state=my%20state%26"


def test_a_payment_is_signed_at_an_address_with_the_state_of_its_flow(bank: Bank) -> None:
    payment = bank.says(accepted()).client.pay(**ORDER)
    assert payment.sca_address is not None
    assert payment.sca_address.endswith(f"/psu/sign/abc?state={payment.flow.state}")
    assert bank.last.headers["Code-Challenge"] == payment.flow.challenge


def test_the_code_of_the_right_callback() -> None:
    assert code_from(f"{CALLBACK}?code=abc&state=my%20state%26", FLOW) == "abc"
    assert code_from(f"{CALLBACK}?tenant=7&code=abc&state=s", OWN_QUERY) == "abc"


@pytest.mark.parametrize(
    "callback, flow",
    [
        (f"{CALLBACK}?code=abc&state=other", FLOW),
        (f"{CALLBACK}?code=abc", FLOW),
        (f"{CALLBACK}?error=access_denied&state=other", FLOW),
        ("http://127.0.0.1:9998/callback?code=abc&state=my%20state%26", FLOW),
        (f"{CALLBACK}/more?code=abc&state=my%20state%26", FLOW),
        (f"{CALLBACK}?code=abc&state=s", OWN_QUERY),
        (f"{CALLBACK}?state=my%20state%26", FLOW),
    ],
)
def test_a_callback_of_another_flow_is_refused(callback: str, flow: Flow) -> None:
    with pytest.raises(ForeignCallback):
        code_from(callback, flow)


def test_after_a_token_the_callback_brings_no_code() -> None:
    assert returned(f"{CALLBACK}?state=my%20state%26", FLOW) is None


def test_a_psu_who_refused_is_told_as_such() -> None:
    with pytest.raises(CallbackRefused, match="access_denied: No thanks"):
        code_from(f"{CALLBACK}?error=access_denied&error_description=No+thanks&state=my%20state%26", FLOW)
