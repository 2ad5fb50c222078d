"""A call on the console: what was asked, what was replied and why, without the secrets in it (choice 10)."""

import json
import re
from html import unescape

import pytest
from flask import Flask

from sandbox.web.api.call_records import BODY_MAX
from sandbox.web.api.call_texts import TOKEN, lay_out
from sandbox.worlds.registry import WorldRegistry
from tests.console.visitor import Visitor
from tests.tpp import SCT, Tpp, headers, payment


@pytest.fixture
def visitor(app: Flask) -> Visitor:
    return Visitor(app)


def seen(visitor: Visitor, number: int) -> str:
    return unescape(visitor.open(f"/_sandbox/console/calls/{number}").text)


def bodies(text: str) -> list[str]:
    return re.findall(r'<pre class="body" tabindex="0">(.*?)</pre>', text, re.DOTALL)


def test_a_call_shows_its_request_and_its_reply(tpp: Tpp, visitor: Visitor) -> None:
    reply = tpp.initiate()
    text = seen(visitor, 1)
    asked, replied = map(json.loads, bodies(text))
    assert asked == payment() and replied == reply.json
    for line in ("<dt>Client-ID</dt><dd>demo-tpp", "<dt>Redirect-URI</dt>", f"<dt>Location</dt><dd>{reply.location}"):
        assert line in text


def test_a_call_may_be_made_again_by_its_curl_line(tpp: Tpp, visitor: Visitor) -> None:
    tpp.call("GET", f"/payments/{SCT}/x/status?paymentIdType=EXTERNAL", accept="it's odd")
    line = next(line for line in re.findall(r"<code>(.*?)</code>", seen(visitor, 1), re.DOTALL) if " -i " in line)
    assert line.startswith(f"curl -i 'http://localhost/payments/{SCT}/x/status?paymentIdType=EXTERNAL' ")
    assert (
        "-H 'Accept: it'\"'\"'s odd'" in line
        and "$(python3 -c 'import uuid; print(uuid.uuid4())')" in line
        and "Host" not in line
    )


def test_no_secret_of_a_call_is_shown(worlds: WorldRegistry, tpp: Tpp, visitor: Visitor) -> None:
    token = tpp.token_for("alice")
    payment_id = tpp.initiated()
    tpp.call("GET", f"/payments/{SCT}/{payment_id}/details", authorization=f"Bearer {token}", sca_token="a-token")
    bank = worlds.get("default").bank
    secrets = [*bank.access_tokens, *bank.refresh_tokens, *bank.codes, *bank.sca_tokens, "a-token", "demo-secret"]
    pages = [seen(visitor, number) for number in range(1, worlds.get("default").calls.made + 1)]
    assert not [secret for secret in secrets for text in pages if secret in text]
    assert "<dd>Bearer •••" in pages[-1] and '-H "Authorization: Bearer $TOKEN"' in pages[-1]
    assert any("grant_type=authorization_code" in text and "code=•••" in text for text in pages)


@pytest.mark.parametrize(
    "changes",
    [
        {"authorization": "S3CRET"},
        {"authorization": "S3CRET and more"},
        {"sca_token": "S3CRET"},
        {"x_sandbox_key": "S3CRET"},
    ],
)
def test_a_secret_in_the_wrong_shape_is_not_shown_either(changes: dict[str, str], tpp: Tpp, visitor: Visitor) -> None:
    tpp.status("x", **changes)
    assert "S3CRET" not in seen(visitor, 1) and "•••" in seen(visitor, 1)


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "application/json", "text/plain"])
@pytest.mark.parametrize(
    "body",
    ["code=S3CRET", "a=b&refresh%5Ftoken=S3CRET", '{"code": "S3CRET"}', '{"access_token":"S3\\"CRET', "S3CRET=1"],
)
def test_nor_is_one_in_a_body_that_calls_itself_something_else(
    kind: str, body: str, tpp: Tpp, visitor: Visitor
) -> None:
    tpp.call("POST", "/token?access_token=S3CRET", data=body, content_type=kind)
    text = seen(visitor, 1)
    assert ("S3CRET" in text) is body.startswith("S3CRET") and "CRET" not in text.replace("S3CRET", "")
    assert "access_token=•••" in text


def test_what_a_client_sent_stays_text(tpp: Tpp, visitor: Visitor) -> None:
    tpp.initiate(body={"creditor_name": "</pre><script>alert(1)</script>"})
    tpp.call("POST", f"/payments/{SCT}", data=b"\xff\x00<b>", content_type="application/json")
    text = visitor.open("/_sandbox/console/calls/1").text + visitor.open("/_sandbox/console/calls/2").text
    assert "<script>alert" not in text and "&lt;b&gt;" in text


def test_a_long_body_is_cut_and_says_so(tpp: Tpp, visitor: Visitor) -> None:
    tpp.initiate(body={"creditor_name": "W" * BODY_MAX})
    tpp.call("POST", "/bulk-payments/csv", data=b"debtor_iban\n" + b"x" * BODY_MAX, content_type="text/csv")
    assert "bytes, which are not kept" in seen(visitor, 1)
    assert "'@body'" in seen(visitor, 2) or "--data-binary @body" in seen(visitor, 2)


