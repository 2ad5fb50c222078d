"""Absolute addresses: the host that the caller used, and the world's prefix (choice 1)."""

from collections.abc import Callable
from functools import lru_cache
from urllib.parse import urlsplit

from flask import Request, current_app
from werkzeug.sansio.utils import get_host

from sandbox.bank.records import RegisteredClient
from sandbox.banking.names import fits_redirect
from sandbox.web.api.hosts import Hosts

BANK = "BANK"  # in the settings of an app: the address of the bank, where it is not the app's own
HOSTS = "HOSTS"  # and the names of this server
CONTROLS = "CONTROLS"  # and the address of the controls, where they have a port of their own
CALLBACK = "/_sandbox/callback"  # of each world, registered for the demo client (choice 10)
DEMO_CLIENT = "demo-tpp"
FROM_CONSOLE = "console"  # in the query of an address that a tester opens; the client's state cannot be known there
HOST_KEPT = 300  # characters; what is worked out for a longer header is not kept
EVERYWHERE = ("0.0.0.0", "::", "*")  # listens on every address of the machine; the caller's name for it will do
_host_named = lru_cache(maxsize=64)(get_host)  # as the request's own `host`, worked out once for a header


def root_of(request: Request) -> str:
    return server_of(request) + str(request.environ.get("SCRIPT_NAME", ""))


def server_of(request: Request) -> str:
    """Scheme and host as the caller wrote it, in small letters. The request's own `host_url` would decode an
    internationalized name, and fail where that is none."""
    return f"{request.scheme}://{host_of(request).lower()}"


def host_of(request: Request) -> str:
    """The host that the caller used; empty where its header is none."""
    named = request.environ.get("HTTP_HOST")
    return _host_named(request.scheme, named) if named and len(named) <= HOST_KEPT else request.host


def bank_root_of(request: Request) -> str:
    """Where the bank answers: here, unless these are the controls on a port of their own (choice 10)."""
    bank: str | None = current_app.config.get(BANK)
    if bank is None:
        return root_of(request)
    parts = urlsplit(bank)
    asked = urlsplit(f"//{request.host}").hostname
    if parts.hostname in EVERYWHERE and asked:
        bank = f"{parts.scheme}://{f'[{asked}]' if ':' in asked else asked}:{parts.port}"
    return bank + str(request.environ.get("SCRIPT_NAME", ""))


def consent_address(request: Request, token: str) -> str:
    return f"{root_of(request)}/psu/consent/{token}"


def callback_of(request: Request) -> str:
    """The world's own callback page, at the host that the caller used."""
    return root_of(request) + CALLBACK


def is_registered(request: Request, client: RegisteredClient, uri: str) -> bool:
    """Whether a client may be called back there: as it registered, and the demo client at the world's own page."""
    return any(fits_redirect(pattern, uri) for pattern in client.redirect_uris) or (
        client.id == DEMO_CLIENT and is_own_callback(request, uri)
    )


def is_own_callback(request: Request, uri: str) -> bool:
    """Whether the address is this world's callback page at an address of this server. The header Host proves none."""
    hosts: Hosts = current_app.config.get(HOSTS, Hosts())
    try:
        return is_callback_page(request, uri) and hosts.own(urlsplit(uri), listened_at(request, hosts))
    except ValueError:  # of a port
        return False


def why_unregistered(request: Request, client: RegisteredClient, uri: str) -> str:
    """What is wrong with a Redirect-URI that is not registered."""
    why = "the client has not registered it"
    if client.id != DEMO_CLIENT or not is_callback_page(request, uri):
        return why
    return (
        f"{why}; the sandbox's own callback page counts only at the addresses that the server listens on or was told: "
        "serve --public-url, --allowed-hosts"
    )


def is_callback_page(request: Request, uri: str) -> bool:
    """Whether the path of an address is that of this world's callback page."""
    if not uri.isascii() or not uri.isprintable() or set(uri) & set("\\@?# "):
        return False
    try:
        return urlsplit(uri).path == f"{request.environ.get('SCRIPT_NAME', '')}{CALLBACK}"
    except ValueError:  # such as https://[/
        return False


def listened_at(request: Request, hosts: Hosts) -> tuple[str, ...]:
    """Where this server listens, as far as it knows: the end of this connection, and the controls' own port."""
    listens: Callable[[], str] = request.environ.get("sandbox.listens", str)
    here = listens()
    if not here:
        return ()
    parts = urlsplit(here)
    addresses = [here]
    if hosts.bound and hosts.bound not in EVERYWHERE:
        addresses.append(write_origin(parts.scheme, hosts.bound, parts.port))
    controls: str | None = current_app.config.get(CONTROLS)
    if controls is not None:
        there = urlsplit(controls)
        host = parts.hostname if there.hostname in EVERYWHERE else there.hostname
        addresses.append(write_origin(there.scheme, host or "", there.port))
    return tuple(addresses)


def write_origin(scheme: str, host: str, port: int | None) -> str:
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
