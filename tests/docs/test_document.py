"""The document is valid, whole, and agrees with the tables that it is made from."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask, Response
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from sandbox.contract.decisions import AXES
from sandbox.contract.errors import OF_CONTROLS, Error
from sandbox.contract.field_rows import Use
from sandbox.contract.fields import FIELDS, find_use
from sandbox.contract.operations import OPERATIONS, Operation
from sandbox.contract.products import PRODUCTS
from sandbox.web.docs.amendments import AMENDMENTS
from sandbox.web.docs.bank_document import list_paths, name_body_component
from sandbox.web.docs.controls_document import OTHER_MEDIA
from sandbox.web.docs.controls_document import describe_controls as controls_document
from sandbox.web.docs.reference_tables import list_control_rows
from sandbox.web.docs.responses import CAUSES, ONLY_BY_FAULT, WIRE_TYPE, list_causes
from sandbox.web.docs.schemas import NOTES
from tests.contracts import ALICE
from tests.documented import RECORDER, Recorder, judge, operations, told
from tests.tpp import Tpp


def entries(operation: Operation) -> list[dict[str, Any]]:
    return [told(())["paths"][address][operation.method.lower()] for address, _ in list_paths(operation)]


def test_what_amends_the_document_is_a_value_that_differs_from_the_default() -> None:
    assert all(value in AXES[axis].names[1:] for axis, value in AMENDMENTS)


def test_the_document_is_valid_openapi_3_1() -> None:
    assert told(())["openapi"] == "3.1.0"
    validate(told(()))


def test_the_document_of_the_controls_is_valid() -> None:
    validate(controls_document("http://127.0.0.1:8080"))


def test_every_control_is_told_and_none_that_is_not_routed(tpp: Tpp) -> None:
    assert all(row.words for row in list_control_rows())
    rules = [rule for rule in tpp.http.application.url_map.iter_rules() if rule.endpoint.startswith(("control", "ref"))]
    # Addresses that lead a browser to a page, or say to it that there is none, are no controls.
    no_controls = {"/_sandbox/docs/", "/_sandbox/docs/<path:rest>"}
    routed = {rule.rule for rule in rules if "/static/" not in rule.rule} - no_controls
    assert {f"/_sandbox{path}" for _, path, *_ in list_control_rows()} == routed
    for method, path, *_ in list_control_rows():
        asked = "/_sandbox" + path.replace("<", "").replace(">", "")
        found = tpp.http.application.url_map.bind("localhost").match(asked, method)
        assert found[0].startswith(("control", "reference")), asked


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda row: row.name)
def test_every_operation_is_told_with_its_versions_and_clause(operation: Operation) -> None:
    found = entries(operation)
    assert {number for entry in found for number in entry["x-versions"]} == set(operation.versions)
    for entry in found:
        assert entry["x-operation"] == operation.name
        assert entry["x-clause"] == operation.clause
        assert [accept.rpartition("=")[2] for accept in entry["x-accept"]] == [*map(str, entry["x-versions"])]
        assert str(operation.success) in entry["responses"]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda row: row.name)
def test_every_status_of_an_operation_is_told_with_its_errors(operation: Operation) -> None:
    for entry in entries(operation):
        statuses = {int(status) for status in entry["responses"]} - {operation.success}
        assert statuses == set(operation.errors)
        rows = [row for response in entry["responses"].values() for row in response.get("x-errors", [])]
        assert [row["error_code"] for row in rows if "SCA" in row["error"]] == (
            ["B14800ZZ-0PLC-REDRCT"] if operation.name == "transactions" else []
        )
        assert len(rows) == len(list(list_causes(operation)))
        assert all(row["when"] and row["x-clause"] for row in rows)


def test_every_error_of_the_catalogue_has_its_causes_and_is_given_somewhere() -> None:
    assert Counter(error for error, _, _ in CAUSES) == Counter(set(Error) - OF_CONTROLS)
    given = {cause.error for operation in OPERATIONS for cause in list_causes(operation)}
    assert given == set(Error) - OF_CONTROLS


def test_what_only_a_fault_rule_gives_says_so() -> None:
    status = next(row for row in OPERATIONS if row.name == "accounts")
    found = {cause.error.value.status: cause.when for cause in list_causes(status)}
    assert found[415] == found[408] == ONLY_BY_FAULT
    assert found[404] != ONLY_BY_FAULT


def test_what_is_ours_is_marked_with_the_number_of_the_choice() -> None:
    response = operations(())["payment_status", "sepa-credit-transfers"]["responses"]["409"]
    assert (response["x-errors"][0]["x-clause"], response["x-errors"][0]["x-choice"]) == ("choice 5", 5)
    name = told(())["components"]["schemas"]["SepaPayment"]["properties"]["creditor_name"]
    assert name["x-choice"] == 5
    structured = told(())["components"]["schemas"]["SepaPayment"]["properties"]["remittance_information_structured"]
    assert "x-choice" not in structured and structured["x-clause"] == "service 2.1.5"


def test_each_note_is_about_a_field_that_is_there() -> None:
    text = json.dumps(told(()))
    assert [name for name, (words, _) in NOTES.items() if json.dumps(words) not in text] == []


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=lambda row: row.name)
def test_the_body_of_a_product_is_its_column_of_the_field_table(product: Any) -> None:
    body = told(())["components"]["schemas"][name_body_component(product.name)]
    for path in FIELDS:
        outer, _, inner = path.partition(".")
        place = body["properties"].get(outer, {})
        present = inner in place.get("properties", {}) if inner else outer in body["properties"]
        needed = inner in place.get("required", ()) if inner else outer in body.get("required", ())
        assert present == (find_use(path, product) is not Use.ABSENT), path
        if find_use(path, product) is Use.REQUIRED:
            assert needed, path


def test_the_newest_version_is_offered_first_and_what_is_on_the_wire_last() -> None:
    content = operations(())["payment_status", "sepa-credit-transfers"]["responses"]["200"]["content"]
    accepts = [f"application/vnd.service.api+json; version={version}" for version in (3, 2, 1)]
    assert list(content) == [*accepts, "application/json;charset=utf-8"]


def test_a_cancellation_names_its_version_although_its_success_has_no_body() -> None:
    """A generated client takes its Accept from the media types of the replies."""
    responses = operations(())["payment_cancellation", "sepa-credit-transfers"]["responses"]
    assert "content" not in responses["204"]
    for status in set(responses) - {"204"}:
        assert list(responses[status]["content"]) == ["application/vnd.service.api+json; version=2", WIRE_TYPE]


def test_what_is_on_the_wire_is_one_of_the_versions() -> None:
    """Version 1 of an initiation replies otherwise."""
    content = operations(())["payment_initiation", "sepa-credit-transfers"]["responses"]["201"]["content"]
    assert len(content[WIRE_TYPE]["schema"]["anyOf"]) == 2
    content = operations(())["payment_initiation", "instant-sepa-credit-transfers"]["responses"]["201"]["content"]
    assert content[WIRE_TYPE]["schema"] == {"$ref": "#/components/schemas/PaymentInitiationReply"}


def test_no_example_has_a_hole() -> None:
    assert "{{" not in json.dumps(told(()))


def test_the_two_variants_of_the_token_form_are_never_mixed() -> None:
    form = Draft202012Validator(told(())["components"]["schemas"]["TokenForm"])
    code = {"grant_type": "authorization_code", "code": "c", "redirect_uri": "u", "code_verifier": "v"}
    refresh = {"grant_type": "refresh_token", "refresh_token": "r"}
    for good in (code, refresh, refresh | {"scope": "AIS"}):
        assert form.is_valid(good)
    for bad in (code | {"scope": "AIS"}, code | {"refresh_token": "r"}, refresh | {"code": "c"}, {"grant_type": "x"}):
        assert not form.is_valid(bad)
    for name in code:
        assert not form.is_valid({field: value for field, value in code.items() if field != name})


def test_the_document_names_the_world_and_the_vendor(tpp: Tpp) -> None:
    found = tpp.http.get("/worlds/b/_sandbox/openapi.json")
    assert found.status_code == 200
    assert found.get_json()["servers"] == [{"url": "http://localhost/worlds/b"}]
    tpp.control("PATCH", "/settings", vendor="acme")
    assert "application/vnd.acme.api+json; version=3" in tpp.http.get("/_sandbox/openapi.json").text
    assert tpp.http.get("/_sandbox/openapi.json").get_json()["servers"] == [{"url": "http://localhost"}]


def test_a_reply_that_the_document_does_not_tell_is_found() -> None:
    schema = judge((), "payment_status", "sepa-credit-transfers", 200, 3)
    good = {"payment_id": "a", "status": "ACSC"}
    look = Recorder().look
    assert look(schema, good) is None
    wrong: tuple[object, ...] = (
        good | {"more": 1},
        good | {"status": "DONE"},
        {"status": "ACSC"},
        good | {"payment_id": 7},
        [],
    )
    for bad in wrong:
        assert look(schema, bad) is not None, bad
    error = {"error": "X", "error_code": "SBX-0404-000001", "error_description": "x"}
    refusal = judge((), "payment_status", "sepa-credit-transfers", 404, 3)
    assert look(refusal, error) is None
    assert look(refusal, error | {"error_code": "GEN-1201-100001"}) is not None
    assert look(judge((), "payment_cancellation", "sepa-credit-transfers", 204, 2), {}) is not None


def test_the_recorder_hears_what_is_replied(app: Flask, tpp: Tpp) -> None:
    def spoil(response: Response) -> Response:
        response.set_data(response.get_data().replace(b'"status"', b'"state"'))
        return response

    before = RECORDER.held
    app.after_request(spoil)
    tpp.initiated()
    assert RECORDER.held == before + 1
    assert "'state' was unexpected" in RECORDER.faults.pop()


def test_the_recorder_hears_what_a_control_replies(app: Flask, tpp: Tpp) -> None:
    def spoil(response: Response) -> Response:
        response.set_data(response.get_data().replace(b'"mode"', b'"pace"'))
        return response

    before = RECORDER.held
    app.after_request(spoil)
    tpp.control("GET", "/clock")
    assert RECORDER.held == before + 1
    assert "'mode' is a required property" in RECORDER.faults.pop()


def test_the_recorder_hears_an_undocumented_status_or_type_of_a_control(app: Flask, tpp: Tpp) -> None:
    def spoil(response: Response) -> Response:
        if response.is_json:
            response.content_type = "text/plain"
        else:
            response.status_code = 302
        return response

    app.after_request(spoil)
    tpp.control("GET", "/clock")
    tpp.control("DELETE", "/faults")
    assert "Content-Type" in RECORDER.faults[0] and "no such control or status" in RECORDER.faults[1]
    RECORDER.faults.clear()


def test_every_control_has_an_identifier_a_typed_body_and_a_typed_reply() -> None:
    told_controls = controls_document("http://127.0.0.1:8080")
    found = [row for path in told_controls["paths"].values() for row in path.values()]
    identifiers = [row["operationId"] for row in found]
    assert len(set(identifiers)) == len(identifiers) and all(name.isidentifier() for name in identifiers)
    assert all(row["security"] == [{"key": []}, {}] for row in found)
    assert [row.name for row in list_control_rows() if row.reply is None and row.success not in (204, 302)] == []
    assert {row.name for row in list_control_rows() if row.body is not None} | set(OTHER_MEDIA) == {
        f"{method} {path}" for method, path, *_ in list_control_rows() if method in ("POST", "PUT", "PATCH")
    }
    for row in list_control_rows():
        assert (row.example is not None) == (row.body is not None), row.path


def test_every_example_of_a_control_fits_its_schema() -> None:
    told_controls = controls_document("http://127.0.0.1:8080")
    shown = 0
    for path in told_controls["paths"].values():
        for row in path.values():
            for media in row.get("requestBody", {}).get("content", {}).values():
                if "example" in media:
                    schema = {**media["schema"], "components": told_controls["components"]}
                    Draft202012Validator(schema).validate(media["example"])
                    shown += 1
    assert shown == sum(row.body is not None for row in list_control_rows())


def test_the_schemas_of_the_controls_exclude_what_the_controls_refuse(tpp: Tpp) -> None:
    schemas = controls_document("http://127.0.0.1:8080")["components"]
    for method, path, name, body in (
        ("POST", "/clock", "ClockChange", {"leap": "1h"}),
        ("POST", "/await", "Await", {"payment_id": "x"}),
        ("POST", "/faults", "Fault", {"when": {"nth": 0}, "cut": "before"}),
        ("POST", "/faults", "Fault", {"when": {"nth": []}, "cut": "before"}),
        ("POST", "/faults", "Fault", {"when": {"nth": 1}}),
        ("PUT", "/scenario", "ScenarioChoice", {"scenario": {"steps": [{"repeat": {"times": 2, "steps": []}}]}}),
        ("PATCH", "/settings", "SettingsChange", {"signatures": "sometimes"}),
        ("PUT", "/worlds/b", "WorldCreation", {"clock": {"at": 7}}),
        ("PUT", "/worlds/b", "WorldCreation", {"clock": {"now": "2027-03-01T09:00"}}),
        ("POST", "/holds", "HoldCreation", {"at": "after_act", "when": {"nth": 0}}),
        ("POST", "/requests/verify", "CallVerification", {"times": {"exactly": -1}}),
        ("POST", "/accounts", "AccountCreation", {"customer": "alice", "signatures_required": 10}),
        ("POST", "/payments/x/move", "Move", {"status": "DONE"}),
        ("POST", "/psu/withdraw", "ConsentWithdrawal", {"client_id": "demo-tpp", "customer": "alice", "scope": "PIS"}),
    ):
        schema = {"$ref": f"#/components/schemas/{name}", "components": schemas}
        assert not Draft202012Validator(schema).is_valid(body), name
        reply = tpp.http.open(f"/_sandbox{path}", method=method, json=body)
        assert reply.status_code in (400, 404), f"{name} {reply.text}"


def property_names(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        for inner in schema.values():
            yield from property_names(inner)
    for inner in schema if isinstance(schema, list) else ():
        yield from property_names(inner)


def test_programs_have_a_name_for_every_property_of_the_controls() -> None:
    names = set(property_names(controls_document("http://127.0.0.1:8080")))
    assert {"bulk_payments", "seed"} <= names
    assert [name for name in names if not name.isidentifier() or name in {"true", "false", "null"}] == []


def test_the_document_has_each_list_under_its_name_with_hyphens_too() -> None:
    schemas = controls_document("http://127.0.0.1:8080")["components"]
    schema = Draft202012Validator({"$ref": "#/components/schemas/BulkFileList", "components": schemas})
    assert schema.is_valid({"bulk-payments": [], "bulk_payments": []})
    assert not schema.is_valid({"bulk_payments": []})
    assert not schema.is_valid({"bulk-payments": []})
    assert not schema.is_valid({"bulk-payments": [{}], "bulk_payments": []})


def test_the_document_takes_null_where_a_control_does(tpp: Tpp) -> None:
    schemas = controls_document("http://127.0.0.1:8080")["components"]
    for method, path, name, body, taken in (
        ("PATCH", "/customers/alice", "CustomerChange", {"limit_day": None}, True),
        ("PATCH", "/customers/alice", "CustomerChange", {"language": None}, False),
        ("POST", f"/accounts/{ALICE}/transactions", "Booking", {"amount": "1.00", "currency": None}, True),
        ("POST", f"/accounts/{ALICE}/transactions", "Booking", {"amount": None}, False),
    ):
        schema = {"$ref": f"#/components/schemas/{name}", "components": schemas}
        assert Draft202012Validator(schema).is_valid(body) is taken, body
        assert (tpp.http.open(f"/_sandbox{path}", method=method, json=body).status_code < 300) is taken, body


def test_the_bodies_of_the_controls_work(tpp: Tpp) -> None:
    """Those that need nothing else first; what hangs on a payment is shown by the examples."""
    paths = {"<name>": "a", "<client_id>": "other-tpp", "<iban>": ALICE, "<customer>": "griet"}
    for row in list_control_rows():
        method, path, body = row.method, row.path, row.example
        if body is None or "payment_id" in f"{path}{body}" or path.startswith("/psu"):
            continue
        for hole, value in paths.items():
            path = path.replace(hole, value)
        if path.endswith("/fork"):
            tpp.http.put("/_sandbox/worlds/a", json={})
        reply = tpp.http.open(f"/_sandbox{path}", method=method, json=body)
        assert reply.status_code == row.success, f"{method} {path}: {reply.text}"
