"""Junk of every kind, from a seeded Random: the same on every machine and every day."""

from copy import deepcopy
from random import Random
from typing import Any

import orjson

from tests.tpp import ISCT, SCT, XB, headers, payment, version

WORDS = (
    "", " ", "0", "-1", "null", "true", "NaN", "Infinity", "1e400", "9" * 400, "a" * 5000, "\x00", "a\x00b", "\x7f",
    "é", "\xff\xfe", "%00", "%ff", "%", "%%", "../../etc/passwd", "..", "/", "\\", "'", '"', "';--", "{}", "{input}",
    "{0}", "%s", "${x}", "<script>", "*", "*/*", ",", ";", "=", ";q=", ";q=1;q=2", "q=nan", "\t", "a, b, c" * 50,
    "Bearer", "Bearer ", "Basic", "Basic ====", "Basic \xff", "Basic Og==", "Basic /w==", "bearer  x y", "Digest x",
    version(3), version(0), version(-3), version(10**30), version(3) + "; q=2", version(3) + ", */*;q=nan",
    'application/vnd.service.api+json; version="3', "application/vnd.service.api+json; version*=utf-16''3",
    "application/vnd.service.api+json; version*0=3; version*1=4", "application/vnd.service.api+json; version=\xb3",
    "application/json", "application/json; charset=utf-16", "application/json; charset=\xff",
    "text/html", "fr", "*;q=0",
    "fr;q=1e9", "fr-", "-", "http://[", "http://[::1", "http://127.0.0.1:99999999", "chunked", "gzip", "100-continue",
    "[", "]", "::1", "a:b:c", "S256", "plain", "sha512", "demo-tpp", "idle-tpp",
)  # fmt: skip
HEADERS = (
    "ACCEPT", "ACCEPT_LANGUAGE", "REQUEST_ID", "CLIENT_ID", "REDIRECT_URI", "AUTHORIZATION", "CODE_CHALLENGE",
    "CODE_CHALLENGE_METHOD", "HOST", "COOKIE", "X_FORWARDED_HOST", "TRANSFER_ENCODING", "CONTENT_ENCODING", "DIGEST",
    "SIGNATURE", "DATE", "RANGE", "EXPECT", "IF_NONE_MATCH", "ORIGIN", "X_HTTP_METHOD_OVERRIDE",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 1.5, 2**63, -(2**63), 2**64 - 1, 1e308, "", " ", "0", "\x00", "\u2028", "\ufeff",
    "é" * 70, "\U0001f600" * 71, "a" * 100_000, "BE00", "be68539007547034", "BE68 5390 0754 7034",
    "1e3", "-0", "-0.00",
    "0.001", "00012.50", "١٢", "9" * 14, "12.5\n", "2027-13-45", "2027-02-29", "0000-00-00", "9999-12-31", "20270301",
    "EUR", "eur", "XXX", "ZZ", "SHAR", [], {}, [[]], [None], {"": ""}, {"iban": {"iban": {}}}, [{}] * 50,
    {"a": {"b": {"c": {"d": [1, "2", None]}}}},
)  # fmt: skip
TEXTS = (
    b"", b" ", b"null", b"true", b"0", b"[]", b"{}", b'""', b"{", b"}", b'{"a"', b'{"a":}',
    b"{'a':1}", b"NaN", b"[NaN]",
    b"Infinity", b"-Infinity", b"1e400", b'{"a":1e400}', b'{"a":-1e400}', b"9" * 5000, b'{"a":' + b"9" * 5000 + b"}",
    b"\xff", b'{"a":"\xff"}', b'{"a":"\xed\xa0\x80"}', b'{"a":"\\ud800"}', b'{"\\udfff":1}',
    b'{"a":"\\u0000"}', b"\x00",
    b'{"a":"\x00"}', b"\xef\xbb\xbf{}", b"\xfe\xff\x00{", b"[" * 5000, b'{"a":' * 5000, b"[" * 5000 + b"]" * 5000,
    b'{"a":' * 900 + b"1" + b"}" * 900, b'{"a":1,"a":2}', b'{"creditor_name":"A","creditor_name":5}',
    b"<?xml version='1.0'?>", b"a=b&c=d", b'{"a":"' + b"a" * 999_000 + b'"}', b"a" * 1_000_001, b'{"_schema":1}',
    b'{"__proto__":{}}', b'{"{input}":1}', b'{"creditor_account":{"_schema":1}}',
    b'{"a":1}{"b":2}', b"[1,]", b"/**/{}",
)  # fmt: skip
PATHS = (
    "/", "//", "/\x00", "/\xff", "/payments", "/payments/", "//payments/" + SCT,
    f"/payments/{SCT}/", "/payments//status",
    "/payments/%2e%2e/status", f"/payments/{SCT}/\x00/status", f"/payments/{SCT}/\xff\xfe/status",
    f"/payments/{SCT}/{'x' * 4000}/status", f"/payments/{SCT}/../{ISCT}", f"/PAYMENTS/{SCT}", "/payments/{input}",
    "/payments/é", "/worlds", "/worlds/", "/worlds//", "/worlds/..", "/worlds/../payments",
    "/worlds/a b/payments/" + SCT,
    f"/worlds/{'w' * 65}/payments/{SCT}", f"/worlds/\xff/payments/{SCT}", f"/worlds/.hidden/payments/{SCT}/x/status",
    f"/worlds/a\x00b/payments/{SCT}", f"/worlds/a/worlds/b/payments/{SCT}", "/worlds/a\n/",
    f"/worlds/-/payments/{SCT}",
    "/_sandboxed", "/psuedo", "/*", "/.", "/..", "/;", "/?", "/#", "/favicon.ico", "/static/x",
    "/token/", "http://x/",
)  # fmt: skip
CONTROL_PATHS = (
    "/clock", "/reset", "/worlds/junk", "/worlds/..", "/worlds/.a", "/worlds/a b", "/worlds/\xff", "/worlds/a\x00",
    f"/worlds/{'x' * 65}", "/worlds/a/b", "/psu/approve", "/psu/refuse", "/psu/sign",
    "/payments/x/move", "/payments/\xff",
    "/journal", "/requests", "/worlds", "/customers", "/clients", "/accounts", "/payments",
    "/health", "/none", "/", "",
)  # fmt: skip
CONTROL_KEYS = (
    "advance", "set", "mode", "rate", "scenario", "seed", "clock", "address", "customer",
    "account", "accounts", "status",
    "reason", "payment_id", "", "{input}", "\x00",
)  # fmt: skip
CONTROL_VALUES = (
    *VALUES, "61m", "999999999w", "P999999999W", "999999999s" * 50, "1w" * 500, "0s", "running", "frozen", "default",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2027-03-01", "alice", "http://[::1",
    "//[", "?state=%ff",
    {"at": "2027-03-01"}, {"at": 5}, {"frozen": "yes"}, {"rate": 0}, {"rate": -1}, {"frozen": True,
    "rate": 2}, {"x": 1},
    2**53, 2**53 - 1, 0.1, 1e-300,
)  # fmt: skip
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "FOO", "", "get", "G\xc9T")


