"""Views of bulk files, and the functions that write their replies (service 4.6, choice 7)."""

import re
import zlib
from functools import partial
from typing import Any

from flask import Response
from orjson import Fragment

from sandbox.bank import bulks
from sandbox.bank.bulk_checks import make_report_input
from sandbox.bank.records import Batch, BulkFile
from sandbox.bank.state import Bank
from sandbox.bulkfiles.admission import FILE_BYTES_MAX
from sandbox.bulkfiles.report import FileFindings
from sandbox.bulkfiles.stages import Kind, admit, is_large, make_report
from sandbox.contract.errors import Error, Refusal, make_invalid
from sandbox.web.api import replies
from sandbox.web.api.call import Answer, Call
from sandbox.web.api.initiations import is_external, make_signing_address, replace_conflict
from sandbox.web.api.replies import ReplyContent

HEAD_BYTES = 1_000  # in which the first row of a csv file ends
PACKED_LEVEL = 1  # the fastest
REFERENCE = re.compile(r"[A-Za-z0-9-]{1,35}\Z")


def bulk_initiation(bank: Bank, call: Call) -> Answer:
    """Returns the function that reads a bulk file and replies. That function runs outside of the world's lock, because
    it may take long."""
    return partial(_take, call)


def _take(call: Call) -> ReplyContent:
    kind = find_product(call)
    reference = call.read_header("PaymentInformationID")
    if reference is not None and REFERENCE.match(reference) is None:
        reason = "1 to 35 letters, digits or -"
        raise Refusal(Error.HEADER_INVALID, input="PaymentInformationID", why=reason)
    id_rule = call.decisions.payment_information_id
    if reference is None and id_rule == "required":
        raise Refusal(Error.HEADER_MISSING, input="PaymentInformationID")
    compressed_file, message_id = read_file(call, kind)
    demand_dialect(call, kind)
    if reference is None or id_rule == "of_a_bulk":
        reference = message_id  # choice 7
    call.world.ask(_demand_room, call, len(compressed_file))
    payment_file_id, status = call.world.act(
        bulks.initiate, kind, compressed_file, reference, call.origin, call.request_key
    )
    call.world.on_growth(len(compressed_file))
    call.subject = payment_file_id
    links = {"status": replies.link(f"/{call.kind.path}/{kind}/{payment_file_id}/status")}
    content = {"payment_file_id": payment_file_id, "status": status.value, "_links": links}
    return ReplyContent(content, 201)


def demand_dialect(call: Call, kind: Kind) -> None:
    """Refuses a csv file if this bank does not take its separator (service 2.3). The separator is the more frequent one
    of comma and semicolon in the first row. Accepts every file that is not csv."""
    if kind != "csv":
        return
    head = call.request.get_data(cache=True)[:HEAD_BYTES].partition(b"\n")[0]
    separator = "semicolon" if head.count(b";") > head.count(b",") else "comma"
    dialect = call.decisions.csv_dialect
    if dialect not in ("both", separator):
        raise make_invalid("body", f"its columns are separated by a {separator}, not a {dialect}", "service 2.3")


def _demand_room(bank: Bank, call: Call, size: int) -> None:
    """Refuses the file if the world or the server has no room for another waiting file. Does not refuse a call whose
    Request-ID was used before. By default, such a call gets the first reply again if it is identical, and stores no
    file (choice 2)."""
    if (call.client.id, call.request_id) in bank.asked:
        return
    bulks.demand_room(bank, size)
    call.world.demand_files(size)


def read_file(call: Call, kind: Kind) -> tuple[bytes, str | None]:
    """Returns the compressed file and its MsgId. The MsgId is None if the file has none.

    Refuses a file that is empty, too long, not UTF-8, not well-formed, or has a DTD (choice 7).
    """
    if (call.request.content_length or 0) > FILE_BYTES_MAX:
        raise make_invalid(
            "body",
            f"it is over {FILE_BYTES_MAX // 1_000_000} MB",
            "choice 7",
            bytes=call.request.content_length,
            most=FILE_BYTES_MAX,
        )
    content = call.request.get_data(cache=True)
    try:
        message_id = admit(kind, content)
    except ValueError as error:
        raise make_invalid("body", str(error), "choice 7") from None
    return zlib.compress(content, PACKED_LEVEL), message_id


