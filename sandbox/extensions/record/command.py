"""The command `bank-sandbox record`."""

import signal
from pathlib import Path
from types import FrameType

import click

from sandbox.commands.options import PORTS, explain_errors

PORT = 8090
SOURCE, TARGET = (click.Path(exists=exists, dir_okay=False, path_type=Path) for exists in (True, False))


@click.command()
@click.option("--to", "bank", metavar="URL", required=True, help="The address of the bank.")
@click.option("--out", type=TARGET, required=True, help="Write the HAR there; a file of that name is replaced.")
@click.option("--port", type=PORTS, default=PORT, show_default=True, help="The port of the proxy; 0 for a free one.")
@click.option("--cert", type=SOURCE, help="The client's certificate in PEM, with its key if --key is left out.")
@click.option("--key", type=SOURCE, help="The key of --cert in PEM, without a password.")
@click.option("--ca", type=SOURCE, help="Certificates in PEM that the bank's is checked by, in place of the system's.")
def record(bank: str, out: Path, port: int, cert: Path | None, key: Path | None, ca: Path | None) -> None:
    """Passes calls to a real bank, and writes them, masked. The file is a HAR without secrets, names, IBANs and
    communications.

    Give your client the proxy's address in place of the bank's. The file is complete after each call; end with Ctrl-C.
    `bank-sandbox lift` reads it.
    """
    from sandbox.extensions.record.proxy import HOST, BankRecorder, ProxyServer, RecordError, read_certificates

    if key is not None and cert is None:
        raise click.UsageError("--key needs --cert.")
    with explain_errors(RecordError, OSError):
        recorder = BankRecorder(bank, out, read_certificates(cert, key, ca))
        server = ProxyServer(recorder, port)
    signal.signal(signal.SIGTERM, _stop)
    click.echo(f"Calls go to {recorder.address}, and masked to {out}.")
    click.echo(f"listening on http://{HOST}:{server.server_port}")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
        recorder.close()
        click.echo(f"{recorder.count} calls in {out}")
        if recorder.failures:
            kinds = ", ".join(sorted(set(recorder.failures)))
            click.echo(
                f"{len(recorder.failures)} calls could not be masked, and are not in the file: {kinds}", err=True
            )


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
