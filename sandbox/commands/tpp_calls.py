"""Commands that act as the demo client. One command makes a payment, a standing order, a bulk file or a consent
(choice 12)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from sandbox.commands.completion import find_completer
from sandbox.commands.options import combine_options
from sandbox.commands.remote import RemoteWorld, remote
from sandbox.commands.screen import suggest_nearest
from sandbox.contract.kinds import BULK
from sandbox.contract.moves import Status

if TYPE_CHECKING:
    from sandbox.client import Client, Initiation

BELGIAN = "BE68539007547034"  # a valid IBAN of no real bank
SAMPLE = "three-bulks.pain.001.001.09.xml"
STATUS = click.Choice([status.value for status in Status], case_sensitive=False)
WITHIN = "400d"  # of the bank's time, for --until


def make_tpp(far: RemoteWorld) -> "Client":
    """Returns the reference client, connected to this world. Its callbacks go to the callback page of the world."""
    from sandbox.client import Client

    controls = far.controls
    callback = f"{controls.base_url}/_sandbox/callback"
    # With the language `*` the signing page follows the browser.
    return Client(controls.base_url, redirect_uri=callback, language="*", http=controls.http)


def customer_option(about: str, default: str | None = None) -> Callable[..., Any]:
    """Makes the option `--customer`, which names the customer that acts. In version 1.0.0 its name was `--as`, which
    still works."""
    return click.option(
        "--customer", "--as", "customer", default=default, show_default=default is not None, help=about,
        shell_complete=find_completer("customer"),
    )  # fmt: skip


def demand_controls(far: RemoteWorld, customer: str | None) -> None:
    """Checks the key and the customer by a call of the controls. If one of them is wrong, the command ends before it
    makes anything."""
    customers = [str(row["customer"]) for row in far.controls.listed("customers")]
    if customer is None or customer in customers:
        return
    hint = suggest_nearest(customer, customers)
    raise click.BadParameter(
        f"{customer!r} is no customer of this bank.{hint} `bank-sandbox customers` lists them",
        param_hint="'--customer'",
    )


# The options of the commands whose initiation a customer signs.
signing = combine_options(
    click.option("--refuse", is_flag=True, help="The customer refuses."),
    click.option("--unsigned", is_flag=True, help="Leave it unsigned, and print the address to sign at."),
    click.option(
        "--until", type=STATUS, metavar="STATUS", help="Move the bank's clock on until it has this status, as ACSC."
    ),
)


def needs_controls(refuse: bool, unsigned: bool, until: str | None) -> bool:
    """Whether the command needs the controls: because the customer signs or refuses (unless `unsigned` is true), or
    because the clock is moved (if `until` is given)."""
    return not unsigned or until is not None


def finish(
    far: RemoteWorld, initiation: "Initiation", customer: str, refuse: bool, unsigned: bool, until: str | None
) -> None:
    """Signs or refuses the initiation as the customer, unless `unsigned` is true or the initiation has no signing
    address. If `until` is given, then moves the clock until the initiation has this status. Prints the outcome."""
    tpp, summary = make_tpp(far), dict[str, Any]()
    address = find_signing_address(far, initiation)
    if unsigned:
        summary["address"] = address
    elif address is not None:
        act = far.controls.psu.refuse if refuse else far.controls.psu.approve
        summary["redirect"] = act(address, customer)
    if until:
        wait_for_status(far, initiation, until, WITHIN)
    status = tpp.status(initiation)
    kind = initiation.reference.kind.row
    summary = {kind.id: initiation.reference.id, "status": status.status, "reason": status.reason} | summary
    summary["console"] = find_console_page(far, initiation)
    far.tell(summary, lambda: render_initiation(summary))


def find_console_page(far: RemoteWorld, initiation: "Initiation") -> str:
    """Returns the address of the initiation's page in the console."""
    reference = initiation.reference
    return f"{far.controls.base_url}/_sandbox/console/{reference.kind.row.list}/{reference.id}"


def find_signing_address(far: RemoteWorld, initiation: "Initiation") -> str | None:
    """Returns the address at which the customer signs, or None if there is none. For a bulk file, first moves the clock
    until the bank has validated the file."""
    if initiation.reference.kind.row is not BULK:
        return initiation.sca_address
    from sandbox.client import Refused

    try:
        wait_for_status(far, initiation, "PATC", "2h")
    except Refused as no:
        if no.status != 409:  # the file was rejected
            raise
    return make_tpp(far).status(initiation).sca_address


def wait_for_status(far: RemoteWorld, initiation: "Initiation", status: str, within: str) -> None:
    """Moves the bank's clock until the initiation has this status, by at most `within`, a span such as `2h`. Raises
    Refused if the initiation does not get the status in this time."""
    body = {"payment_id": initiation.reference.id, "status": status, "within": within}
    far.controls.call("POST", "/await", body)