def list_arguments(call: Call) -> tuple[str, Kind, str, bool]:
    return call.client.id, find_product(call), call.path["payment_file_id"], is_external(call)


def bulk_status(bank: Bank, call: Call, fresh: str | None = None) -> Answer:
    """Replies with the status of a file and of its batches. If the axis `bulks_while_rcvd` is `listed`, the reply has
    the batches even before the file is validated, unless the file is large.

    If the file waits for its first signature, the reply also has an SCA address. If the file has no valid address, or
    if the axis `address_at_status` asks for a new one each time, returns a function. It makes a new address and calls
    this view again, with the token of the new address as `fresh`. The reply shows the new address even if it has
    expired in the meantime.
    """
    client_id, kind, reference, external = list_arguments(call)
    bulk = bulks.find(bank, client_id, kind, reference, external=external)
    call.subject = bulk.id
    address = None
    if bulks.waits_for_signature(bulk):
        renews = fresh is None and call.decisions.address_at_status == "new"
        token = None if renews else bulks.find_valid_sca_token(bank, bulk) or fresh
        if token is None:
            return partial(_show_new_address, call)
        address = make_signing_address(call, token)
    content = make_bulk_fields(bulk, address)
    if not bulk.parts and bulk.packed and call.decisions.bulks_while_rcvd == "listed":
        content["bulks"] = list_expected_bulks(bank, bulk)
    return ReplyContent(content)


def _show_new_address(call: Call) -> Answer:
    fresh = call.world.act(bulks.renew_address, *list_arguments(call))
    return call.world.ask(bulk_status, call, fresh)


def list_expected_bulks(bank: Bank, bulk: BulkFile) -> list[dict[str, Any]]:
    """Returns the batches of a file that is not validated yet, without their faults. Returns no batches for a large
    file, because reading it would delay other calls."""
    if is_large(bulk.packed):
        return []
    report = make_report(make_report_input(bank, bulk, bank.clock.today))
    parts = (Batch(f"{bulk.id}/{number}", bulk.id, batch) for number, batch in enumerate(report.batches, 1))
    return [{name: value for name, value in _make_part(part).items() if "errors" not in name} for part in parts]


def bulk_cancellation(bank: Bank, call: Call) -> Response:
    with replace_conflict(call):
        call.world.do(bulks.delete, *list_arguments(call))
    return replies.make_empty_reply()


def find_product(call: Call) -> Kind:
    return "csv" if call.product == "csv" else "pain.001"


def make_bulk_fields(bulk: BulkFile, address: str | None) -> dict[str, Any]:
    """Returns the status of the file and of each bulk in it, with the faults that were found. `address` is the SCA
    address to show, or None."""
    content: dict[str, Any] = {"payment_file_id": bulk.id, "status": bulk.status.value}
    if bulk.reason is not None:
        content["reason"] = bulk.reason
    content["bulks"] = [_make_part(part) for part in bulk.parts]
    content |= _make_faults(bulk.findings)
    if address is not None:
        content["_links"] = {"sca_redirect": replies.link(address)}
    return content


def _make_part(part: Batch) -> dict[str, Any]:
    name = part.batch.payment_information_id
    row: dict[str, Any] = {} if name is None else {"payment_information_id": name}
    row |= {
        "status": part.status.value,
        "number_of_transactions": part.batch.number_of_transactions,
        "control_sum": Fragment(f"{part.batch.control_sum:.2f}"),
    }
    if part.reason is not None:
        row["reason"] = part.reason
    return row | _make_faults(part.findings)


def _make_faults(findings: FileFindings) -> dict[str, Any]:
    """Returns fields with the first faults of a file or a batch and with the number of all its faults. Returns no
    fields if there are no faults."""
    rows = [
        ({"path": finding.place} if finding.line is None else {"line": finding.line})
        | {"code": finding.code, "text": finding.text}
        for finding in findings.first
    ]
    return {"errors": rows, "number_of_errors": findings.count} if findings.count else {}
