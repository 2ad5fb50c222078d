"""The setting `variants`: where it is given, what refuses it, and what knows of it (choice 13)."""

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask

from sandbox.cli import main
from sandbox.contract.decision_rows import TOPICS
from sandbox.contract.decisions import AXES
from tests.documented import told
from tests.payer import signed
from tests.tpp import Tpp, refused

Document = dict[str, Any]


def variants(tpp: Tpp) -> dict[str, str]:
    found: dict[str, str] = tpp.control("GET", "/settings").get_json()["settings"]["variants"]
    return found


def row(tpp: Tpp, name: str) -> dict[str, Any]:
    return next(row for row in tpp.listed("variants") if row["name"] == name)


def patched(tpp: Tpp, **values: Any) -> Any:
    return tpp.control("PATCH", "/settings", variants=values)


# Where it is given


def test_a_patch_merges_variants_and_the_first_value_takes_one_away(tpp: Tpp) -> None:
    assert variants(tpp) == {}
    assert patched(tpp, final_status="ACSP").status_code == 200
    assert patched(tpp, closed_days="respect").status_code == 200
    assert variants(tpp) == {"closed_days": "respect", "final_status": "ACSP"}
    assert patched(tpp, final_status="ACSC").status_code == 200
    assert variants(tpp) == {"closed_days": "respect"}
    settings = tpp.control("GET", "/settings").get_json()["settings"]
    assert (settings["closed_days"], settings["settled_status"]) == ("respect", "ACSC")


def test_a_setting_that_is_changed_by_itself_overrules_the_axis(tpp: Tpp) -> None:
    patched(tpp, final_status="ACSP")
    assert tpp.control("PATCH", "/settings", settled_status="ACSC").status_code == 200
    assert variants(tpp) == {}
    assert tpp.control("PATCH", "/settings", code_life="7s").status_code == 200
    assert row(tpp, "code_life")["value"] is None
    assert tpp.control("PATCH", "/settings", code_life="30s").status_code == 200
    assert row(tpp, "code_life")["value"] == "short"


def test_a_scenario_gives_variants_and_a_reset_keeps_them(tpp: Tpp) -> None:
    scenario = {"settings": {"variants": {"recycling_tries": 0}}}
    assert tpp.control("PUT", "/scenario", scenario=scenario).status_code == 200
    assert variants(tpp) == {"recycling_tries": "0"}
    patched(tpp, recycling_tries=10)
    tpp.control("POST", "/reset")
    assert variants(tpp) == {"recycling_tries": "0"}


def test_a_new_world_takes_variants_over_those_of_its_scenario(tpp: Tpp, app: Flask) -> None:
    scenario = {"settings": {"variants": {"final_status": "ACSP", "closed_days": "respect"}}}
    made = tpp.control("PUT", "/worlds/b", scenario=scenario, variants={"closed_days": "ignore", "code_life": "short"})
    assert made.status_code == 201, made.text
    assert variants(Tpp(app, "b")) == {"code_life": "short", "final_status": "ACSP"}
    assert variants(tpp) == {}


def test_a_fork_and_an_export_know_the_variants(tpp: Tpp, app: Flask) -> None:
    patched(tpp, final_status="ACSP")
    assert tpp.control("POST", "/worlds/default/fork", **{"as": "b"}).status_code == 201
    assert variants(Tpp(app, "b")) == {"final_status": "ACSP"}
    parcel = tpp.http.get("/_sandbox/export").data
    sent = {"Content-Type": "application/x-ndjson"}
    assert tpp.http.post("/_sandbox/import?as=c", data=parcel, headers=sent).status_code == 201
    assert variants(Tpp(app, "c")) == {"final_status": "ACSP"}


def test_a_rewind_goes_back_behind_a_change_of_variants(tpp: Tpp) -> None:
    tpp.advance("1h")
    patched(tpp, final_status="ACSP")
    tpp.control("POST", "/worlds/default/rewind", at="2027-03-01T09:30")
    assert variants(tpp) == {}


# What refuses it


@pytest.mark.parametrize(
    "values, why",
    [
        ({"final_statu": "ACSP"}, "did you mean 'final_status'?"),
        ({"final_status": "ACPS"}, "'ACPS' is no value of final_status (did you mean 'ACSP'?)"),
        ({"final_status": ["ACSP"]}, "a value's name is expected"),
        ({"final_status": True}, "a value's name is expected"),
        ({"multicurrency": True}, 'a value\'s name is expected (in quotes: "True")'),
        ([], "a mapping of axes to values is expected"),
        ("final_status", "a mapping of axes to values is expected"),
    ],
)
def test_an_unknown_axis_or_value_is_refused_with_the_nearest_name(tpp: Tpp, values: Any, why: str) -> None:
    assert refused(tpp.control("PATCH", "/settings", variants=values), 400, "SBX-0400-000001", why)
    assert refused(tpp.control("PUT", "/worlds/b", variants=values), 400, "SBX-0400-000001", why)
    assert variants(tpp) == {}


def test_an_axis_and_its_setting_must_not_differ(tpp: Tpp) -> None:
    reply = tpp.control("PATCH", "/settings", variants={"final_status": "ACSP"}, settled_status="ACSC")
    assert refused(reply, 400, "SBX-0400-000001", "sets settled_status, which is set otherwise")


