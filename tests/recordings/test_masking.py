"""Nothing that was secret is left in a masked recording, and it still says what happened."""

import json
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest

from sandbox.banking.iban import is_iban
from sandbox.banking.pkce import compute_challenge
from sandbox.banking.remittance import read_structured
from sandbox.recordings import RecordedCall, read_recording
from sandbox.recordings.har import HarWriter, write_entry
from sandbox.recordings.masking import Masker
from sandbox.recordings.pseudonyms import Pseudonyms

HOST = "https://test.bank.example"
PAYMENTS = f"{HOST}/payments/sepa-credit-transfers"


def masker() -> Masker:
    return Masker(Pseudonyms(), ["test.bank.example"])


def call(url: str = PAYMENTS, method: str = "POST", status: int = 200, **parts: Any) -> RecordedCall:
    content = {"headers": {}, "body": "", "reply_headers": {}, "reply_body": ""} | parts
    return RecordedCall(1, method, url, status=status, **content)


def segment(content: Any) -> str:
    return urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


# Fifty secrets

SECRETS = {
    "bearer": "tok_9fK2-Lq7",
    "basic user": "tpp-42",
    "basic password": "pw:x9!",
    "client": "PSDBE-NBB-0123456789",
    "sca token": "sca.Zz81kk",
    "cookie": "sid-77ab",
    "cookie name": "s3ss10n",
    "set-cookie": "abc99999",
    "agent": "acme7/1.0",
    "ip": "81.245.7.19",
    "custom header": "Geheim-4711",
    "reply header": "trace0815",
    "bearer of reply": "realm-55x",
    "jws key": "kid-2027-A1",
    "jws proof": "c2lnbmF0dXJlLTQ3MTE",
    "cert": "MIIB9zCCAV2gAwIBAgIJ",
    "odd scheme": "hmac 8a7b6c",
    "code": "AUTHCODE1",
    "verifier": "verifier-" + "v1" * 20,
    "refresh": "rt-5512",
    "form secret": "cs+ret/1=",
    "state": "st8-xyz",
    "next": "cursor/2==",
    "iban in query": "BE71096123456769",
    "logical id": "acc-00c4",
    "payment id": "9d1e7906-cf2e-4ca8-9fa3-1ade133835a2",
    "reference in path": "INV 77/é",
    "sca address": "dMsAEE5x",
    "callback host": "tpp7.example",
    "callback path": "landing9",
    "callback query": "tenant-8",
    "fragment": "frag-31",
    "user of address": "u53r",
    "app scheme": "acmeapp7",
    "creditor": "Juliette Vraie",
    "debtor": "Zoë Peeters",
    "cyrillic": "Юлия",
    "iban": "FR7630006000011234567890189",
    "spaced iban": "NL91 ABNA 0417 1643 00",
    "bad iban": "BE00096123456769",
    "communication": "For Juliette",
    "structured": "+++090/9337/55493+++",
    "twelve digits": "090933755493",
    "mail": "juliette@vraie.be",
    "deep": "n0-one-k4ows",
    "in a list": "third-3rd",
    "json key": "k3y-of-h3r",
    "phone number": "32475123456",
    "pin": "4711",
    "street": "Kerkstraat 12",
    "in a sentence": "BE68 of Xq77",
    "name in xml": "Vraie & Zonen",
    "cell": "Cellini9",
    "page": "page-q1",
    "birthday": "1980-02-03",
}
S = SECRETS
BASIC = b64encode(f"{S['basic user']}:{S['basic password']}".encode()).decode()
BODY = {
    "creditor_account": {"iban": S["iban"]},
    "creditor_name": S["creditor"],
    "creditor_address": {"street": S["street"], "country": "FR"},
    "debtor_account": {"iban": S["spaced iban"]},
    "remote_account": {"iban": S["bad iban"]},
    "instructed_amount": {"amount": "12.50", "currency": "EUR"},
    "endtoend_identification": S["reference in path"],
    "remittance_information_unstructured": S["communication"],
    "remittance_information_structured": S["structured"],
}
REPLY = {
    "payment_id": S["payment id"],
    "status": "RCVD",
    "debtor_name": S["debtor"],
    "birth_date": S["birthday"],
    "owner": {
        "name": S["cyrillic"],
        "mail": S["mail"],
        "birth_date": S["birthday"],
        "pin": int(S["pin"]),
        "phone": int(S["phone number"]),
    },
    "nested": [[{"a": {"b": [{S["json key"]: S["deep"]}]}}, "EUR", S["in a list"]]],
    "communication": S["twelve digits"],
    "_links": {"sca": {"href": f"{HOST}/psu/sign/{S['sca address']}"}, "app": {"href": f"{S['app scheme']}://pay"}},
    "error_description": f"The input 'creditor_name' of {S['in a sentence']} is missing.",
}
JWS = f"{segment({'alg': 'ES256', 'kid': S['jws key']})}.{segment(BODY)}.{S['jws proof']}"
PLACE = f"{S['user of address']}:x@{S['callback host']}/{S['callback path']}"
CALLBACK = f"https://{PLACE}?t={S['callback query']}#{S['fragment']}"
HEADERS = {
    "accept": "application/vnd.service.api+json; version=3",
    "authorization": f"Bearer {S['bearer']}",
    "client-id": S["client"],
    "sca-token": S["sca token"],
    "cookie": f"a={S['cookie']}; {S['cookie name']}=1",
    "user-agent": S["agent"],
    "psu-ip-address": S["ip"],
    "x-custom": S["custom header"],
    "signature": JWS,
    "x-ssl-cert": S["cert"],
    "redirect-uri": CALLBACK,
    "code-challenge": compute_challenge("S256", S["verifier"]),
}
FORM = {
    "grant_type": "authorization_code",
    "code": S["code"],
    "code_verifier": S["verifier"],
    "refresh_token": S["refresh"],
    "client_secret": S["form secret"],
    "redirect_uri": CALLBACK,
}
XML = f"<Document><Nm>{S['name in xml'].replace('&', '&amp;')}</Nm><InstdAmt Ccy='EUR'>5.00</InstdAmt></Document>"
CALLS = [
    call(
        status=201,
        headers=HEADERS,
        body=json.dumps(BODY),
        reply_headers={
            "location": f"{CALLBACK.partition('#')[0]}&code={S['code']}&state={S['state']}",
            "set-cookie": f"b={S['set-cookie']}; Path=/; HttpOnly",
            "x-trace": S["reply header"],
            "www-authenticate": f'Bearer realm="{S["bearer of reply"]}"',
        },
        reply_body=json.dumps(REPLY),
    ),
    call(f"{HOST}/token", headers={"authorization": f"Basic {BASIC}"}, body=urlencode(FORM), reply_body="{}"),
    call(
        f"{PAYMENTS}/{quote(S['reference in path'], safe='')}/status", "GET", headers={"authorization": S["odd scheme"]}
    ),
    call(
        f"{HOST}/accounts/{S['logical id']}/transactions?next={quote(S['next'])}&iban={S['iban in query']}",
        "GET",
        reply_headers={"content-type": "text/html"},
        reply_body=f"<html><a href='{S['page']}'>{S['page']}</a><!-- {S['page']} --></html>",
    ),
    call(f"{HOST}/bulk-payments/pain.001", headers={"content-type": "application/xml"}, body=XML),
    call(
        f"{HOST}/bulk-payments/csv",
        headers={"content-type": "text/csv"},
        body=f"debtor_iban;amount;creditor_name\n{S['iban in query']};5.00;{S['cell']}\n",
    ),
]


