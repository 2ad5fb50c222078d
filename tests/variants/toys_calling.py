"""Toy clients of headers, errors, proofs, callbacks, and of what JSON and HTTP always allow."""

import json
import re
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from sandbox.banking.pkce import compute_challenge
from tests.payer import approve, bearer, begin, code_form, details, post_form, refuse, signed, tokens
from tests.reader import Reader
from tests.tpp import VERIFIER, Tpp, payment
from tests.variants import test_callback as callback
from tests.variants import test_headers as headers
from tests.variants.naive import Expects, Toys, ok

OTHER = VERIFIER[::-1]


class Known(NamedTuple):
    """A reply to an initiation as a client declares it."""

    payment_id: str
    endtoend_identification: str
    status: str
    links: dict[str, Any]


def sends_again(tpp: Tpp) -> None:
    first = tpp.initiate()
    again = ok(tpp.initiate(request_id=first.headers["Response-ID"]))
    assert again["payment_id"] == first.get_json()["payment_id"]


def pays_often(tpp: Tpp) -> None:
    for _ in range(21):
        ok(tpp.initiate())


def looks_often(tpp: Tpp) -> None:
    reader = Reader(tpp)
    first = reader.first
    for _ in range(5):
        ok(reader.account(first))


def waits_as_asked(tpp: Tpp) -> int:
    headers.limited(tpp, 1)
    return int([tpp.initiate() for _ in range(2)][1].headers["Retry-After"])


def shares_an_address(tpp: Tpp) -> None:
    """Two clients behind one address: what one calls is no affair of the other's."""
    alice = Reader(tpp)
    tpp.advance("2m")
    headers.limited(tpp, 2)
    for _ in range(2):
        ok(alice.listed())
    ok(tpp.initiate(client_id="other-tpp"))


def pays_helene(tpp: Tpp) -> None:
    assert headers.accents(tpp) == (201, "ACSC")


# Callbacks. At what is marked !, it is a right client that refuses.


def come_back(tpp: Tpp, verifier: str = VERIFIER, state: str = "s-1") -> list[tuple[str, str]]:
    """What a flow brings back."""
    begun = begin(tpp, headers={"code_challenge": compute_challenge("S256", verifier)})
    return parse_qsl(urlsplit(approve(tpp, f"{begun.address}?state={state}", "alice").get_json()["redirect"]).query)


def checks_the_state(tpp: Tpp) -> None:
    come_back(tpp, state="s-0")
    assert dict(come_back(tpp))["state"] == "s-1"


def takes_one_code(tpp: Tpp) -> None:
    """Of its own flow, which PKCE proves."""
    come_back(tpp)
    (code,) = (value for name, value in come_back(tpp, OTHER) if name == "code")
    ok(post_form(tpp, code_form(code, code_verifier=OTHER)))


def takes_no_error(tpp: Tpp) -> None:
    assert "error" not in dict(come_back(tpp))


def exchanges_whenever_called(tpp: Tpp) -> None:
    reply = approve(tpp, begin(tpp).address, "alice").get_json()
    code = dict(parse_qsl(urlsplit(reply["redirect"]).query))["code"]
    for _ in range(reply.get("times", 1)):
        ok(post_form(tpp, code_form(code)))


def exchanges_every_code(tpp: Tpp) -> None:
    begun = begin(tpp, headers={"authorization": bearer(tokens(tpp))})
    found = dict(parse_qsl(urlsplit(approve(tpp, begun.address, "alice").get_json()["redirect"]).query))
    if "code" in found:
        ok(post_form(tpp, code_form(found["code"])))


def waits_for_the_refusal(tpp: Tpp) -> None:
    redirect = refuse(tpp, begin(tpp).address).get_json()["redirect"]
    assert redirect is not None, "nobody comes"


def decodes_by_itself(tpp: Tpp) -> None:
    assert callback.blank(tpp).replace("+", " ") == "a b"


# What is always legal


def takes_the_first_piece(tpp: Tpp) -> None:
    tpp.http.environ_base |= {"sandbox.wait": lambda seconds: None}  # type: ignore[dict-item]
    sent = tpp.http.get("/accounts", headers={"Accept": "x"}, buffered=False)
    json.loads(next(iter(sent.iter_encoded())))


def keeps_its_line(tpp: Tpp) -> None:
    line = ["open"]
    tpp.http.environ_base |= {"sandbox.close": line.pop}  # type: ignore[dict-item]
    for _ in range(2):
        assert line, "the line is closed"
        ok(tpp.initiate())


