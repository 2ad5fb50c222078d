"""The tools that do not come from controls: an overview, a payment of the demo client, a list of the well-known values
(names and references that lead to an outcome), and a search in the documentation."""

from typing import Any

from sandbox.contract.products import PRODUCTS
from sandbox.extensions.agents.documentation import search
from sandbox.extensions.agents.hints import (
    EXPLAIN,
    OVERVIEW,
    REFEREE,
    SEARCH,
    after_findings,
    after_initiation,
    after_requests,
)
from sandbox.extensions.agents.shown_values import ROWS, fit, select_newest_rows
from sandbox.extensions.agents.tool import Arguments, BankCaller, Hint, JsonSchema, Tool, ToolError, ToolResult

FAILED = 400
SHOWN = 5  # refused calls
BELGIAN = "BE68539007547034"  # valid, and of no bank
CUSTOMER = "alice"
ANSWERS = ("none", "signs", "refuses")


def make_text_schema(about: str, **more: Any) -> JsonSchema:
    return {"type": "string", "description": about, **more}


def look_around(bank: BankCaller, _: Arguments) -> ToolResult:
    clock = bank.call("GET", "/clock")
    calls = bank.call("GET", "/requests")["requests"]
    refused = [call for call in calls if call["status"] >= FAILED]
    overview: dict[str, Any] = {
        "bank": bank.base_url,
        "clock": clock,
        "calls": len(calls),
        "refused": len(refused),
        "newest_refused": refused[-SHOWN:],
    }
    hints: list[Hint] = []
    report = read_findings(bank)
    if report is not None:
        overview["findings"] = report["counts"]
        first = next(after_findings(report, {}), None)
        hints += [Hint(REFEREE, {}, "what the clients did wrong, and what to do instead")] if first else []
    hints += list(after_requests({"requests": calls}, {}))[:2]
    if not calls:
        hints.append(Hint(SEARCH, {"words": "first payment"}, f"no client has called {bank.base_url} yet"))
    return ToolResult(fit(overview), tuple(hints))


def read_findings(bank: BankCaller) -> Any:
    """Returns the findings about clients. Returns None if the call fails, as it does in a sandbox without a referee."""
    try:
        return bank.call("GET", "/referee")
    except ToolError:
        return None


def start_payment(bank: BankCaller, arguments: Arguments) -> ToolResult:
    """Initiates a payment as the demo client. If the argument `answer` says so, also signs or refuses it as the
    customer. Returns the payment's id, address and status, and hints to the next calls. Raises ToolError if the bank
    refuses a call."""
    from sandbox.client import Client, Refused, Unreadable

    order = {name: arguments[name] for name in ORDER if name in arguments}
    order = {"creditor_name": "Jan Peeters", "creditor_iban": BELGIAN, "amount": "12.50"} | order
    product = arguments.get("product", "sepa-credit-transfers")
    with Client(bank.base_url, redirect_uri=f"{bank.base_url}/_sandbox/callback") as tpp:
        try:
            payment = tpp.pay(product, **order)
            outcome: dict[str, Any] = {"payment_id": payment.payment_id, "address": payment.sca_address}
            answer = arguments.get("answer", "none")
            if answer != "none" and payment.sca_address is not None:
                body = {"address": payment.sca_address, "customer": arguments.get("customer", CUSTOMER)}
                verb = "approve" if answer == "signs" else "refuse"
                outcome["redirect"] = (bank.call("POST", f"/psu/{verb}", body) or {}).get("redirect")
            status = tpp.status(payment)
        except (Refused, Unreadable) as no:
            request_id = no.reply.request_id
            explain = Hint(EXPLAIN, {"request_id": request_id}, "why it was refused")
            raise ToolError(str(no), (explain,) if request_id else ()) from None
    outcome |= {"status": status.status, "reason": status.reason}
    hints: list[Hint] = []
    if answer == "none" and payment.sca_address is not None:
        customer = {"address": payment.sca_address, "customer": arguments.get("customer", CUSTOMER)}
        hints += [Hint("post_psu_approve", customer, "the customer signs"), Hint("post_psu_refuse", customer, "or not")]
    else:
        hints += after_initiation(outcome, arguments)
    return ToolResult(outcome, tuple(hints))


ORDER = {
    "creditor_name": make_text_schema("The beneficiary; a well-known value of list_values leads to an outcome."),
    "creditor_iban": make_text_schema("The beneficiary's account.", default=BELGIAN),
    "amount": make_text_schema("A decimal text.", default="12.50"),
    "currency": make_text_schema("EUR where left out."),
    "requested_execution_date": make_text_schema("A date of the bank's clock; today where left out."),
}


def list_values(_: BankCaller, arguments: Arguments) -> ToolResult:
    from sandbox.scenarios.well_known_values import list_default_values

    rows = [
        {
            "value": value.value,
            "field": value.field,
            "of": value.kind_words,
            "effect": value.effect,
            "outcome": value.plain_outcome,
        }
        for value in list_default_values()
    ]
    newest, left_out = select_newest_rows(
        {"values": rows}, arguments.get("limit", ROWS), arguments.get("containing", "")
    )
    first = next((row for row in newest["values"] if row["field"] == "creditor_name"), None)
    hint = (
        Hint("start_payment", {"creditor_name": first["value"], "answer": "signs"}, first["effect"]) if first else None
    )
    return ToolResult(newest | ({"left_out": left_out} if left_out else {}), (hint,) if hint else ())


def search_documentation(_: BankCaller, arguments: Arguments) -> ToolResult:
    hits = search(arguments["words"])
    if not hits:
        raise ToolError("no page has any of these words; the resources are all pages")
    return ToolResult({"hits": [hit._asdict() for hit in hits]})


def make_arguments_schema(required: tuple[str, ...] = (), /, **members: JsonSchema) -> JsonSchema:
    return {"type": "object", "properties": members, "required": list(required), "additionalProperties": False}


TOOLS = (
    Tool(
        OVERVIEW,
        "Look around",
        "Begin here: the address of the bank for the client under test, its clock, the calls that were refused, and "
        "what the referee found wrong with the client. `next` says what to call then.",
        make_arguments_schema(),
        look_around,
        is_read_only=True,
    ),
    Tool(
        "start_payment",
        "Start a payment",
        "Initiates a payment as the bank's demo client, and plays the customer: `signs` or `refuses`.",
        make_arguments_schema(
            **ORDER,
            product=make_text_schema("The payment product.", enum=list(PRODUCTS)),
            answer=make_text_schema("What the customer does; none: nothing yet.", enum=list(ANSWERS), default="none"),
            customer=make_text_schema("Who signs; get_customers lists them.", default=CUSTOMER),
        ),
        start_payment,
    ),
    Tool(
        "list_values",
        "Well-known values",
        "Names and references that lead to an outcome, such as a payment that is rejected with AC04.",
        make_arguments_schema(),
        list_values,
        is_read_only=True,
        shows_list=True,
    ),
    Tool(
        SEARCH,
        "Search the documentation",
        "The sections of the documentation that have most of the words: clauses, errors, reasons, settings, how-tos.",
        make_arguments_schema(
            ("words",),
            words=make_text_schema("Words, an error code, or a clause such as `service 3.4`.", maxLength=300),
        ),
        search_documentation,
        is_read_only=True,
    ),
)
OWN_TOOLS = tuple(tool._replace(checked=frozenset(tool.schema["properties"])) for tool in TOOLS)
