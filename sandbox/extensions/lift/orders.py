"""Makes steps of initiations and of questions about them."""

import re
from typing import Any
from urllib.parse import quote

from sandbox.client.bodies import SCT
from sandbox.client.reply import sca_link
from sandbox.contract import kinds
from sandbox.contract.field_rows import IBAN, AmountKind, BodyRow, fill
from sandbox.contract.fields import PAYMENT, STANDING_ORDER, VERSION_1
from sandbox.contract.reasons import Reason
from sandbox.extensions.lift.files import file_content
from sandbox.extensions.lift.gaps import TIMES_OUT
from sandbox.extensions.lift.har import PRODUCTS, Recorded
from sandbox.extensions.lift.lifted import (
    CUSTOMER,
    UNKNOWN,
    Lift,
    LiftedSubject,
    Make,
    Step,
    approve,
    keep_subject,
    token_words,
)
from sandbox.extensions.lift.pseudonyms import FREE, Pseudonyms
from sandbox.player.orders import PAYEE

CODE = re.compile(r"[A-Z_0-9]{1,12}|[0-9-]{10}|-?[0-9.]{1,17}")  # a word of the bank, a day or an amount
STRUCTURED = "STRUCTURED"
SIGNED = ("PDNG", "ACSP", "ACSC", "ACWP", "RJCT")
FILLED = (*PAYEE, "endtoend_identification")  # where a step has none
# RFC 7636, appendix B: for calls that have to be identical.
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"


def order_words(found: Lift, call: Recorded, table: BodyRow) -> dict[str, Any]:
    """The words of a body, under other names."""
    body, words = call.json, {}
    # Version 1 has one field for both communications: the word that does not fit its type.
    other = "unstructured" if body.get("communication_type") == STRUCTURED else "structured"
    for word, path in table.paths.items():
        if table is VERSION_1 and word == other:
            continue
        value: Any = body
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None and _is_text(table, path, value):
            words[word] = value
    is_foreign = call.outcome.get("error") == "INVALID_ACCOUNT"  # then no account stands in its place
    content: dict[str, Any] = {
        word: found.names.iban(value) if word == "debtor" and is_foreign else found.names.hide(word, value)
        for word, value in words.items()
    }
    rest = _rest(found.names, table, body, fill(table, words))
    return content | ({"body": rest} if rest else {})


def _is_text(table: BodyRow, path: str, value: Any) -> bool:
    """Whether a word of a step comes out as the same JSON."""
    kind = table.by_path[path].kind
    if path == "creditor_address":
        return isinstance(value, dict)
    return isinstance(value, str) or (isinstance(kind, AmountKind) and kind.number and isinstance(value, int | float))


def _rest(names: Pseudonyms, table: BodyRow, body: dict[str, Any], by_words: dict[str, Any]) -> dict[str, Any]:
    fields = {field.outer for field in table.fields}
    rest: dict[str, Any] = {}
    for at, (name, value) in enumerate(body.items(), 1):
        if name not in fields:
            rest[name if re.fullmatch(r"[a-z_]{1,40}", name) else f"unknown_{at}"] = _blank(value)
        elif by_words.get(name) != value and name != "communication_type":
            rest[name] = _replaced(names, table, name, value)
    return rest


def _replaced(names: Pseudonyms, table: BodyRow, path: str, value: Any) -> Any:
    """The same shape, with other people."""
    if isinstance(value, dict):
        return {part: _replaced(names, table, f"{path}.{part}", inner) for part, inner in value.items()}
    field = table.by_path.get(path)
    word = field.words[0] if field is not None and field.words else ""
    if field is not None and field.kind is IBAN and isinstance(value, str):
        return names.iban_itself(value)
    return names.hide(word, value) if word and isinstance(value, str) else _blank(value)


def _blank(value: Any) -> Any:
    """A value of the same type."""
    if isinstance(value, dict):
        return {f"part_{at}": _blank(inner) for at, inner in enumerate(value.values(), 1)}
    if isinstance(value, list):
        return [_blank(inner) for inner in value]
    return FREE if isinstance(value, str) and not CODE.fullmatch(value) else value


NOT_JSON = "{not JSON"


