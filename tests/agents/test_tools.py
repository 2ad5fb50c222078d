"""The tools: one for each control, bounded, without secrets, and with what to call next."""

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from marshmallow import fields

from sandbox.client import Client
from sandbox.extensions.agents.control_tools import is_tool, make_control_tools
from sandbox.extensions.agents.hints import HINTS, HINTS_MAX
from sandbox.extensions.agents.prompts import PROMPTS
from sandbox.extensions.agents.shown_values import HIDDEN, OUTPUT_MAX, fit, hide_secrets
from sandbox.extensions.agents.toolbox import Toolbox
from sandbox.web.controls.body_fields import body, text, whole_number
from sandbox.web.controls.control_row import Control
from sandbox.web.controls.rows import CONTROLS
from sandbox.web.docs.controls_document import make_operation_id
from tests.agents.conftest import Call
from tests.running import KEY

NOT_TOOLS = {"GET /export", "POST /import", "GET /authorize"}
LISTING_MAX = 90_000  # characters: what an agent reads of all tools
ROW = Control(
    "POST",
    "/greetings/<name>",
    "greeting_views.greet",
    "Greets a customer.",
    body("Greeting", words=text(required=True), times=whole_number()),
    {"words": "Hello"},
    reply=body("Greeted", name=text(required=True), inner=fields.List(fields.String())),
    loses="{name} loses an hour.",
)


def test_every_control_is_a_tool_but_files_of_worlds_and_redirections(toolbox: Toolbox) -> None:
    assert {row.name for row in CONTROLS if not is_tool(row)} == NOT_TOOLS
    assert {make_operation_id(row) for row in CONTROLS if row.name not in NOT_TOOLS} <= set(toolbox.tools)


def test_a_new_row_is_a_new_tool(toolbox: Toolbox) -> None:
    tool = Toolbox(toolbox.link, make_control_tools((*CONTROLS, ROW))).tools["post_greetings_name"]
    assert tool.schema["required"] == ["name", "words"]
    assert {*tool.schema["properties"]} == {"name", "words", "times", "world"}
    assert tool.is_destructive and tool.about.endswith("It destroys: <name> loses an hour.")


def test_a_tool_says_what_its_control_does_to_the_world(toolbox: Toolbox) -> None:
    read_only = {name for name, tool in toolbox.tools.items() if tool.is_read_only}
    destructive = {name for name, tool in toolbox.tools.items() if tool.is_destructive}
    assert {"get_requests", "get_clock", "look_around", "search_documentation"} <= read_only
    assert {"post_reset", "delete_worlds_name", "post_worlds_name_rewind", "put_scenario"} <= destructive
    assert not read_only & destructive
    assert not {"post_clock", "post_psu_approve", "start_payment", "post_faults"} & (read_only | destructive)


def test_names_and_schemas_are_such_as_every_agent_takes(toolbox: Toolbox) -> None:
    for tool in toolbox.tools.values():
        assert re.fullmatch(r"[a-z0-9_]{1,64}", tool.name) and tool.title and tool.about
        Draft202012Validator.check_schema(tool.schema)
        assert "$ref" not in json.dumps(tool.schema)
    whole = json.dumps([(tool.name, tool.about, tool.schema) for tool in toolbox.tools.values()])
    assert len(whole) < LISTING_MAX


def test_hints_and_prompts_name_tools_that_are_there(toolbox: Toolbox) -> None:
    assert set(HINTS) <= {row.name for row in CONTROLS}
    words = {word for prompt in PROMPTS for word in re.findall(r"\b(?:get|post|list|look|search)_\w+", prompt.text)}
    assert words and words <= set(toolbox.tools)


# A payment, time and faults


def test_a_payment_is_started_signed_and_settled_by_following_the_hints(toolbox: Toolbox, use: Call) -> None:
    begun = toolbox.call("start_payment", {"amount": "7.50"}).content
    assert begun["result"]["status"] in ("RCVD", "PATC")
    signing = begun["next"][0]
    assert signing["tool"] == "post_psu_approve"
    assert "code=" in use(signing["tool"], **signing["arguments"])["redirect"]
    shown = toolbox.call("get_payments_payment_id", {"payment_id": begun["result"]["payment_id"]}).content
    waiting = shown["next"][0]
    assert waiting["tool"] == "post_await" and use(waiting["tool"], **waiting["arguments"])["status"] == "ACSC"


