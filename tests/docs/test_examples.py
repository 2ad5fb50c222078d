"""Every example of the document works: each is sent to a bank, in its order."""

import json
import re
from collections.abc import Iterator
from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest

from sandbox.contract.operations import OPERATIONS
from sandbox.web.docs.examples import Example, PsuStep, Step, list_steps
from tests.documented import told
from tests.tpp import Tpp

TODAY = date(2027, 3, 1)
HOLE = re.compile(r"\{\{(\w+)\}\}")


def filled(text: str, known: dict[str, str]) -> str:
    return HOLE.sub(lambda found: known[found[1]], text)


def taken(content: Any, place: str) -> str:
    for part in place.split("."):
        content = content[int(part) if isinstance(content, list) else part]
    return str(content)


def send(tpp: Tpp, step: Step, known: dict[str, str]) -> Any:
    target = filled(step.target, known)
    if isinstance(step, PsuStep):
        body = filled(step.content, known)
        return tpp.http.post(target, data=body, content_type="application/json")
    headers = {name: filled(value, known) for name, value in step.make_headers("service").items()}
    content = None if step.content is None else filled(step.content, known)
    sent = headers | {"Request-ID": str(uuid4())}
    return tpp.http.open(target, method=step.row.method, headers=sent, data=content)


def walk(tpp: Tpp) -> Iterator[tuple[Step, Any]]:
    known: dict[str, str] = {}
    for step in list_steps(TODAY):
        reply = send(tpp, step, known)
        yield step, reply
        for name, place in step.gives:
            known[name] = taken(reply.json, place)
            if name == "code":
                known[name] = parse_qs(urlsplit(known[name]).query)["code"][0]


def test_each_example_works_when_sent_in_order(tpp: Tpp) -> None:
    for step, reply in walk(tpp):
        expected = 200 if isinstance(step, PsuStep) else step.row.success
        assert reply.status_code == expected, f"{step.title}: {reply.text}"


def test_the_files_of_the_examples_are_valid(tpp: Tpp) -> None:
    for step, reply in walk(tpp):
        if isinstance(step, Example) and step.operation == "bulk_initiation":
            tpp.advance("3m")
            found = tpp.control("GET", f"/bulk-payments/{reply.json['payment_file_id']}").get_json()
            assert [found["status"], *(bulk["status"] for bulk in found["bulks"])] == ["PATC"] * 4, found


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda row: row.name)
def test_every_version_of_every_operation_has_an_example(operation: Any) -> None:
    shown = {
        step.version for step in list_steps(TODAY) if isinstance(step, Example) and step.operation == operation.name
    }
    assert shown == set(operation.versions)


def test_every_body_of_an_example_stands_in_the_document() -> None:
    text = json.dumps(told(()))
    for step in list_steps(TODAY):
        if isinstance(step, Example) and step.body is not None:
            assert json.dumps(step.shown) in text, step.title
