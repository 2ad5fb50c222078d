"""Makes steps of initiations and of questions about them."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from sandbox.client.bodies import SCT
from sandbox.contract.field_rows import Body
from sandbox.contract.fields import PAYMENT, VERSION_1
from sandbox.lift.files import file_content
from sandbox.lift.har import Recorded
from sandbox.lift.lifted import (
    CUSTOMER,
    FILLED,
    SIGNED,
    Lift,
    Make,
    Step,
    Subject,
    address_in,
    approve,
    keep_subject,
)
from sandbox.lift.pseudonyms import Pseudonyms


def _order(found: Lift, call: Recorded, table: Body) -> dict[str, Any]:
    """The words of a body, under other names; what has no word stays in `body`."""
    content: dict[str, Any] = {}
    for word, path in table.paths.items():
        value: Any = call.json
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None:
            content[word] = _hidden(found.names, word, value)
    if call.outcome.get("error") == "INVALID_ACCOUNT" and "debtor" in content:
        content["debtor"] = found.names.iban(str(call.json["debtor_account"]["iban"]))
    return content


def _left_out(table: Body) -> tuple[str, ...]:
    return FILLED if table is PAYMENT else (*FILLED, "frequency", "start_date")


def _hidden(names: Pseudonyms, word: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value if word != "creditor_address" else {"city": "Brussels", "country": value.get("country", "BE")}
    hides: dict[str, Callable[[str], str]] = {
        "debtor": names.debtor,
        "creditor_iban": names.iban,
        "creditor_name": names.name,
        "structured": names.structured,
        "unstructured": names.text,
        "endtoend_identification": names.reference,
        "creditor_bban": lambda text: "".join("1" if sign.isdigit() else sign for sign in text),
    }
    hide = hides.get(word)
    return value if hide is None else hide(value)


def initiation(word: str, table: Body) -> Make:
    def made(found: Lift, call: Recorded) -> Step:
        earlier = "version=1" in call.headers.get("accept", "") and table is PAYMENT
        content = _order(found, call, VERSION_1 if earlier else table)
        if earlier:
            content["version"] = 1
        content |= dict.fromkeys(
            name for name in _left_out(table) if name not in content and "creditor_bban" not in content
        )
        if call.path[1] != SCT:
            content["product"] = call.path[1]
        if call.token is not None:
            content["token"] = found.tokens.get(call.token, "unknown")
        if call.status != 201:
            return {word: content}
        initiation = found.subjects.get(str(call.outcome["payment_id"]))
        if initiation is not None:
            return {word: content}
        subject = Subject(found.new_name(word), str(call.outcome.get("status", "")), has_debtor="debtor" in content)
        keep_subject(found, call, subject, str(call.outcome["payment_id"]))
        reference = call.json.get("endtoend_identification")
        if isinstance(reference, str):
            found.subjects[quote(reference, safe="")] = subject
        return {word: content, "as": subject.name}

    return made


def bulk_file(found: Lift, call: Recorded) -> Step | None:
    content = file_content(call, found.names)
    if content is None:
        found.unexplained.append(f"{call}: its file is no csv of the bank's columns, or a long one")
        return None
    if call.status != 201:
        return {"file": content}
    subject = Subject(found.new_name("file"), has_debtor=True)
    keep_subject(found, call, subject, str(call.outcome["payment_file_id"]))
    reference = call.headers.get("paymentinformationid")
    if reference:
        found.subjects[quote(reference, safe="")] = subject
    return {"file": content, "as": subject.name}


# Questions about an initiation


def on_initiation(word: str) -> Make:
    def made(found: Lift, call: Recorded) -> Step | None:
        subject = found.subjects.get(call.path[2])
        if subject is None:
            found.unexplained.append(f"{call}: its initiation is not in the record")
            return None
        content: dict[str, Any] = {"of": subject.name}
        if "EXTERNAL" in call.query.values():
            content["external"] = True
        if word == "status" and call.status == 200:
            address = address_in(call.outcome)
            if address:
                found.subjects[address] = subject
            _reach(found, subject, call)
            content["expect"] = {name: call.outcome[name] for name in ("status", "reason") if name in call.outcome}
        if call.token is not None:
            content["token"] = found.tokens.get(call.token, "unknown")
        return {word: content}

    return made


def _reach(found: Lift, subject: Subject, call: Recorded) -> None:
    """Where the record does not say what led to a status: the customer, time, or a move by hand."""
    status, reason = str(call.outcome.get("status")), call.outcome.get("reason")
    if found.has_controls or status == subject.status:
        return
    if status in SIGNED:
        approve(found, subject)
    if status == "CANC" and reason == "PSU_REFUSED":
        found.steps.append({"psu": {"refuses": subject.name, "customer": CUSTOMER}})
    elif status in ("RJCT", "CANC") and reason not in ("TIME_OUT", "CONTRACT_ENDED"):
        move = {"of": subject.name, "status": status} | ({"reason": reason} if reason else {})
        found.steps.append({"move": move})
    elif status != "PDNG":
        found.steps.append({"await": {"payment": subject.name, "status": status}})
    subject.status = status
