"""A form of the console that was refused keeps what was typed (choice 10)."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from lxml import html

from tests.console.visitor import Visitor
from tests.spec.bodies import ALICE


@pytest.fixture
def visitor(app: Flask) -> Visitor:
    return Visitor(app)


def document_of(page: str) -> Any:
    return html.fromstring(page)


def form_of(text: str, action: str, **hidden: str) -> dict[str, Any]:
    """The fields of the form of the page that leads to an action, and is about the same thing."""
    for form in document_of(text).forms:
        fields = dict(form.fields)
        is_typed = any(getattr(field, "type", "text") not in ("hidden", "submit") for field in form.inputs)
        is_it = urlsplit(form.action).path.endswith(f"/{action}") and is_typed
        if is_it and all(fields.get(name) == value for name, value in hidden.items()):
            return fields
    raise AssertionError(f"the page has no form of {action}")


# Page, action, hidden fields, what is typed.
REFUSED: tuple[tuple[str, str, dict[str, str], dict[str, str]], ...] = (
    ("/", "advance", {}, {"advance": "soon"}),
    ("/", "set", {}, {"set": "2020-01-01T00:00"}),
    ("/", "run", {}, {"rate": "fast"}),
    ("/console/worlds", "make", {}, {"name": "default", "scenario": "too_many_requests", "seed": "7", "frozen": "1"}),
    ("/console/worlds", "fork", {"name": "default"}, {"as": "default", "at": "2027-03-01T08:30"}),
    ("/console/scenario", "fault", {}, {"operation": "token", "nth": "x", "status": "503", "cut": "before"}),
    ("/console/scenario", "hold", {}, {"at": "before_reply", "operation": "token", "nth": "x", "as": "h"}),
    ("/console/scenario", "load own", {}, {"yaml": "clok: {}\nscenario: </textarea>"}),
    ("/console/accounts", "register", {}, {"client_id": "mine", "secret": "my-secret", "AIS": "1", "keys": "none"}),
    ("/console/accounts", "add customer", {}, {"customer": "zoe", "name": "Zoë", "limit_day": "much"}),
    ("/console/accounts", "change customer", {"customer": "bram"}, {"countries": "BE FR", "limit_day": "much"}),
    (
        f"/console/accounts/{ALICE}",
        "book",
        {"iban": ALICE, "currency": "EUR"},
        {"amount": "much", "date": "2027-02-01"},
    ),
)


@pytest.mark.parametrize("path, action, hidden, typed", REFUSED, ids=[row[1] for row in REFUSED])
def test_a_refused_form_keeps_what_was_typed(
    path: str, action: str, hidden: dict[str, str], typed: dict[str, str], visitor: Visitor
) -> None:
    visitor.open(f"/_sandbox{path}")
    page = visitor.press(action, back=path, **hidden, **typed)
    assert "<b>Refused.</b>" in page.text
    found = form_of(page.text, action, **hidden)
    assert {name: found[name] for name in typed} == typed
    boxes = {"AIS": "PIS", "frozen": "replace"}
    assert not any(found.get(other) for box, other in boxes.items() if box in typed)


@pytest.mark.parametrize(
    "path, action, field, typed",
    [
        ("/", "advance", "advance", {"advance": "soon"}),
        ("/console/scenario", "fault", "chance", {"status": "503", "chance": "2"}),
        ("/console/scenario", "fault", "cut", {"status": "503", "cut": "<b>"}),
        ("/console/accounts", "register", "secret", {"client_id": "mine", "secret": "with a blank"}),
    ],
)
def test_the_reason_is_at_the_field(
    path: str, action: str, field: str, typed: dict[str, str], visitor: Visitor
) -> None:
    visitor.open(f"/_sandbox{path}")
    page = document_of(visitor.press(action, back=path, **typed).text)
    assert {blamed.get("name") for blamed in page.xpath("//*[@aria-invalid='true']")} == {field}
    assert all(error.text_content() for error in page.find_class("field-error"))


def test_another_form_and_another_browser_see_nothing_of_it(app: Flask, visitor: Visitor) -> None:
    visitor.open("/_sandbox/console/accounts")
    page = visitor.press("change customer", back="/console/accounts", customer="bram", limit_day="much")
    assert form_of(page.text, "change customer", customer="alice")["limit_day"] != "much"
    assert "much" not in Visitor(app).open(page.request.full_path).text


def test_a_form_that_is_taken_is_empty_again(visitor: Visitor) -> None:
    before = form_of(visitor.open("/_sandbox/console/worlds").text, "make")
    page = visitor.press("make", back="/console/worlds", name="mine", seed="7")
    assert form_of(page.text, "make") == before


def test_a_business_customer_opts_out_of_the_check_of_payees_by_its_form(visitor: Visitor) -> None:
    for customer, taken in (("bakkerij", "no"), ("alice", "yes")):
        visitor.open("/_sandbox/console/accounts")
        changes = {"customer": customer, "language": "fr", "payee_check_of_files": "no"}
        visitor.press("change customer", back="/console/accounts", **changes)
        page = visitor.open("/_sandbox/console/accounts").text
        assert form_of(page, "change customer", customer=customer)["payee_check_of_files"] == taken


def test_an_order_that_the_bank_refuses_can_be_changed(visitor: Visitor) -> None:
    visitor.open("/_sandbox/console/new")
    typed = {"product": "instant-sepa-credit-transfers", "creditor_name": "Zoë", "amount": "much", "currency": "EUR"}
    answer = visitor.http.post("/_sandbox/console/call/pay", data={"proof": visitor.proof, **typed})
    link = next(link for _, _, link, _ in document_of(answer.text).iterlinks() if "/console/new?notice=" in link)
    found = form_of(visitor.open(link).text, "pay")
    assert {name: found[name] for name in typed} == typed
