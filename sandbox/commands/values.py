"""The commands `values`, which lists the well-known values, and `trigger`, which plays one of them (choice 12)."""

from collections.abc import Iterable
from datetime import timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from sandbox.commands.options import explain_errors, json_option
from sandbox.commands.remote import RemoteWorld, remote
from sandbox.commands.screen import format_json, format_table
from sandbox.commands.tpp_calls import (
    BELGIAN,
    SAMPLE,
    customer_option,
    demand_controls,
    find_console_page,
    find_signing_address,
    make_tpp,
    render_initiation,
    wait_for_status,
)

if TYPE_CHECKING:
    from sandbox.client import Initiation
    from sandbox.scenarios.well_known_values import WellKnownValue

KINDS = {"payment": "payment", "order": "standing_order", "file": "bulk"}
COLUMNS = ("value", "field", "of a", "what happens", "outcome")
UNSIGNED = ("RCVD", "PATC")
WITHIN = "30d"  # of the bank's time


@click.command()
@click.argument("text", required=False)
@click.option("--scenario", default="default", show_default=True, help="A shipped scenario by its name, or a file.")
@json_option
def values(text: str | None, scenario: str, as_json: bool) -> None:
    """Lists the well-known values. They are names and references that lead to an outcome. TEXT narrows the list."""
    from sandbox.scenarios import ScenarioErrors, load
    from sandbox.scenarios.well_known_values import list_values

    with explain_errors(ScenarioErrors, about="it cannot be read:\n", option="--scenario"):
        well_known_values = list(list_values(load(scenario).rules))
    rows = make_objects(well_known_values)
    if text:
        rows = [row for row in rows if text.casefold() in " ".join(row.values()).casefold()]
    if as_json:
        click.echo(format_json({"values": rows}))
    else:
        cells = [list(row.values()) for row in rows]
        click.echo(format_table(cells, COLUMNS) if rows else f"No well-known value has {text!r} in it.")


def make_objects(values: "Iterable[WellKnownValue]") -> list[dict[str, str]]:
    return [
        {
            "value": value.value, "field": value.field, "of": value.kind_words, "effect": value.effect,
            "outcome": value.plain_outcome,
        }
        for value in values
    ]  # fmt: skip


def find_value(name: str, kind: str | None) -> "WellKnownValue":
    """Returns the well-known value of that name. The name may be written in lower case and without the prefix TEST. If
    `kind` is given, looks only at values for this kind. If several values have the name, returns the first one in the
    table; values for payments come first. Ends the command if there is none."""
    from sandbox.scenarios.well_known_values import list_default_values

    candidates = [value for value in list_default_values() if kind is None or KINDS[kind] in value.kinds]
    for fits in (lambda value: value.value == name, lambda value: shorten_value(value.value) == shorten_value(name)):
        fitting = [value for value in candidates if fits(value)]
        if fitting:
            return fitting[0]
    near = get_close_matches(shorten_value(name), [shorten_value(value.value) for value in candidates], 3, 0.5)
    hint = f" Did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""
    raise click.BadParameter(
        f"{name} is no well-known value.{hint} `bank-sandbox values` lists them.", param_hint="NAME"
    )


def shorten_value(value: str) -> str:
    return value.casefold().removeprefix("test").strip(" -").replace("-", "_").replace(" ", "_")


@click.command()
@click.argument("name")
@click.option("--kind", type=click.Choice(list(KINDS)), help="Where a name has several meanings; default: a payment.")
@customer_option("The customer who signs; default: alice, for a file bakkerij.")
@remote
def trigger(far: RemoteWorld, name: str, kind: str | None, customer: str | None) -> None:
    """Plays the well-known value NAME until its outcome. NAME is AC04, INSUFFICIENT_FUNDS or TEST-RJCT, for example."""
    from sandbox.client import Refused

    value = find_value(name, kind)
    about = f"{value.value}: {value.effect}{f' ({value.plain_outcome})' if value.outcome else ''}"
    demand_controls(far, customer)
    try:
        initiation = initiate(far, value, kind)
    except Refused as no:
        if value.rule.refuse is None:
            raise
        summary = {"value": value.value, "status": no.status, "refused": no.error, "error_code": no.error_code}
        far.tell(summary, lambda: f"{about}\n{summary['status']} {summary['refused']}, as it should be")
        return
    bring_to_outcome(far, value, initiation, customer or ("bakkerij" if value.kinds == ("bulk",) else "alice"))
    status = make_tpp(far).status(initiation)
    initiation_row = {"payment_id": initiation.reference.id, "status": status.status, "reason": status.reason}
    initiation_row |= {"value": value.value, "console": find_console_page(far, initiation)}
    far.tell(initiation_row, lambda: f"{about}\n{render_initiation(initiation_row)}")


def initiate(far: RemoteWorld, value: "WellKnownValue", kind: str | None) -> "Initiation":
    from sandbox.bulkfiles.samples import fill_sample

    tpp, now = make_tpp(far), far.controls.clock.get().now
    if value.kinds == ("bulk",):
        return tpp.send_file(fill_sample(SAMPLE, now.date(), uuid4().hex), "pain.001", value.value)
    order: dict[str, Any] = {"creditor_name": value.value, "creditor_iban": BELGIAN, "amount": "12.50"}
    if kind == "order" or value.kinds == ("standing_order",):
        return tpp.pay_regularly(start_date=(now + timedelta(days=1)).date(), **order)
    return tpp.pay(value.product or "sepa-credit-transfers", **order, currency=value.currency)


def bring_to_outcome(far: RemoteWorld, value: "WellKnownValue", initiation: "Initiation", customer: str) -> None:
    """Signs the initiation as the customer if the value's outcome needs a signature. Then moves the clock until the
    outcome has happened."""
    rule, clock, timings = value.rule, far.controls.clock, dict(value.rule.timings)
    first = rule.then[0] if rule.then else None
    acts_alone = rule.psu is not None or (first is not None and first.on in UNSIGNED)
    if not acts_alone and not {"unsigned_after", "technical_checks", "bulk_validation"} & {*timings}:
        address = None if rule.validation else find_signing_address(far, initiation)
        if address is not None:
            far.controls.psu.approve(address, customer)
    if rule.psu is not None:
        clock.advance(rule.psu.after)
    elif "unsigned_after" in timings:
        clock.advance(timings["unsigned_after"])
    elif rule.validation:
        wait_for_status(far, initiation, "PATC" if rule.validation[0].bulk else "RJCT", WITHIN)
    elif "settlement_ends" in timings and "settlement_begins" not in timings:
        wait_for_status(far, initiation, "ACSP", WITHIN)
    elif first is not None:
        wait_for_status(far, initiation, "ACSC" if first.back else str(first.move), WITHIN)
        if first.back:
            clock.set(first.compute_due_time(clock.get().now))