def reads_the_reason(tpp: Tpp) -> str:
    found = tpp.status(signed(tpp).id).get_json()
    return found["reason"].lower() if "reason" in found else "none"


def seeks_in_the_text(tpp: Tpp) -> None:
    assert "Hélène" in details(tpp, signed(tpp, creditor_name="Hélène"), tokens(tpp)).text


def cuts_the_cents(tpp: Tpp) -> None:
    text = ok_text(Reader(tpp).transactions(query={"pagesize": 50}))
    assert all(re.fullmatch(r"-?[0-9]+\.[0-9]{2}", found) for found in re.findall(r'"amount":([^,]+)', text))


def ok_text(reply: Any) -> str:
    ok(reply)
    return str(reply.text)


def sign_by(tpp: Tpp, method: str) -> Any:
    asked = {"address": begin(tpp).address, "customer": "alice", "method": method}
    return tpp.http.post("/_sandbox/psu/approve", json=asked)


def error(tpp: Tpp) -> Any:
    return tpp.initiate(body={}).get_json()


TOYS: Toys = {
    "vendor": lambda tpp: ok(tpp.initiate()),
    "request_id_reuse": sends_again,
    "limits": {"minute": pays_often, "day": looks_often},
    "silent_versions": Expects(headers.status_in_version_1, 200),
    "redirect_uri_elsewhere": lambda tpp: ok(Reader(tpp).listed(redirect_uri=None)),
    "language_region": lambda tpp: ok(tpp.initiate(accept_language="fr-BE")),
    "content_type_reply": Expects(lambda tpp: tpp.initiate().content_type, "application/json;charset=utf-8"),
    "error_description": Expects(lambda tpp: "missing" in headers_text(tpp), True),
    "error_codes": Expects(lambda tpp: error(tpp)["error_code"], "GEN-1201-100002"),
    "error_words": Expects(lambda tpp: error(tpp)["error"], "MISSING_INPUT"),
    "insufficient_funds": Expects(headers.without_funds, 403, 0),
    "consent_gone": Expects(headers.withdrawn, 403, 0),
    "foreign_id": Expects(headers.anothers, (200, 404)),
    "wrong_scope": Expects(headers.token_of_payments, 403),
    "retry_after": waits_as_asked,
    "limits_count": shares_an_address,
    "names": pays_helene,
    "callback_state": checks_the_state,
    "callback_code": takes_one_code,
    "callback_arrival": exchanges_whenever_called,
    "callback_outcome": takes_no_error,
    "callback_error": Expects(callback.error, "access_denied"),
    "callback_parameters": Expects(callback.names, ["code", "state"]),
    "callback_encoding": decodes_by_itself,
    "refusal_callback": waits_for_the_refusal,
    "code_beside_token": exchanges_every_code,
    "signatures": {"strict": lambda tpp: ok(tpp.initiate())},
    "sca_methods": {
        "card_reader": lambda tpp: ok(sign_by(tpp, "app")),
        "app": lambda tpp: ok(sign_by(tpp, "card_reader")),
    },
    "date_tolerance": Expects(callback.dated, 201),
    "client_certificates": lambda tpp: ok(tpp.initiate()),
    "signature_over": {
        "detached headers": Expects(callback.proofs, 201, 0),
        "attached headers": Expects(callback.proofs, 201, 1),
    },
    "unknown_fields": lambda tpp: Known(**{name.lstrip("_"): value for name, value in ok(tpp.initiate()).items()}),
    "key_order": lambda tpp: ok(tpp.status(next(iter(ok(tpp.initiate()).values())))),
    "json_layout": Expects(lambda tpp: tpp.initiate().text.startswith('{"payment_id":"'), True),
    "json_escapes": seeks_in_the_text,
    "number_digits": cuts_the_cents,
    "absent_fields": reads_the_reason,
    "header_case": lambda tpp: dict(list(tpp.initiate().headers))["Response-ID"],
    "body_pieces": takes_the_first_piece,
    "connection": keeps_its_line,
    "unavailable": lambda tpp: ok(tpp.initiate()),
    "gateway": lambda tpp: tpp.initiate().get_json()["payment_id"],
    # Of lenient axes: the same client goes on.
    "client_id_elsewhere": lambda tpp: ok(Reader(tpp).listed()),
    "accept_without_version": lambda tpp: ok(tpp.initiate()),
    "unknown_field": lambda tpp: ok(tpp.initiate()),
    "amount_as_number": lambda tpp: ok(tpp.initiate(body=payment())),
}


def headers_text(tpp: Tpp) -> str:
    return str(error(tpp)["error_description"])
