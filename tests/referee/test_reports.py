"""What the referee found, in every form that it is told in."""

import json
import re
from dataclasses import replace
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask
from jsonschema import Draft7Validator
from lxml import etree, html

from sandbox.extensions.referee.documents import as_sarif
from sandbox.extensions.referee.report import RefereeReport, make_report
from sandbox.extensions.referee.table import TABLE
from sandbox.worlds.registry import WorldRegistry
from tests.referee.actor import Actor
from tests.tpp import Tpp

# What SARIF 2.1.0 demands of the parts that we write (its own words: required properties, enumerations).
TEXT = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string"}},
    "additionalProperties": False,
}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
BAG = {"type": "object"}
RULE = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string"},
        "shortDescription": TEXT,
        "help": TEXT,
        "defaultConfiguration": {"type": "object", "properties": {"level": LEVEL}, "additionalProperties": False},
        "properties": BAG,
    },
    "additionalProperties": False,
}
URI_REFERENCE = "^(?:[A-Za-z0-9._~!$&'()*+,;=@/-]|%[0-9A-Fa-f]{2})+$"  # relative: no colon in its first part
PLACE = {
    "type": "object",
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "properties": {"uri": {"type": "string", "pattern": URI_REFERENCE}},
                    "additionalProperties": False,
                },
                "region": {
                    "type": "object",
                    "properties": {"startLine": {"type": "integer", "minimum": 1}, "snippet": TEXT},
                    "additionalProperties": False,
                },
            },
            "additionalProperties": False,
        },
        "logicalLocations": {
            "type": "array",
            "uniqueItems": True,
            "items": {"properties": {"name": {"type": "string"}, "fullyQualifiedName": {"type": "string"}}},
        },
    },
    "additionalProperties": False,
}
SUPPRESSION = {
    "type": "object",
    "required": ["kind"],
    "properties": {
        "kind": {"enum": ["inSource", "external"]},
        "status": {"enum": ["accepted", "underReview", "rejected"]},
        "justification": {"type": "string"},
    },
    "additionalProperties": False,
}
RESULT = {
    "type": "object",
    "required": ["message"],
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": -1},
        "level": LEVEL,
        "message": TEXT,
        "locations": {"type": "array", "items": PLACE},
        "suppressions": {"type": "array", "uniqueItems": True, "items": SUPPRESSION},
        "properties": BAG,
    },
    "additionalProperties": False,
}
DRIVER = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "version": {"type": "string"},
        "rules": {"type": "array", "uniqueItems": True, "items": RULE},
    },
    "additionalProperties": False,
}
RUN = {
    "type": "object",
    "required": ["tool"],
    "properties": {
        "tool": {"type": "object", "required": ["driver"], "properties": {"driver": DRIVER}},
        "results": {"type": "array", "items": RESULT},
        "properties": BAG,
    },
    "additionalProperties": False,
}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"enum": ["2.1.0"]},
        "runs": {"type": "array", "items": RUN},
    },
    "additionalProperties": False,
}

# JUnit has no schema of its own; this is what the build servers that read it agree on.
JUNIT = """
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:complexType name="told"><xs:simpleContent><xs:extension base="xs:string">
    <xs:attribute name="message" type="xs:string"/><xs:attribute name="type" type="xs:string"/>
  </xs:extension></xs:simpleContent></xs:complexType>
  <xs:element name="testsuites"><xs:complexType><xs:sequence>
    <xs:element name="testsuite" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="testcase" maxOccurs="unbounded"><xs:complexType><xs:choice minOccurs="0">
        <xs:element name="failure" type="told"/><xs:element name="skipped" type="told"/>
        <xs:element name="system-out" type="xs:string"/>
      </xs:choice>
        <xs:attribute name="classname" type="xs:string" use="required"/>
        <xs:attribute name="name" type="xs:string" use="required"/>
        <xs:attribute name="time" type="xs:decimal"/>
      </xs:complexType></xs:element></xs:sequence>
      <xs:attribute name="name" type="xs:string" use="required"/>
      <xs:attribute name="tests" type="xs:nonNegativeInteger" use="required"/>
      <xs:attribute name="failures" type="xs:nonNegativeInteger" use="required"/>
      <xs:attribute name="errors" type="xs:nonNegativeInteger" use="required"/>
      <xs:attribute name="skipped" type="xs:nonNegativeInteger"/>
      <xs:attribute name="time" type="xs:decimal"/>
    </xs:complexType></xs:element></xs:sequence>
    <xs:attribute name="tests" type="xs:nonNegativeInteger"/>
    <xs:attribute name="failures" type="xs:nonNegativeInteger"/>
    <xs:attribute name="errors" type="xs:nonNegativeInteger"/>
  </xs:complexType></xs:element>
</xs:schema>
"""