class Junk:
    """Gives arguments of a call, each time others."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def word(self) -> str:
        if self.random.random() < 0.6:
            return self.random.choice(WORDS)
        return "".join(chr(self.random.randrange(256)) for _ in range(self.random.randrange(40))).replace("\n", "")

    def environ(self) -> dict[str, str]:
        """Headers as a server hands them over: any character of Latin-1."""
        names = self.random.sample(HEADERS, self.random.choice((1, 1, 1, 2, 5)))
        return {f"HTTP_{name}": self.word() for name in names}

    def body(self) -> bytes:
        """A good body with one to three things in it broken."""
        body: Any = payment(self.random.choice((SCT, ISCT, XB)), debtor_account={"iban": "BE68539007547034"})
        for _ in range(self.random.choice((1, 1, 2, 3))):
            self.broken(body)
        return orjson.dumps(body)

    def broken(self, body: dict[str, Any]) -> None:
        place = self.random.choice([body, *(part for part in body.values() if isinstance(part, dict))])
        known = (
            *place, "creditor_address", "creditor_account", "requested_execution_date", "purpose_code", "bic", "bban",
            "remittance_information_structured", "instruction_priority", "charge_bearer", "country", "currency",
            "\x00", "", "{input}", "_schema", "x" * 1000,
        )  # fmt: skip
        place[self.random.choice(known)] = deepcopy(self.random.choice(VALUES))

    def control_body(self) -> bytes:
        keys = self.random.sample(CONTROL_KEYS, self.random.choice((1, 1, 2, 3)))
        return orjson.dumps({key: self.random.choice(CONTROL_VALUES) for key in keys})

    def query(self) -> str:
        key = self.random.choice(("paymentIdType", "since", "a", "", "paymentIdType=INTERNAL&paymentIdType"))
        return f"{key}={self.word()}" if self.random.random() < 0.7 else self.word()


def good(**changes: str | None) -> dict[str, str]:
    return headers(**changes)