def render_initiation(summary: dict[str, Any]) -> str:
    identifier = summary.get("payment_id") or summary.get("payment_file_id")
    lines = [f"{identifier}  {summary['status']}{' ' + summary['reason'] if summary['reason'] else ''}"]
    lines += [f"sign at   {summary['address']}"] if summary.get("address") else []
    lines += [f"sent to   {summary['redirect']}"] if summary.get("redirect") else []
    return "\n".join([*lines, f"console   {summary['console']}"])


@click.command()
@customer_option("The customer who signs.", default="alice")
@click.option("--amount", default="12.50", show_default=True, help="How much.")
@click.option("--currency", default="EUR", show_default=True, help="Of the amount.")
@click.option("--to", "name", default="Jan Peeters", show_default=True, help="The beneficiary's name.")
@click.option("--iban", default=BELGIAN, show_default=True, help="The beneficiary's account.")
@click.option("--product", default="sepa-credit-transfers", show_default=True, help="The payment product.")
@click.option("--on", metavar="DATE", help="The requested execution date.")
@signing
@remote
def pay(
    far: RemoteWorld, customer: str, amount: str, currency: str, name: str, iban: str, product: str, on: str | None,
    **ending: Any,
) -> None:  # fmt: skip
    """Initiates a payment and signs it as a customer. The TPP is demo-tpp."""
    if needs_controls(**ending):
        demand_controls(far, customer)
    initiation = make_tpp(far).pay(
        product,
        creditor_name=name,
        creditor_iban=iban,
        amount=amount,
        currency=currency,
        requested_execution_date=on,
    )
    finish(far, initiation, customer, **ending)


@click.command()
@customer_option("The customer who signs.", default="alice")
@click.option("--amount", default="25.00", show_default=True, help="How much each time.")
@click.option("--to", "name", default="Jan Peeters", show_default=True, help="The beneficiary's name.")
@click.option("--iban", default=BELGIAN, show_default=True, help="The beneficiary's account.")
@click.option("--frequency", default="MONTHLY", show_default=True, help="WEEKLY, MONTHLY, QUARTERLY, ...")
@click.option("--start", metavar="DATE", help="The first execution; default: tomorrow by the bank's clock.")
@signing
@remote
def order(
    far: RemoteWorld, customer: str, amount: str, name: str, iban: str, frequency: str, start: str | None, **ending: Any
) -> None:
    """Initiates a standing order and signs it as a customer. The TPP is demo-tpp."""
    from datetime import timedelta

    if needs_controls(**ending):
        demand_controls(far, customer)
    first = start or (far.controls.clock.get().now + timedelta(days=1)).date().isoformat()
    initiation = make_tpp(far).pay_regularly(
        creditor_name=name, creditor_iban=iban, amount=amount, frequency=frequency.upper(), start_date=first
    )
    finish(far, initiation, customer, **ending)


@click.command()
@click.argument("file", required=False, type=click.File("rb"))
@customer_option("The customer who signs.", default="bakkerij")
@click.option("--reference", help="The PaymentInformationID.")
@signing
@remote
def file(far: RemoteWorld, file: Any, customer: str, reference: str | None, **ending: Any) -> None:
    """Sends a bulk file as a TPP, and signs it as a customer. The TPP is demo-tpp. Without FILE it is a sample of three
    bulks."""
    from uuid import uuid4

    from sandbox.bulkfiles.samples import fill_sample
    from sandbox.commands.bulk import guess_kind

    demand_controls(far, customer)  # also for --unsigned: the validation of the file takes bank time
    content = file.read() if file else fill_sample(SAMPLE, far.controls.clock.get().now.date(), uuid4().hex)
    initiation = make_tpp(far).send_file(content, guess_kind(content), reference)
    finish(far, initiation, customer, **ending)


@click.command()
@customer_option("The customer who consents.", default="alice")
@click.option("--refuse", is_flag=True, help="The customer refuses.")
@remote
def consent(far: RemoteWorld, customer: str, refuse: bool) -> None:
    """Asks for a consent and gives it as a customer. The TPP is demo-tpp. Shows the tokens and accounts."""
    demand_controls(far, customer)
    tpp = make_tpp(far)
    consent_request = tpp.consent_addresses()
    if refuse:
        summary: dict[str, Any] = {"redirect": far.controls.psu.refuse(consent_request.address, customer)}
    else:
        callback = far.controls.psu.approve(consent_request.address, customer)
        tokens = tpp.tokens_from(callback, consent_request.flow)
        accounts = [{"iban": account.iban, "logical_id": account.logical_id} for account in tpp.accounts(tokens)]
        summary = {"access_token": tokens.access, "refresh_token": tokens.refresh, "accounts": accounts}
    far.tell(summary, lambda: _describe_consent(summary))


def _describe_consent(summary: dict[str, Any]) -> str:
    if "redirect" in summary:
        return f"refused; sent to {summary['redirect']}"
    lines = [f"access token   {summary['access_token']}", f"refresh token  {summary['refresh_token']}"]
    return "\n".join([*lines, *(f"{account['iban']}  {account['logical_id']}" for account in summary["accounts"])])