def test_a_reply_that_a_fault_cut_is_told_so(tpp: Tpp, visitor: Visitor) -> None:
    tpp.control("POST", "/faults", cut="before")
    with pytest.raises(ConnectionError):
        tpp.initiate()
    assert "a fault rule cut it off" in seen(visitor, 1)


def test_of_so_many_calls_as_the_setting_says_the_words_are_kept(tpp: Tpp, visitor: Visitor) -> None:
    tpp.control("PATCH", "/settings", contents_kept=2)
    for _ in range(3):
        tpp.initiate()
    assert "of the last 2 calls only" in seen(visitor, 1)
    assert len(bodies(seen(visitor, 2))) == len(bodies(seen(visitor, 3))) == 2
    tpp.control("PATCH", "/settings", contents_kept=0)
    tpp.initiate()
    assert bodies(seen(visitor, 4)) == []


def test_a_body_shorter_than_it_says_harms_nothing(app: Flask, visitor: Visitor) -> None:
    sent = headers(accept="odd") | {"Content-Type": "application/json"}
    longer = {"CONTENT_LENGTH": "100"}
    reply = app.test_client().post(f"/payments/{SCT}", data=b"{}", headers=sent, environ_overrides=longer)
    assert reply.status_code == 406
    assert "100 bytes, which are not kept" in seen(visitor, 1)


@pytest.mark.parametrize(
    "content", [{}, [], {"a": []}, {"a": {"b": [1.50, 'x,{}[]:\\"']}, "c": None}, [[1], {}], "text"]
)
def test_json_is_laid_out_without_a_change(content: object) -> None:
    text = json.dumps(content)
    assert "".join(lay_out(TOKEN.findall(text))) == re.sub(
        r"(\[|\{)\n\s*(\]|\})", r"\1\2", json.dumps(content, indent=2)
    )


def test_a_choice_leads_to_the_page_that_explains_it(tpp: Tpp, visitor: Visitor) -> None:
    tpp.status("x", client_id="nobody")
    tpp.initiated()
    tpp.advance("2s")
    payment_id = tpp.listed("payments")[0]["payment_id"]
    explained = set(re.findall(r'id="(choice-\d+)"', visitor.open("/_sandbox/docs/reference").text))
    for path in ("/console/calls/1", "/console/settings", "/console/referee", f"/console/payments/{payment_id}"):
        named = re.findall(
            r'<a href="/_sandbox/docs/reference#([\w-]+)">choice \d+</a>', visitor.open(f"/_sandbox{path}").text
        )
        assert set(named) <= explained and (named or path.endswith("referee"))


@pytest.mark.parametrize(
    "query, shown",
    [
        ("status=4", {2}),
        ("operation=payment_initiation&status=201", {1}),
        ("client=other-tpp", set()),
        ("text=INPUT_INVALID", {2}),
        ("text=%3Cb%3E", set()),
    ],
)
def test_calls_are_sifted(app: Flask, tpp: Tpp, query: str, shown: set[int]) -> None:
    tpp.initiate()
    tpp.initiate(SCT, {"nonsense": 1})
    page = Visitor(app).open(f"/_sandbox/console/calls?{query}").text
    assert {number for number in (1, 2) if f"/console/calls/{number}" in page} == shown
    assert "<b>" not in page.partition("Nothing fits.")[2][:10]


@pytest.mark.parametrize("page", ["/", "/console/calls", "/console/search?q=sepa-credit"])
def test_the_calls_show_the_name_of_the_tpp_and_its_id(page: str, visitor: Visitor, tpp: Tpp) -> None:
    tpp.initiate()
    tpp.call("GET", "/nothing/sepa-credit", client_id="nobody-knows")
    listed = visitor.open(f"/_sandbox{page}").text
    assert re.findall(r'<td class="wrap">(Demo TPP|nobody-knows)', listed) == ["nobody-knows", "Demo TPP"]
    assert 'Demo TPP <span class="quiet wide-only">demo-tpp</span>' in listed


def test_the_calls_show_how_long_they_took_and_the_wall_time_of_those_that_are_kept(visitor: Visitor, tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", contents_kept=1)
    tpp.initiated()
    tpp.initiated()
    page = visitor.open("/_sandbox/console/calls").text
    wall = r'<td class="num">\d+\.\d ms</td><td class="wide-only">\d\d:\d\d:\d\d\.\d{3}</td>'
    assert len(re.findall(wall, page)) == 1
    assert page.count('<td class="num wide-only">–</td><td class="wide-only">–</td>') == 1
    newest = visitor.open("/_sandbox/console/calls/2").text
    assert re.search(r"<dt>took</dt><dd>\d", newest) and "<dt>wall time</dt>" in newest
    assert "<dt>took</dt>" not in visitor.open("/_sandbox/console/calls/1").text
