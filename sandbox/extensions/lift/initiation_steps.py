"""Makes scenario steps from recorded initiations, and from calls that ask about an initiation or cancel it."""

import re
from typing import Any
from urllib.parse import quote

from sandbox.banking.pkce import EXAMPLE_VERIFIER
from sandbox.client.bodies import SCT
from sandbox.client.transport import sca_link
from sandbox.contract import kinds
from sandbox.contract.field_rows import IBAN, AmountKind, BodyRow, make_body
from sandbox.contract.fields import PAYMENT, STANDING_ORDER, VERSION_1
from sandbox.contract.reasons import BROUGHT_BY_TIME, Reason
from sandbox.extensions.lift.default_words import read_error, read_reason, read_status
from sandbox.extensions.lift.lift_state import CUSTOMER, UNKNOWN, LiftedSubject, LiftState, Step, StepMaker
from sandbox.extensions.lift.pseudonyms import ScenarioPseudonyms, write_file_words
from sandbox.player.orders import PAYEE
from sandbox.recordings.pseudonyms import FREE
from sandbox.recordings.recorded_calls import PRODUCTS, RecordedCall

CODE = re.compile(r"[A-Z_0-9]{1,12}|[0-9-]{10}|-?[0-9.]{1,17}")  # a word of the bank, a day or an amount
STRUCTURED = "STRUCTURED"
SIGNED = ("PDNG", "ACSP", "ACSC", "ACWP", "RJCT")
FILLED_IN = (*PAYEE, "endtoend_identification")  # words that the player adds to a step without them
NOT_JSON = "{not JSON"


def make_initiation_lifter(word: str, table: BodyRow) -> StepMaker:
    filled_in = (*FILLED_IN, "frequency", "start_date") if table is STANDING_ORDER else FILLED_IN

    def make_step(lift: LiftState, call: RecordedCall) -> Step:
        is_version_1 = "version=1" in call.headers.get("accept", "") and table is PAYMENT
        if not call.json:
            body = call.body if call.body in ("", "{}", "[]", "null") else NOT_JSON
            return {"call": {"method": "POST", "path": f"/{call.path[0]}/{call.path[1]}", "body": body}}
        content = write_order_words(lift, call, VERSION_1 if is_version_1 else table)
        if is_version_1:
            content["version"] = 1
        content |= dict.fromkeys(
            name for name in filled_in if name not in content and not ("creditor_bban" in content and "iban" in name)
        )
        if call.path[1] != SCT:
            content["product"] = call.path[1]
        content |= lift.make_token_words(call)
        subject = LiftedSubject(word, str(call.reply_json.get("status", "")), has_debtor="debtor" in content)
        if call.headers.get("request-id") in lift.repeated_ids and call.access_token is None:
            subject.verifier = EXAMPLE_VERIFIER  # the calls have to be identical
        reference = call.json.get("payment_id" if is_version_1 else "endtoend_identification")
        return make_initiation_step(lift, call, content, subject, "payment_id", reference)

    return make_step


def lift_bulk_file(lift: LiftState, call: RecordedCall) -> Step | None:
    content = write_file_words(call, lift.names)
    if isinstance(content, str):
        lift.add_unexplained(call, content)
        return None
    subject = LiftedSubject("file", has_debtor=True)
    reference = call.headers.get("paymentinformationid")
    return make_initiation_step(lift, call, content, subject, "payment_file_id", reference)


def make_initiation_step(
    lift: LiftState, call: RecordedCall, content: Step, subject: LiftedSubject, id_name: str, reference: Any
) -> Step:
    """Returns the step of an initiation. If the bank accepted the initiation, the step has a name, so that later steps
    can refer to it. A refused call, or a repetition of an accepted call, gets a step without a name."""
    word, subject_id = subject.name, str(call.reply_json.get(id_name))
    if call.status != 201 or subject_id in lift.subjects:
        return {word: content}
    subject.name, subject.last = lift.make_name(word), content
    keys = (subject_id, quote(reference, safe="")) if reference and isinstance(reference, str) else (subject_id,)
    lift.add_subject(call, subject, *keys)
    return {word: content, "as": subject.name}


def write_order_words(lift: LiftState, call: RecordedCall, table: BodyRow) -> dict[str, Any]:
    """Returns the content of the step that sends the body of this call, with pseudonyms. `table` says which fields the
    body can have, and which words of the step stand for them, such as `creditor_name`. The word `body` of the step has
    the fields for which there is no word, or whose values a word cannot express."""
    body, words = call.json, {}
    # Version 1 has one field for both communications: the word that does not fit its type.
    other = "unstructured" if body.get("communication_type") == STRUCTURED else "structured"
    for word, path in table.paths.items():
        if table is VERSION_1 and word == other:
            continue
        value: Any = body
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None and is_kept_by_word(table, path, value):
            words[word] = value
    is_foreign = read_error(call) == "INVALID_ACCOUNT"  # then the scenario has no account for it
    content: dict[str, Any] = {
        word: lift.names.account(value) if word == "debtor" and is_foreign else lift.names.hide(word, value)
        for word, value in words.items()
    }
    body_fields = collect_other_fields(lift.names, table, body, make_body(table, words))
    return content | ({"body": body_fields} if body_fields else {})


