"""Thousands of calls made from the documents themselves: each is answered as documented, never by a fault of ours.

Status, Content-Type, headers and body of every reply are held against the document, and what a schema excludes is
refused (service 7.2).
"""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
import schemathesis
from flask import Flask, Response
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from tests.documented import RECORDER
from tests.long_runs import make_long
from tests.tpp import headers

# Of each operation and mode. Every other one has good headers.
CASES = {"openapi.json": make_long(4), "controls.json": make_long(2)}
POSITIVE, NEGATIVE = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
# No schema can say what an IBAN's check digits are, or which purposes a country wants.
NOT_HELD = [positive_data_acceptance]
# A file is taken whatever is in it, and validated later (choice 7); a scenario as YAML may be of any kind.
NOT_HELD_OF_TEXTS = [*NOT_HELD, negative_data_rejection]
TEXTS = ("/bulk-payments", "/_sandbox/scenario")
FUZZ = {
    document: settings(
        max_examples=cases,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    for document, cases in CASES.items()
}


def operations_of(app: Flask, document: str) -> Iterator[Any]:
    schema = schemathesis.openapi.from_wsgi(f"/_sandbox/{document}", app)
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        yield found.ok()


def faults_of(operation: Any, document: str, mode: schemathesis.GenerationMode) -> list[tuple[str, int, str]]:
    excluded = NOT_HELD_OF_TEXTS if operation.path.startswith(TEXTS) else NOT_HELD
    faults: list[tuple[str, int, str]] = []
    count = 0
    if mode is NEGATIVE and takes_any_text(operation):
        return faults

    @FUZZ[document]
    @given(case=operation.as_strategy(generation_mode=mode))
    def call(case: Any) -> None:
        nonlocal count
        count += 1
        case.headers = dict(case.headers or {})
        if document == "openapi.json":
            case.headers |= good_headers(operation) if count % 2 else {}
            case.headers["Request-ID"] = str(UUID(int=count, version=4))
        reply = case.call()
        try:
            case.validate_response(reply, excluded_checks=excluded)
        except (Failure, FailureGroup) as found:
            faults.append((operation.label, reply.status_code, f"{found} {reply.text[:300]}"))

    try:
        call()
    except Unsatisfiable:  # what takes nothing can be given nothing wrong
        assert mode is NEGATIVE and count == 0, operation.label
    return faults


def takes_any_text(operation: Any) -> bool:
    """Texts in the path alone: nothing wrong can be given, and 459 tries would be made to find that out."""
    told = operation.definition.raw
    given = [(row.get("in"), row.get("schema")) for row in told.get("parameters", ())]
    return "requestBody" not in told and given != [] and all(row == ("path", {"type": "string"}) for row in given)


def test_a_reply_that_is_not_as_documented_is_found(app: Flask) -> None:
    def spoil(response: Response) -> Response:
        if response.status_code == 401:
            response.set_data(b"{}")
        elif response.status_code == 406:
            response.status_code = 418
        return response

    app.after_request(spoil)
    (operation,) = [row for row in operations_of(app, "openapi.json") if row.definition.raw["x-operation"] == "account"]
    found = {status for _, status, _ in faults_of(operation, "openapi.json", POSITIVE)}
    RECORDER.faults.clear()
    assert found >= {401, 418}


def good_headers(operation: Any) -> dict[str, str]:
    """What opens the gate, so that the parameters and the body are read."""
    given_headers = headers(accept=operation.definition.raw["x-accept"][0])
    return {name: value for name, value in given_headers.items() if name != "Content-Type"}


@pytest.mark.parametrize("mode", (POSITIVE, NEGATIVE), ids=lambda mode: mode.value)
@pytest.mark.parametrize("document", ["openapi.json", "controls.json"])
def test_every_call_that_can_be_made_up_is_answered_as_documented(app: Flask, document: str, mode: Any) -> None:
    app.testing = False  # as it is served: a fault of ours would be a 500, and no traceback
    found = [fault for operation in operations_of(app, document) for fault in faults_of(operation, document, mode)]
    assert found == []