def forms_of(secret: str) -> set[str]:
    """The spellings in which a secret could be left."""
    encoded = {b64encode(secret.encode()[at:]).decode()[:-4].rstrip("=") for at in range(3)}
    texts = {secret, secret.replace(" ", ""), quote(secret, safe=""), quote(secret), escape(secret)}
    texts.add(json.dumps(secret)[1:-1])
    return texts | {text for text in encoded if len(text) > 5}


def decoded(text: str) -> str:
    """A recording with everything that is packed in Base64 beside it."""
    words = {word for word in text.replace('"', " ").replace(".", " ").replace("\\", " ").split() if len(word) > 8}
    parts = []
    for word in words:
        try:
            parts.append(urlsafe_b64decode(word + "=" * (-len(word) % 4)).decode(errors="replace"))
        except ValueError:
            continue
    return "\n".join([text, *parts])


def test_none_of_fifty_secrets_is_left(tmp_path: Path) -> None:
    assert len(SECRETS) >= 50
    file, other = tmp_path / "calls.har", masker()
    raw = decoded("\n".join(json.dumps(write_entry(one), ensure_ascii=False).replace("\\\\", "\\") for one in CALLS))
    planted = [name for name, secret in SECRETS.items() if not any(form in raw for form in forms_of(secret))]
    assert planted == []
    writer = HarWriter(file)
    for one in CALLS:
        writer.add(other.mask(one))
    writer.close()
    text = decoded(file.read_text())
    left = [name for name, secret in SECRETS.items() if any(form in text for form in forms_of(secret))]
    assert left == []
    assert len(read_recording(file.read_bytes()).calls) == len(CALLS)