def test_a_payment_is_refused_by_its_customer(use: Call) -> None:
    outcome = use("start_payment", answer="refuses", customer="alice")
    assert (outcome["status"], outcome["reason"]) == ("CANC", "PSU_REFUSED")


def test_a_well_known_value_leads_to_its_outcome(toolbox: Toolbox, use: Call) -> None:
    listed = toolbox.call("list_values", {"containing": "AC04"}).content
    assert all("AC04" in json.dumps(row) for row in listed["result"]["values"])
    hint = listed["next"][0]
    assert use(hint["tool"], **hint["arguments"])["payment_id"]


def test_time_is_moved_and_faults_are_set_and_met(use: Call) -> None:
    before = use("get_clock")["now"]
    assert use("post_clock", advance="61m")["now"] > before
    use("post_faults", when={"operation": "payment_initiation", "nth": 1}, answer={"status": 503})
    assert use("get_faults")["faults"][0]["met"] == 0
    assert use("delete_faults") == "done"


def test_a_refused_payment_leads_to_its_explanation(toolbox: Toolbox, use: Call) -> None:
    refusal = toolbox.call("start_payment", {"amount": "0.00"})
    assert refusal.is_error and "400" in refusal.content["error"]
    (hint,) = refusal.content["next"]
    assert use(hint["tool"], **hint["arguments"])["would_succeed"]


def test_a_world_of_its_own_is_meant_by_all_hints(toolbox: Toolbox, use: Call, refused: Call) -> None:
    assert "there is no world 'b'" in refused("get_clock", world="b")
    (hint,) = toolbox.call("get_clock", {"world": "b"}).content["next"]
    assert [row["name"] for row in use(hint["tool"], **hint["arguments"])["worlds"]] == ["default"]
    use("put_worlds_name", name="b")
    begun = toolbox.call("start_payment", {"world": "b"}).content
    assert all(hint["arguments"]["world"] == "b" for hint in begun["next"])
    assert "/worlds/b/" in begun["result"]["address"]
    assert use("get_payments")["payments"] == [] and len(use("get_payments", world="b")["payments"]) == 1


# What is refused


@pytest.mark.parametrize(
    "name, arguments, words",
    [
        ("get_reqests", {}, "did you mean 'get_requests'?"),
        ("post_clock", {"advanec": "1m"}, "did you mean 'advance'?"),
        ("post_clock", {"advance": "soon"}, "400 "),
        ("post_clock", {"advance": [1]}, "400 "),
        ("get_payments_payment_id", {}, "needs the argument payment_id"),
        ("get_payments_payment_id", {"payment_id": ["x"]}, "payment_id is a text or a number"),
        ("get_payments_payment_id", {"payment_id": "../clock"}, "404 "),
        ("get_payments", {"limit": 0}, "limit: 0 is less than"),
        ("get_payments", {"limit": 1_000_000}, "limit: 1000000 is greater than"),
        ("get_requests", {"since": "x"}, "400 "),
        ("start_payment", {"answer": "maybe"}, "answer: 'maybe' is not one of"),
        ("start_payment", {"amount": 5}, "amount: 5 is not of type"),
        ("start_payment", {"creditor_iban": "BE00"}, "400 "),
        ("search_documentation", {"words": "qqqqzzzz"}, "no page has any of these words"),
        ("get_clock", {"world": 5}, "world: 5 is not of type"),
    ],
)
def test_a_wrong_call_is_refused_in_a_sentence(refused: Call, name: str, arguments: dict[str, Any], words: str) -> None:
    assert words in refused(name, **arguments)


def test_a_sandbox_that_is_not_there_is_said(toolbox_of: Call) -> None:
    answer = toolbox_of("http://127.0.0.1:9").call("get_clock", {})
    assert answer.is_error and "no sandbox answers at http://127.0.0.1:9" in answer.content["error"]


def test_a_wrong_key_is_refused_and_the_right_one_opens(toolbox_of: Call, locked_url: str) -> None:
    refusal = toolbox_of(locked_url, "wrong-key").call("get_clock", {})
    assert refusal.is_error and "401" in refusal.content["error"]
    assert not toolbox_of(locked_url, KEY).call("get_clock", {}).is_error


# Bounds and secrets