@pytest.fixture
def blamed(actor: Actor) -> Actor:
    """One warning (plain), one error (no state)."""
    flow = actor.pay(method="plain")
    actor.approve(flow, None)
    actor.status(flow)
    return actor


def report(actor: Actor, query: str = "") -> Any:
    reply = actor.tpp.control("GET", f"/referee{query}")
    assert reply.status_code == 200, reply.text
    return reply


def test_a_finding_tells_its_rule_its_call_and_what_to_do(blamed: Actor) -> None:
    found = report(blamed).json
    first, second = found["findings"]
    assert (first["rule"], first["severity"], first["clause"]) == ("pkce-plain", "warning", "service 4.0")
    assert (second["rule"], second["severity"]) == ("state-missing", "error")
    assert set(first) == {
        "rule", "title", "severity", "clause", "call", "what", "instead", "waved_off", "reason", "proof", "difference",
    }  # fmt: skip
    asked = blamed.tpp.listed("requests")[0]
    assert first["call"]["request_id"] == asked["request_id"]
    assert first["call"]["operation"] == second["call"]["operation"] == "payment_initiation"
    assert first["call"]["path"] == "/payments/sepa-credit-transfers"
    assert (found["counts"], found["waved_off"]) == ({"error": 1, "warning": 1, "advice": 0}, 0)


def test_a_finding_is_waved_off_by_the_caller_and_the_reason_is_repeated(blamed: Actor) -> None:
    found = report(blamed, "?waive=pkce-plain: our+old+app+knows+no+other").json
    assert [(row["waved_off"], row["reason"]) for row in found["findings"]] == [
        (True, "our old app knows no other"),
        (False, None),
    ]
    assert (found["counts"]["warning"], found["waved_off"]) == (0, 1)


def test_a_finding_is_waved_off_by_a_setting(blamed: Actor) -> None:
    changed = blamed.tpp.control("PATCH", "/settings", referee_waives=["state-missing: asked for in May"])
    assert changed.get_json()["settings"]["referee_waives"] == ["state-missing: asked for in May"]
    assert report(blamed).json["findings"][1]["reason"] == "asked for in May"


def test_a_scenario_waves_off(actor: Actor) -> None:
    settings = {"referee_waives": ["pkce-plain: it is what we test"]}
    assert actor.tpp.control("PUT", "/scenario", scenario={"settings": settings}).status_code == 200
    actor.pay(method="plain")
    assert report(actor).json["counts"] == {"error": 0, "warning": 0, "advice": 0}


@pytest.mark.parametrize("text", ["pkce-plain", "pkce-plain:", "no-such-rule: because"])
def test_a_waive_without_reason_or_rule_is_refused(blamed: Actor, text: str) -> None:
    assert blamed.tpp.control("GET", f"/referee?waive={text}").status_code == 400


@pytest.mark.parametrize("waives", ["pkce-plain: x", ["pkce-plain"], [1]])
def test_a_setting_that_waves_off_without_reason_is_refused(actor: Actor, waives: Any) -> None:
    assert actor.tpp.control("PATCH", "/settings", referee_waives=waives).status_code == 400