# What stays


def test_what_happened_is_still_there() -> None:
    other = masker()
    payment, token, status, history, _, _ = (other.mask(one) for one in CALLS)
    assert payment.path == ("payments", "sepa-credit-transfers") and payment.host == "test.bank.example"
    assert payment.json.keys() == BODY.keys() and payment.json["instructed_amount"] == BODY["instructed_amount"]
    assert payment.reply_json["status"] == "RCVD"
    assert payment.headers["accept"] == HEADERS["accept"] and payment.headers["client-id"] == "demo-tpp"
    assert "The input 'creditor_name' of" in payment.reply_json["error_description"]
    assert token.form["grant_type"] == "authorization_code"
    assert history.query.keys() == {"next", "iban"} and history.path[2] == "transactions"
    assert status.path[3] == "status"


def test_equal_stays_equal() -> None:
    other = masker()
    payment, token, status, history, _, table = (other.mask(one) for one in CALLS)
    assert payment.headers["code-challenge"] in token.challenges
    assert status.path[2] == quote(payment.json["endtoend_identification"], safe="")
    assert history.query["iban"] in table.body and is_iban(history.query["iban"])
    redirect = urlsplit(payment.reply_headers["location"])
    assert dict(parse_qsl(redirect.query))["code"] == token.form["code"]
    assert payment.headers["redirect-uri"] == token.form["redirect_uri"]
    assert payment.headers["redirect-uri"].partition("?")[0] == payment.reply_headers["location"].partition("?")[0]
    assert payment.headers["signature"].split(".")[1] == urlsafe_b64encode(payment.body.encode()).rstrip(b"=").decode()
    assert b64decode(token.headers["authorization"].split()[1]).partition(b":")[0] != S["basic user"].encode()


def test_what_was_right_stays_right_and_what_was_wrong_stays_wrong() -> None:
    payment = masker().mask(CALLS[0])
    ibans = [payment.json[name]["iban"] for name in ("creditor_account", "debtor_account", "remote_account")]
    assert [is_iban(iban.replace(" ", "")) for iban in ibans] == [True, True, False]
    assert (ibans[0][:2], ibans[1][:5].count(" ")) == ("FR", 1)
    assert read_structured(payment.json["remittance_information_structured"]) is not None
    assert read_structured(payment.reply_json["communication"]) is not None
    identifier = payment.reply_json["payment_id"]
    assert [len(part) for part in identifier.split("-")] == [8, 4, 4, 4, 12] and identifier[14] == "4"


