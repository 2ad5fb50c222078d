"""The command `bank-sandbox demo`: a demo shop whose customers pay from their bank account (choice 12). It starts a
sandbox bank too, unless `--bank` names one that runs already."""

from typing import Any

import click

from sandbox.commands.options import PORTS
from sandbox.server_address import PORT


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--port", default=9000, type=PORTS, show_default=True, help="The shop's port; 0 for a free one.")
@click.option("--bank-port", default=PORT, type=PORTS, show_default=True, help="The bank's; 0 for a free one.")
@click.option(
    "--bank",
    "--url",
    "url",
    metavar="URL",
    help="A sandbox, or a world of one, that runs already; none is started then.",
)
@click.option("--key", envvar="SANDBOX_KEY", help="The key of the bank's controls; with --lan one is drawn.")
@click.option("--lan", is_flag=True, help="Let phones in the same network in, and print a QR code of the shop.")
@click.option(
    "--rate", type=click.FloatRange(0, 1_000_000, min_open=True), help="Seconds at the bank for one of yours."
)
@click.option("--client-id", help="The shop's registration at the bank; default: it registers itself.")
@click.option("--secret", envvar="SHOP_SECRET", help="The secret of --client-id; better as SHOP_SECRET.")
def demo(**values: Any) -> None:
    """Starts a shop that is paid by bank, with a guided tour. It shows accounts too, and has a bank beside it."""
    from sandbox.extensions.shop.demo import DemoOptions, run

    options = DemoOptions(**values)
    if options.client_id and not options.secret:
        raise click.UsageError("--client-id needs --secret, or SHOP_SECRET.")
    if options.lan and options.url is not None:
        raise click.UsageError("--lan starts a bank of its own; leave --bank out.")
    run(options)
