"""The commands `bank-sandbox pki`, which make and show test certificates. All files are in one folder."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from sandbox.commands.options import INSTANT, add_options, explain_errors, json_option, option_row
from sandbox.commands.screen import format_json
from sandbox.machine import machine_time
from sandbox.pki import FAULTS
from sandbox.server_address import URL

directory = click.option(
    "--dir",
    "path",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("pki"),
    envvar="SANDBOX_PKI",
    show_default=True,
    show_envvar=True,
    help="The folder of the PKI.",
)


def read_machine_time() -> datetime:
    return datetime.fromtimestamp(int(machine_time()), UTC)


@click.group()
def pki() -> None:
    """Makes test certificates of TPPs and banks. They are QWAC and QSealC, valid or wrong on purpose."""


@pki.command()
@directory
@click.option("--host", "hosts", multiple=True, help="A further name or address of the sandbox's own server.")
@click.option("--keep", is_flag=True, help="Keep an existing PKI instead of failing.")
@click.option(
    "--address",
    default=URL,
    show_default=True,
    help="The base address of the sandbox that serves this PKI; certificates name it for their revocation lists.",
)
def init(path: Path, hosts: tuple[str, ...], keep: bool, address: str) -> None:
    """Makes a root, an issuing authority, the server's own certificate and empty revocation lists."""
    from sandbox.pki.folder import Folder

    if keep and Folder(path).is_made():
        click.echo(f"{path} holds a PKI already, which is kept")
        return
    with explain_errors(ValueError, OSError):
        Folder(path).init(read_machine_time(), hosts, address)
    click.echo(f"{path}: root.pem, issuing.pem, authorities.pem, server.pem, crl.pem, root-crl.pem")
    click.echo(f"next: bank-sandbox pki issue demo-tpp --organisation PSDBE-SBX-DEMO01 --dir {path}")


@dataclass(frozen=True)
class IssueOptions:
    """The options for issuing a certificate."""

    path: Path
    name: str
    organisation: str = option_row("The organisation identifier, such as PSDBE-NBB-1234567890.", required=True)
    kind: str = option_row(type=click.Choice(["qwac", "qseal", "both"]), default="both", show_default=True)
    roles: str = option_row("PIS, AIS, or PSP_AS, PSP_PI, PSP_AI, PSP_IC.", default="PIS,AIS", show_default=True)
    authority_name: str = option_row(default="Sandbox national authority", show_default=True)
    authority_id: str | None = option_row("Such as BE-NBB; default: taken from the organisation.", default=None)
    key: str = option_row(type=click.Choice(["ec", "rsa"]), default="ec", show_default=True)
    begins: datetime | None = option_row("Start of the validity; default: now.", "--from", type=INSTANT, default=None)
    days: int = option_row("Days of validity.", type=click.IntRange(1, 3650), default=199, show_default=True)
    hosts: tuple[str, ...] = option_row(
        "A name or address for the subject's alternative names.", "--host", multiple=True
    )
    fault: str | None = option_row(type=click.Choice([*FAULTS]), default=None)


@pki.command(epilog="With --fault the certificate is wrong in that one way.")
@directory
@click.argument("name")
@add_options(IssueOptions, "order")
def issue(order: IssueOptions) -> None:
    """Makes the certificates of a TPP in the folder NAME: .pem, .key, -chain.pem, and the public key as .jwk."""
    from sandbox.pki.certificates import QSEAL, QWAC, CertificateRequest, Qualified
    from sandbox.pki.folder import Folder

    start = order.begins or read_machine_time() - timedelta(minutes=5)
    end = start + timedelta(days=order.days, seconds=-1)
    with explain_errors(ValueError, OSError):
        identifier = order.authority_id or find_authority(order.organisation)
        roles = read_roles(order.roles)
    for each in (QWAC, QSEAL) if order.kind == "both" else ({"qwac": QWAC, "qseal": QSEAL}[order.kind],):
        statements = Qualified(each, roles, order.authority_name, identifier)
        request = CertificateRequest(order.name, order.organisation, statements, start, end, order.key, order.hosts)
        with explain_errors(ValueError, OSError):
            made = Folder(order.path).issue(request, order.fault, read_machine_time())
        click.echo(made)


def read_roles(text: str) -> tuple[str, ...]:
    from sandbox.pki.certificates import ROLE_OF, ROLES

    roles = tuple(ROLE_OF.get(role.strip(), role.strip()) for role in text.split(","))
    for role in roles:
        if role not in ROLES.values():
            raise ValueError(f"{role} is no role; known are PIS, AIS, {', '.join(ROLES.values())}")
    return roles


def find_authority(organisation: str) -> str:
    """Returns the authority that gave an organisation its number: BE-NBB for PSDBE-NBB-1234 (ETSI TS 119 495). Raises
    ValueError for an identifier of another form."""
    parts = organisation.split("-")
    if len(parts) < 3 or len(parts[0]) != 5 or len(organisation) > 100:
        raise ValueError("an organisation identifier is like PSDBE-NBB-1234567890")
    return f"{parts[0][3:]}-{parts[1]}"


@pki.command()
@directory
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def revoke(path: Path, file: Path) -> None:
    """Puts a certificate on the revocation list; running servers read the list at their next call."""
    from sandbox.pki.folder import Folder
    from sandbox.pki.trust import parse_certificate

    with explain_errors(ValueError, OSError):
        Folder(path).revoke(parse_certificate(file.read_bytes()), read_machine_time())
    click.echo(f"{file} is revoked")


@pki.command()
@directory
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@json_option
def show(path: Path, file: Path | None, as_json: bool) -> None:
    """Lists the certificates of TPPs, or shows one: its content, and whether a bank would accept it."""
    from sandbox.pki.folder import Folder
    from sandbox.pki.trust import Trust, parse_certificate

    with explain_errors(ValueError, OSError):
        trust = Trust(path)
        certificates = [(str(file), parse_certificate(file.read_bytes()))] if file else Folder(path).read_certificates()
    if as_json:
        rows = [{"file": str(place), "content": describe(trust, certificate)} for place, certificate in certificates]
        click.echo(format_json({"certificates": rows}))
        return
    for place, certificate in certificates:
        click.echo("\n  ".join([str(place), *describe(trust, certificate)]))


def describe(trust: Any, certificate: Any) -> list[str]:
    """Returns the lines that are printed about a certificate: its content, and whether a bank would trust it. For a
    certificate whose content cannot be read, returns only the reason."""
    from sandbox.pki.trust import Untrusted, read_bearer, read_dates

    try:
        bearer, (begins, ends) = read_bearer(certificate), read_dates(certificate)
    except Untrusted as fault:
        return [str(fault)]
    statements = bearer.statements
    try:
        trust.judge(certificate, statements.kind, read_machine_time())
        verdict = "a bank would believe it"
    except Untrusted as fault:
        verdict = f"a bank would not believe it: {fault}"
    return [
        f"{statements.kind} of {bearer.organisation}, roles {', '.join(statements.roles)}",
        f"authority {statements.authority_name} ({statements.authority_id})",
        f"valid {begins:%Y-%m-%d %H:%M} to {ends:%Y-%m-%d %H:%M}",
        f"serial {certificate.serial_number:x}",
        verdict,
    ]
