"""Thousands of calls made from the documents themselves: never a 5xx, never an undocumented status (service 7.2)."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings

from sandbox.contract.operations import OPERATIONS
from tests.tpp import headers, version

CASES = 80  # of each operation; every other one carries the headers of a good call
NEWEST = {(row.method, row.path.partition("<")[0]): row.versions[0] for row in OPERATIONS}
FUZZ = settings(
    max_examples=CASES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def operations_of(app: Flask, document: str) -> Iterator[Any]:
    schema = schemathesis.openapi.from_wsgi(f"/_sandbox/{document}", app)
    for found in schema.get_all_operations():
        yield found.ok()


def faults_of(operation: Any, document: str) -> list[tuple[str, int, str]]:
    documented = set(operation.definition.raw["responses"])
    faults: list[tuple[str, int, str]] = []
    count = 0

    @FUZZ
    @given(case=operation.as_strategy())
    def call(case: Any) -> None:
        nonlocal count
        count += 1
        case.headers = dict(case.headers or {})
        if document == "openapi.json":
            case.headers |= good_headers(operation) if count % 2 else {}
            case.headers["Request-ID"] = str(UUID(int=count, version=4))
        reply = case.call()
        if reply.status_code >= 500 or not documented & {str(reply.status_code), "default"}:
            faults.append((operation.label, reply.status_code, reply.text[:300]))

    call()
    return faults


def good_headers(operation: Any) -> dict[str, str]:
    """What opens the gate, so that the parameters and the body are read."""
    number = NEWEST.get((operation.method.upper(), operation.path.partition("{")[0]), 3)
    given_headers = headers(accept=version(number))
    return {name: value for name, value in given_headers.items() if name != "Content-Type"}


@pytest.mark.parametrize("document", ["openapi.json", "controls.json"])
def test_no_call_that_can_be_made_up_is_answered_with_a_fault_of_ours(app: Flask, document: str) -> None:
    app.testing = False  # as it is served: a fault of ours would be a 500, and no traceback
    found = [fault for operation in operations_of(app, document) for fault in faults_of(operation, document)]
    assert found == []