def test_a_digest_is_of_the_masked_body() -> None:
    body = json.dumps(BODY)
    right = f"SHA-256={b64encode(sha256(body.encode()).digest()).decode()}"
    masked = masker().mask(call(headers={"digest": right}, body=body))
    assert masked.headers["digest"] == f"SHA-256={b64encode(sha256(masked.body.encode()).digest()).decode()}"
    wrong = masker().mask(call(headers={"digest": right}, body="{}"))
    assert wrong.headers["digest"].startswith("SHA-256=") and wrong.headers["digest"] != right
    assert wrong.headers["digest"] != f"SHA-256={b64encode(sha256(b'{}').digest()).decode()}"


@pytest.mark.parametrize(
    "text", ['{"amount": 12.50,\n "a":[1, 2e3, true, null]}', '{"status":"PDNG","status":"ACSC"}', "[]", " 5"]
)
def test_the_layout_of_json_and_the_form_of_numbers_stay(text: str) -> None:
    assert masker().mask(call(reply_body=text)).reply_body == text


ODD_BODIES = [
    "{",
    '{"a": NaN}',
    "[" * 5_000,
    "\x00\x01",
    '{"a": "\\ud800"}',
    "<",
    "a=b=c&&=",
    '{"n": 1' + "0" * 5_000 + "}",
    "a;b",
]


@pytest.mark.parametrize("body", ODD_BODIES, ids=range(len(ODD_BODIES)))
@pytest.mark.parametrize(
    "media", ["", "application/json", "text/csv", "application/xml", "application/x-www-form-urlencoded"]
)
def test_odd_bodies_are_masked_too(body: str, media: str) -> None:
    masked = masker().mask(call(headers={"content-type": media}, body=f"{body}geheim9", reply_body=body))
    assert "geheim9" not in masked.body


@pytest.mark.parametrize("value", ["", "Basic", "Basic !!", "Basic eA==", "Bearer", "bearer  x", "Bearer a.b.c", "."])
def test_odd_credentials_are_masked(value: str) -> None:
    masked = masker().mask(call(headers={"authorization": value})).headers["authorization"]
    assert masked == value or masked.partition(" ")[2] != value.partition(" ")[2]


@pytest.mark.parametrize(
    ("field", "word"),
    [
        ("type", "current-account"),
        ("type", "savings-account"),
        ("multicurrency", "N"),
        ("error", "not_found"),
        ("credit_debit_indicator", "DBIT"),
        ("language", "fr"),
    ],
)
def test_a_word_of_the_interface_stays_in_every_spelling(field: str, word: str) -> None:
    body = json.dumps({field: word, "name": word})
    masked = json.loads(masker().mask(call(reply_body=body)).reply_body)
    assert masked[field] == word and masked["name"] != word


@pytest.mark.parametrize(
    "sentence",
    [
        "The header 'Accept' names no version that this operation has: offered are 1, 2, 3.",
        "'payment-id' was not found.",
    ],
)
def test_a_sentence_of_known_words_keeps_its_short_numbers(sentence: str) -> None:
    body = json.dumps({"error_description": sentence})
    assert json.loads(masker().mask(call(status=404, reply_body=body)).reply_body)["error_description"] == sentence


@pytest.mark.parametrize("number", ["0470 12 34 56", "123 4567 89"])
def test_short_numbers_beside_a_longer_one_are_masked(number: str) -> None:
    body = json.dumps({"error_description": f"The header has {number}."})
    masked = masker().mask(call(status=404, reply_body=body)).reply_body
    assert not any(part in masked for part in number.split())


@pytest.mark.parametrize("names", [("Content-Type", "X-A"), ("content-type", "x-a"), ()])
def test_header_names_are_written_in_the_letters_of_the_server_where_these_are_known(names: tuple[str, ...]) -> None:
    headers = {"content-type": "application/json", "x-a": "1"}
    entry = write_entry(call(reply_headers=headers, reply_names=names))
    assert [row["name"] for row in entry["response"]["headers"]] == list(names or headers)
    content = json.dumps({"log": {"entries": [entry]}}).encode()
    assert read_recording(content).calls[0].reply_names == names