def is_kept_by_word(table: BodyRow, path: str, value: Any) -> bool:
    """Whether the value can be written as a word of the step. If not, it must be in the step's word `body`, because the
    player of scenarios would send another JSON type, such as a text instead of a number."""
    kind = table.by_path[path].kind
    if path == "creditor_address":
        return isinstance(value, dict)
    return isinstance(value, str) or (isinstance(kind, AmountKind) and kind.number and isinstance(value, int | float))


def collect_other_fields(
    names: ScenarioPseudonyms, table: BodyRow, body: dict[str, Any], by_words: dict[str, Any]
) -> dict[str, Any]:
    field_names = {field.outer for field in table.fields}
    unnamed_fields: dict[str, Any] = {}
    for at, (name, value) in enumerate(body.items(), 1):
        if name not in field_names:
            unnamed_fields[name if re.fullmatch(r"[a-z_]{1,40}", name) else f"unknown_{at}"] = make_blank(value)
        elif by_words.get(name) != value and name != "communication_type":
            unnamed_fields[name] = hide_field(names, table, name, value)
    return unnamed_fields


def hide_field(names: ScenarioPseudonyms, table: BodyRow, path: str, value: Any) -> Any:
    """Returns the value of the field at `path` without personal data. A pseudonym replaces the text of a known field.
    `make_blank` hides the value of any other field. The parts of an object are replaced one by one."""
    if isinstance(value, dict):
        return {part: hide_field(names, table, f"{path}.{part}", inner) for part, inner in value.items()}
    field = table.by_path.get(path)
    word = field.words[0] if field is not None and field.words else ""
    if field is not None and field.kind is IBAN and isinstance(value, str):
        return names.iban(value)
    return names.hide(word, value) if word and isinstance(value, str) else make_blank(value)


def make_blank(value: Any) -> Any:
    """Returns a value of the same type, in which a placeholder replaces each text and numbered names replace the names
    of fields. Numbers, codes, dates and amounts stay."""
    if isinstance(value, dict):
        return {f"part_{at}": make_blank(inner) for at, inner in enumerate(value.values(), 1)}
    if isinstance(value, list):
        return [make_blank(inner) for inner in value]
    return FREE if isinstance(value, str) and not CODE.fullmatch(value) else value


def make_lookup_lifter(word: str) -> StepMaker:
    """Returns a function that makes a step from a call about an initiation. `word` says what the step does: `status`
    and `details` ask about the initiation, and `cancel` cancels it."""

    def make_step(lift: LiftState, call: RecordedCall) -> Step | None:
        subject = lift.subjects.get(call.path[2])
        if subject is None:
            return lift_unknown_initiation(lift, call)
        content: dict[str, Any] = {"of": subject.name}
        if "EXTERNAL" in call.query.values():
            content["external"] = True
        if word == "status" and call.status == 200:
            address = sca_link(call.reply_json)
            if address:
                lift.subjects[address] = subject
            content["expect"] = expect_status(lift, subject, call)
        content |= lift.make_token_words(call)
        if call.access_token is None and word != "status" and call.path[0] != kinds.BULK.path:
            content["token"] = None
        subject.last = content
        return {word: content}

    return make_step


def expect_status(lift: LiftState, subject: LiftedSubject, call: RecordedCall) -> Step:
    """Returns what the step of a status call expects, and adds the steps that bring the initiation to this status."""
    words = {"status": read_status(call), "reason": read_reason(lift, subject, call)}
    reach_status(lift, subject, words["status"], words["reason"])
    subject.is_approved = subject.is_approved or words["status"] in SIGNED
    return {name: word for name, word in words.items() if name in call.reply_json}


def lift_unknown_initiation(lift: LiftState, call: RecordedCall) -> Step | None:
    """Makes the step of a call about an initiation whose id is in no earlier reply of the recording. If the bank
    answered 404, the step asks for an unknown id. Otherwise the initiation is older than the recording. Then this
    function returns None and lists the call as unexplained."""
    if call.status != 404:
        lift.add_unexplained(call, "its initiation is not in the record")
        return None
    product = call.path[1] if call.path[1] in PRODUCTS else UNKNOWN
    path = "/".join((call.path[0], product, UNKNOWN, *call.path[3:]))
    return {"call": {"method": call.method, "path": f"/{path}"} | lift.make_token_words(call)}


def reach_status(lift: LiftState, subject: LiftedSubject, status: str, reason: Any) -> None:
    """Adds the steps that bring an initiation to the status that a reply shows: an act of the customer, a wait, or a
    forced move. For PDNG, the customer's approval suffices. Adds no step if the initiation has this status already.
    Also adds none if the recording has calls of the controls, because these calls are such steps."""
    if lift.has_controls or status == subject.status:
        return
    if status in SIGNED:
        lift.approve(subject)
    if status == "CANC" and reason == Reason.PSU_REFUSED.code:
        lift.steps.append({"psu": {"refuses": subject.name, "customer": CUSTOMER}})
    elif status in ("RJCT", "CANC") and reason not in BROUGHT_BY_TIME:
        move = {"of": subject.name, "status": status} | ({"reason": reason} if reason else {})
        lift.steps.append({"move": move})
    elif status != "PDNG":
        lift.steps.append({"await": {"payment": subject.name, "status": status}})
    subject.status = status