def initiation(word: str, table: BodyRow) -> Make:
    filled = (*FILLED, "frequency", "start_date") if table is STANDING_ORDER else FILLED

    def step(found: Lift, call: Recorded) -> Step:
        earlier = "version=1" in call.headers.get("accept", "") and table is PAYMENT
        if not call.json:
            sent = call.sent if call.sent in ("", "{}", "[]", "null") else NOT_JSON
            return {"call": {"method": "POST", "path": f"/{call.path[0]}/{call.path[1]}", "body": sent}}
        shape = VERSION_1 if earlier else table
        content = order_words(found, call, shape)
        if earlier:
            content["version"] = 1
        content |= dict.fromkeys(
            name for name in filled if name not in content and not ("creditor_bban" in content and "iban" in name)
        )
        if call.path[1] != SCT:
            content["product"] = call.path[1]
        content |= token_words(found, call)
        subject = LiftedSubject(word, str(call.outcome.get("status", "")), has_debtor="debtor" in content)
        if call.headers.get("request-id") in found.twins and call.token is None:
            subject.verifier = VERIFIER
        reference = call.json.get("payment_id" if earlier else "endtoend_identification")
        return _step(found, call, content, subject, "payment_id", reference)

    return step


def bulk_file(found: Lift, call: Recorded) -> Step | None:
    content = file_content(call, found.names)
    if isinstance(content, str):
        found.unexplained.append(f"{call}: {content}")
        return None
    subject = LiftedSubject("file", has_debtor=True)
    return _step(found, call, content, subject, "payment_file_id", call.headers.get("paymentinformationid"))


def _step(found: Lift, call: Recorded, content: Step, subject: LiftedSubject, id_name: str, reference: Any) -> Step:
    """The step, with the name of what it made where it was taken and no earlier call of the record made that."""
    word, subject_id = subject.name, str(call.outcome.get(id_name))
    if call.status != 201 or subject_id in found.subjects:
        return {word: content}
    subject.name = found.new_name(word)
    keep_subject(found, call, subject, subject_id)
    if reference and isinstance(reference, str):
        found.subjects[quote(reference, safe="")] = subject
    subject.last = content
    return {word: content, "as": subject.name}


# Questions about an initiation


def on_initiation(word: str) -> Make:
    def step(found: Lift, call: Recorded) -> Step | None:
        subject = found.subjects.get(call.path[2])
        if subject is None:
            return _unknown(found, call)
        content: dict[str, Any] = {"of": subject.name}
        if "EXTERNAL" in call.query.values():
            content["external"] = True
        if word == "status" and call.status == 200:
            address = sca_link(call.outcome)
            if address:
                found.subjects[address] = subject
            _reach(found, subject, call)
            content["expect"] = {name: call.outcome[name] for name in ("status", "reason") if name in call.outcome}
        content |= token_words(found, call)
        if call.token is None and word != "status" and call.path[0] != kinds.BULK.path:
            content["token"] = None
        subject.last = content
        return {word: content}

    return step


def _unknown(found: Lift, call: Recorded) -> Step | None:
    """An id that no call of the record brought: one that the bank did not know, or one from before the record."""
    if call.status != 404:
        found.unexplained.append(f"{call}: its initiation is not in the record")
        return None
    product = call.path[1] if call.path[1] in PRODUCTS else UNKNOWN
    path = "/".join((call.path[0], product, UNKNOWN, *call.path[3:]))
    return {"call": {"method": call.method, "path": f"/{path}"} | token_words(found, call)}


def _reach(found: Lift, subject: LiftedSubject, call: Recorded) -> None:
    """Where the record does not say what led to a status: the customer, time, or a move by hand."""
    status, reason = str(call.outcome.get("status")), call.outcome.get("reason")
    if found.has_controls or status == subject.status:
        return
    if status in SIGNED:
        approve(found, subject)
    if status == "CANC" and reason == Reason.PSU_REFUSED.code:
        found.steps.append({"psu": {"refuses": subject.name, "customer": CUSTOMER}})
    elif status in ("RJCT", "CANC") and reason not in TIMES_OUT:
        move = {"of": subject.name, "status": status} | ({"reason": reason} if reason else {})
        found.steps.append({"move": move})
    elif status != "PDNG":
        found.steps.append({"await": {"payment": subject.name, "status": status}})
    subject.status = status