@pytest.mark.parametrize("query", ["?format=pdf", "?format=junit&level=grave"])
def test_an_unknown_format_or_level_is_refused(actor: Actor, query: str) -> None:
    assert actor.tpp.control("GET", f"/referee{query}").status_code == 400


def test_sarif_holds_its_schema(blamed: Actor) -> None:
    found = report(blamed, "?format=sarif&waive=pkce-plain: known").json
    Draft7Validator.check_schema(SARIF)
    assert list(Draft7Validator(SARIF).iter_errors(found)) == []
    (run,) = found["runs"]
    assert [row["id"] for row in run["tool"]["driver"]["rules"]] == [row.id for row in TABLE]
    first, second = run["results"]
    assert first["suppressions"][0]["justification"] == "known" and "suppressions" not in second
    assert run["tool"]["driver"]["rules"][second["ruleIndex"]]["id"] == second["ruleId"] == "state-missing"
    assert (first["level"], second["level"]) == ("warning", "error")


def test_sarif_names_the_version_of_the_tool_and_a_region_of_each_finding(blamed: Actor) -> None:
    (run,) = report(blamed, "?format=sarif").json["runs"]
    assert run["tool"]["driver"]["version"] == version("bank-sandbox")
    places = [place["physicalLocation"] for row in run["results"] for place in row["locations"]]
    assert [place["region"]["startLine"] for place in places] == [1, 1]
    assert places[0]["artifactLocation"]["uri"] == "payments/sepa-credit-transfers"
    assert places[0]["region"]["snippet"]["text"] == "POST /payments/sepa-credit-transfers 201"


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/payments/a%2F1/status", "payments/a%2F1/status"),
        ("/a:b/c", "a%3Ab/c"),
        ("//x?y #", "x%3Fy%20%23"),
        ("/100%/%zz", "100%25/%25zz"),
        ("/caf\xe9\\", "caf%C3%A9%5C"),
        ("/\ud800", "%3F"),
        ("/", "call"),
    ],
)
def test_any_path_becomes_a_relative_reference(blamed: Actor, worlds: WorldRegistry, path: str, uri: str) -> None:
    found = make_report(worlds.get("default")).findings[0]
    elsewhere = replace(found, exchange=found.exchange._replace(path=path))
    told = as_sarif(RefereeReport("w", [elsewhere], {}))
    assert list(Draft7Validator(SARIF).iter_errors(told)) == []
    place = told["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == uri


def test_sarif_that_breaks_the_schema_is_noticed(blamed: Actor) -> None:
    found = report(blamed, "?format=sarif").json
    found["runs"][0]["results"][0]["level"] = "advice"
    assert list(Draft7Validator(SARIF).iter_errors(found))


def test_junit_holds_its_schema_and_fails_from_a_level_on(blamed: Actor) -> None:
    schema = etree.XMLSchema(etree.fromstring(JUNIT))
    for query, failed in (("", 1), ("&level=warning", 2), ("&waive=state-missing: known", 0)):
        tree = etree.fromstring(report(blamed, f"?format=junit{query}").data)
        schema.assertValid(tree)
        suite = tree.find("testsuite")
        assert suite is not None
        assert int(suite.get("failures", "")) == failed == len(suite.findall("testcase/failure"))
        assert int(suite.get("tests", "")) == len(TABLE) == len(suite.findall("testcase"))
        assert int(suite.get("skipped", "")) == len(suite.findall("testcase/skipped"))


def test_the_page_names_the_finding_and_escapes_what_a_client_sent(blamed: Actor) -> None:
    blamed.tpp.call("GET", "/<script>?token=1")
    page = report(blamed, "?format=html").text
    assert "The address has no state" in page and "&lt;script&gt;" in page
    assert "<script" not in page and "http" not in page.replace("http-equiv", "")
    assert "default-src 'none'; style-src 'sha256-" in page
    assert re.search(r"<p>\d+ findings?, 0 accepted\.</p>", page)


def test_the_page_has_one_article_for_a_rule_that_is_broken_often(actor: Actor) -> None:
    for _ in range(7):
        actor.tpp.initiate(code_challenge_method="plain")
    page = html.fromstring(report(actor, "?format=html").text)
    (article,) = (row for row in page.iter("article") if row.findtext("p/small/code") == "pkce-plain")
    assert "7 times" in article.findtext("h2", "")
    assert len(article.findall("ul/li")) == 5 and len(article.findall("details/ul/li")) == 2


HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(2)>\"'"


def markup_of(page: str) -> set[tuple[str, tuple[str, ...]]]:
    """The elements of a page with the names of their attributes."""
    return {(str(one.tag), tuple(sorted(map(str, one.keys())))) for one in html.fromstring(page).iter()}


def test_nothing_that_a_client_sent_becomes_markup(blamed: Actor) -> None:
    plain = markup_of(report(blamed, "?format=html").text)
    blamed.tpp.call("GET", f"/{quote(HOSTILE, safe='')}?token=1")
    blamed.tpp.call("GET", "/accounts", client_id=HOSTILE)
    blamed.tpp.initiate(redirect_uri=f"https://elsewhere.example/{HOSTILE}")
    blamed.tpp.initiate(accept_language=HOSTILE)
    page = report(blamed, "?format=html").text
    assert markup_of(page) <= plain
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    waived = report(blamed, f"?format=html&waive={quote('state-missing: ' + HOSTILE)}").text
    assert markup_of(waived) <= plain and "&lt;script&gt;alert(1)" in waived
    assert etree.fromstring(report(blamed, "?format=junit").data).find(".//script") is None


def test_the_page_is_sent_with_the_headers_of_the_other_pages(blamed: Actor) -> None:
    headers = report(blamed, "?format=html").headers
    policy = headers["Content-Security-Policy"]
    for part in ("default-src 'none'", "style-src 'sha256-", "base-uri 'none'", "frame-ancestors 'none'"):
        assert part in policy
    assert (headers["X-Frame-Options"], headers["X-Content-Type-Options"]) == ("DENY", "nosniff")
    assert (headers["Referrer-Policy"], headers["Cache-Control"]) == ("no-referrer", "no-store")
    assert "Content-Security-Policy" not in report(blamed, "?format=json").headers


def test_a_path_that_xml_cannot_hold_is_told_all_the_same(actor: Actor) -> None:
    actor.tpp.call("GET", "/payments/%01%00?token=1")
    for kind in ("junit", "sarif", "html"):
        assert report(actor, f"?format={kind}").data


def test_no_secret_is_in_a_report(actor: Actor) -> None:
    flow, tokens = actor.paid()
    actor.approve(actor.pay(), extra="&x=demo-secret")
    actor.tpp.call("GET", f"/accounts?access_token={tokens['access_token']}")
    actor.exchange(flow)
    told = json.dumps(report(actor).json) + report(actor, "?format=sarif").text
    for secret in (*tokens.values(), flow.verifier, flow.code, "demo-secret"):
        assert str(secret) in ("3600", "Bearer", "PIS") or str(secret) not in told


def test_a_reset_forgets(blamed: Actor) -> None:
    assert blamed.rules()
    blamed.tpp.control("POST", "/reset")
    assert blamed.rules() == []


def test_worlds_are_watched_apart(app: Flask, worlds: WorldRegistry, blamed: Actor) -> None:
    there = Tpp(app, "there")
    there.initiate()
    assert there.control("GET", "/referee").get_json()["findings"] == []
    assert blamed.rules()


def test_a_referee_that_is_off_sees_nothing(actor: Actor) -> None:
    actor.tpp.control("PATCH", "/settings", referee="off")
    actor.approve(actor.pay(method="plain"), None)
    assert actor.rules() == []


def test_a_fork_begins_with_a_clean_sheet(app: Flask, blamed: Actor) -> None:
    assert blamed.tpp.control("POST", "/worlds/default/fork", **{"as": "b"}).status_code in (200, 201)
    assert Tpp(app, "b").control("GET", "/referee").get_json()["findings"] == []