def test_a_long_list_is_cut_to_its_newest_rows(toolbox: Toolbox, url: str, use: Call) -> None:
    with Client(url) as tpp:
        for _ in range(30):
            tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="1.00")
    shown = use("get_requests")
    assert len(shown["requests"]) == 20 and shown["requests"][-1]["seq"] == 30
    assert shown["left_out"].startswith("10 older rows of 30 are left out")
    assert len(use("get_requests", limit=25)["requests"]) == 25
    assert len(use("get_requests", containing='"seq": 7,')["requests"]) == 1
    assert all(
        len(json.dumps(toolbox.call(name, {"limit": 200}).content)) < 2 * OUTPUT_MAX
        for name in ("get_payments", "get_variants", "get_customers", "get_journal")
    )


def test_a_value_that_is_too_long_loses_the_ends_of_its_parts() -> None:
    value = {"text": "x" * 100_000, "rows": [{"n": number, "more": "y" * 50} for number in range(10_000)]}
    shown = fit(value)
    assert len(json.dumps(shown)) <= OUTPUT_MAX and shown["rows"][-1]["n"] == 9_999
    assert re.fullmatch(r"x+\.\.\. \(\d+ more characters\)", shown["text"])
    assert fit("z" * 30_000).endswith("... (10000 more characters)")
    assert fit({"small": [1, 2]}) == {"small": [1, 2]}
    assert len(fit({str(number): number for number in range(100_000)})) < OUTPUT_MAX + 100


@pytest.mark.parametrize(
    "value, shown",
    [
        ({"client_secret": "abc", "client_id": "demo-tpp"}, {"client_secret": HIDDEN, "client_id": "demo-tpp"}),
        ({"headers": {"Authorization": "Bearer abc"}}, {"headers": {"Authorization": HIDDEN}}),
        (["see Bearer abcdefgh.ijk-1234567"], [f"see Bearer {HIDDEN}"]),
        ("HTTP Basic credentials", "HTTP Basic credentials"),
        ("/token?access_token=abc&x=1", f"/token?access_token {HIDDEN}&x=1"),
        ("the key is a-key-for-the-team", f"the key is {HIDDEN}"),
        ({"secret": None, "access_token_life": "1h"}, {"secret": None, "access_token_life": "1h"}),
    ],
)
def test_secrets_are_hidden_by_name_by_form_and_by_value(value: Any, shown: Any) -> None:
    assert hide_secrets(value, {KEY}) == shown


def test_no_tool_shows_the_secrets_of_a_client(toolbox: Toolbox, use: Call, url: str) -> None:
    secret = "a-secret-of-mine-1234"
    use(
        "post_clients",
        client_id="mine",
        secret=secret,
        name="Mine",
        roles=["PIS", "AIS"],
        redirect_uris=["http://127.0.0.1:*/*"],
    )
    with Client(url, redirect_uri="http://127.0.0.1:9000/back") as tpp:
        payment = tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="1.00")
        redirect = use("post_psu_approve", address=payment.sca_address, customer="alice")["redirect"]
        tokens = tpp.tokens_from(redirect, payment.flow)
    sent = [use("get_requests"), use("get_clients"), use("look_around"), use("get_settings"), use("get_referee")]
    sent += [use("get_explain_request_id", request_id=call["request_id"]) for call in sent[0]["requests"]]
    whole = json.dumps(sent)
    assert secret not in whole and tokens.access not in whole and "demo-secret" not in whole
    refusal = toolbox.call("post_clients", {"client_id": "mine", "secret": secret, "name": secret})
    assert refusal.is_error and secret not in json.dumps(refusal.content)


def test_every_hint_list_is_short(toolbox: Toolbox, url: str) -> None:
    with Client(url) as tpp:
        for amount in ("0.00", "-1", "x", "1.001", "0"):
            with pytest.raises(Exception, match="400"):
                tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount=amount)
    content = toolbox.call("get_requests", {}).content
    assert 1 <= len(content["next"]) <= HINTS_MAX


def test_a_control_of_which_nothing_is_known_has_no_hints() -> None:
    (tool,) = make_control_tools((ROW,))

    class Greeter:
        base_url = "http://x"

        def call(self, method: str, path: str, body: Any = None, query: Any = None) -> Any:
            return {"asked": [method, path, body, query]}

    result = tool.run(Greeter(), {"name": "a b/c", "words": "Hello"})
    assert result.value == {"asked": ["POST", "/greetings/a%20b%2Fc", {"words": "Hello"}, {}]} and not result.hints
