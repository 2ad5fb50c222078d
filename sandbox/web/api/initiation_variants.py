"""What differs in the replies of initiations by the axes of a world (contract/axes_initiation)."""

from typing import Any

import orjson
from orjson import Fragment

from sandbox.bank.bulk_records import Bulk
from sandbox.bank.records import Order
from sandbox.bank.subjects import Initiation
from sandbox.banking.money import Money
from sandbox.web.api.addresses import sca_address
from sandbox.web.api.call import Call

ISO_REASONS = {"TIME_OUT": "TM01", "PSU_REFUSED": "DS02", "CONTRACT_ENDED": "DS02"}
FILE_NUMBERS = ("control_sum", "number_of_transactions")
AMOUNTS = ("amount", "minimal_amount", "maximal_amount")
CAMEL = {
    "payment_id": "paymentId",
    "endtoend_identification": "endToEndIdentification",
    "sca_redirect": "scaRedirect",
}
OTHER_HOSTS = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}


def signing_address(call: Call, token: str) -> str:
    """The SCA address: on the API's host, without a query, unless an axis says otherwise."""
    address = sca_address(call.request, token)
    if call.variant("sca_host") == "other":
        scheme, _, rest = address.partition("://")
        host, slash, path = rest.partition("/")
        name, colon, port = host.partition(":")
        address = f"{scheme}://{OTHER_HOSTS.get(name, name)}{colon}{port}{slash}{path}"
    return address if call.variant("sca_address_query") == "none" else f"{address}?flow=sign"


def spelled(call: Call, status: str) -> str:
    return call.variant("status_spelling") if status == "PDNG" else status


def vary_status(call: Call, content: dict[str, Any]) -> dict[str, Any]:
    content["status"] = spelled(call, content["status"])
    if "reason" in content and content["reason"] in ISO_REASONS and call.variant("reason_codes") == "iso":
        content["reason"] = ISO_REASONS[content["reason"]]
    match call.variant("reason"):
        case "always":
            content.setdefault("reason", None)
        case "never":
            content.pop("reason", None)
    if call.variant("status_names_payment") == "no":
        del content["payment_id"]
    return content


def vary_details(call: Call, found: Initiation, content: dict[str, Any]) -> dict[str, Any]:
    content["status"] = spelled(call, content["status"])
    if "psu_name" not in content and call.variant("psu_name_before_login") == "null":
        content["psu_name"] = None
    inner = content["instructed_amount"]
    match call.variant("details_amount"):
        case "number":
            content["instructed_amount"] = inner | {name: Fragment(inner[name]) for name in AMOUNTS if name in inner}
        case "as_sent":
            content["instructed_amount"] = inner | {
                name: f"{money.number:f}" for name, money in amounts_of(found).items()
            }
    return content


def amounts_of(found: Initiation) -> dict[str, Money]:
    """Of a payment or a standing order, by the names of the API."""
    assert not isinstance(found, Bulk)
    order = found.order
    if isinstance(order, Order):
        return {"amount": order.amount}
    amounts = {"amount": order.amount, "minimal_amount": order.minimal, "maximal_amount": order.maximal}
    return {name: money for name, money in amounts.items() if money is not None}


def vary_bulk(call: Call, content: dict[str, Any]) -> dict[str, Any]:
    """The status of a file and of its bulks."""
    for row in (content, *content.get("bulks", ())):
        row["status"] = spelled(call, row["status"])
    if not content["bulks"] and call.variant("bulks_while_rcvd") == "absent":
        del content["bulks"]
    elif content["bulks"] and call.variant("file_numbers") == "strings":
        for row in content["bulks"]:
            row |= {name: orjson.dumps(row[name]).decode() for name in FILE_NUMBERS}
    return content


def vary_initiation(call: Call, content: dict[str, Any]) -> dict[str, Any]:
    """The body of the reply; where Location alone has the address, its link is left out."""
    links = content["_links"]
    few = call.variant("initiation_fields") == "few"
    if call.variant("sca_address_in") == "location":
        del links["sca_redirect"]
    if few:
        links = {name: one for name, one in links.items() if name == "sca_redirect"}
        content = {"payment_id": content["payment_id"], "_links": links}
    if call.variant("initiation_field_names") == "camel":
        content = {CAMEL.get(name, name): value for name, value in content.items()}
        content["_links"] = {CAMEL.get(name, name): value for name, value in links.items()}
    return content