def test_an_axis_has_one_name(tpp: Tpp) -> None:
    assert patched(tpp, final_status="ACSP").status_code == 200
    assert refused(patched(tpp, settled_status="ACSP"), 400, "SBX-0400-000001", "an unknown axis 'settled_status'")


def test_an_axis_that_is_given_as_a_setting_is_refused_with_the_way_to_give_it(tpp: Tpp) -> None:
    reply = tpp.control("PATCH", "/settings", account_holder="present")
    assert refused(reply, 400, "SBX-0400-000001", 'sent as {"variants": {"account_holder": "present"}}')
    reply = tpp.control("PUT", "/scenario", scenario={"settings": {"account_holder": "present"}})
    assert refused(reply, 400, "SBX-0400-000001", "an axis, which stands in variants: {account_holder: present}")


def test_a_setting_that_is_given_by_itself_is_no_variant(tpp: Tpp) -> None:
    assert tpp.control("PATCH", "/settings", closed_days="respect").status_code == 200
    assert variants(tpp) == {} and row(tpp, "closed_days")["value"] == "respect"
    assert patched(tpp, cancel_again="204").status_code == 200
    assert variants(tpp) == {"cancel_again": "204"}


# What is shown


def test_the_table_shows_each_axis_with_the_value_of_the_world(tpp: Tpp) -> None:
    rows = tpp.listed("variants")
    assert [row["name"] for row in rows] == list(AXES)
    assert all(row["value"] == row["values"][0] for row in rows)
    patched(tpp, final_status="ACSP")
    assert row(tpp, "final_status")["value"] == "ACSP"


def test_explain_names_the_axes_that_a_call_met(tpp: Tpp) -> None:
    patched(tpp, final_status="ACSP")
    paid = signed(tpp)
    reply = tpp.status(paid.id)
    found = tpp.control("GET", f"/explain/{reply.headers['Response-ID']}").get_json()
    assert found["variants"] == {"final_status": "ACSP"}


def test_the_document_says_how_the_bank_differs(tpp: Tpp) -> None:
    patched(tpp, final_status="ACSP")
    info = tpp.control("GET", "/openapi.json").get_json()["info"]
    assert info["x-variants"] == {"final_status": "ACSP"}
    assert "`final_status: ACSP` (service 3.1)" in info["description"]


def header_of(operation: str, name: str) -> Callable[[Document], Any]:
    return lambda document: next(row for row in document[operation]["parameters"] if row["name"] == name)


@pytest.mark.parametrize(
    "axis, value, part",
    [
        ("pkce_plain", "refused", header_of("payment_initiation", "Code-Challenge-Method")),
        ("signatures", "strict", header_of("bulk_initiation", "Digest")),
        ("signature_over", "headers", header_of("payment_initiation", "Signature")),
        ("payment_information_id", "required", header_of("bulk_initiation", "PaymentInformationID")),
        ("redirect_uri_elsewhere", "required", header_of("accounts", "Redirect-URI")),
        ("scope_in", "header", lambda document: [row["in"] for row in document["consent_addresses"]["parameters"]]),
        ("retry_after", "absent", lambda document: document["accounts"]["responses"]["429"]["headers"]),
        ("order_currency", "required", lambda document: document["schemas"]["ContractAmountBody"]),
        ("amount_as_number", "accepted", lambda document: document["schemas"]["SepaPayment"]),
        ("unknown_field", "ignored", lambda document: document["schemas"]["SepaPayment"]),
        ("names", "sepa", lambda document: document["schemas"]["SepaPayment"]["properties"]["creditor_name"]),
    ],
)
def test_the_document_of_a_world_describes_its_calls(axis: str, value: str, part: Callable[[Document], Any]) -> None:
    assert part(named(told(((axis, value),)))) != part(named(told(())))


def named(document: Document) -> Document:
    """The operations by their names, and the schemas."""
    every = (operation for methods in document["paths"].values() for operation in methods.values())
    return {one["x-operation"]: one for one in every} | {"schemas": document["components"]["schemas"]}


def test_the_command_prints_the_table() -> None:
    done = CliRunner().invoke(main, ["variants"])
    assert done.exit_code == 0
    assert all(name in done.output for name in AXES)
    one = CliRunner().invoke(main, ["variants", "--topic", "proof", "--json"])
    assert '"client_certificates"' in one.output and '"final_status"' not in one.output
    wrong = CliRunner().invoke(main, ["variants", "--topic", "token"])
    assert wrong.exit_code == 2 and "did you mean 'tokens'?" in wrong.output


# The table itself


def test_every_axis_says_what_it_is() -> None:
    for name, axis in AXES.items():
        assert axis.name == name and axis.topic in TOPICS, name
        assert len(axis.values) > 1 and len(set(axis.names)) == len(axis.values), name
        assert axis.clause.partition(" ")[0] in ("service", "choice"), name
        assert axis.about.endswith(".") and axis.brings and all(value.does.endswith(".") for value in axis.values), name
        for value, other, theirs in axis.excludes:
            assert value in axis.names and theirs in AXES[other].names, name
