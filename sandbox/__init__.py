"""A sandbox of one Belgian bank, on a clock that the tester owns."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from datetime import datetime

    from flask import Flask

    from sandbox.testing import BankFixture
    from sandbox.worlds.beginning import Beginning

__all__ = ["create_app", "running"]


def create_app(beginning: "Beginning | None" = None, *, public_url: str = "") -> "Flask":
    """Returns the whole sandbox as one WSGI application. Without `beginning`, the application begins as `bank-sandbox
    serve` does.

    `public_url` is the URL at which callers reach the application. The demo client may use the sandbox's own callback
    page at this URL, although it has not registered the page. At a loopback name it may do so even without
    `public_url`."""
    from sandbox.app import assemble, make_first_beginning
    from sandbox.machine import machine_time
    from sandbox.web.api.addresses import Hosts, read_public_url
    from sandbox.web.controls.lock import Lock
    from sandbox.worlds.registry import WorldRegistry

    # Where the application will be served is not known here, so private names are allowed too.
    hosts = Hosts(bound="", public=read_public_url(public_url))
    return assemble(WorldRegistry(beginning or make_first_beginning(life="on"), machine_time), lock=Lock(hosts=hosts))


def running(
    scenario: "str | Mapping[str, Any]" = "default",
    *,
    seed: int | None = None,
    at: "str | datetime | None" = None,
    frozen: bool | None = None,
    settings: "Mapping[str, Any] | None" = None,
) -> "AbstractContextManager[BankFixture]":
    """Serves a bank on a free loopback port, in a thread of this process: `with sandbox.running() as bank:`.

    `scenario` is a name, a file or its content. If another argument is None, the scenario decides. If the scenario does
    not say it either, the seed is 1, and the clock is frozen on Monday 1 March 2027, 09:00 in Brussels. `at="now"` is
    the machine's time."""
    from sandbox.testing.start import Start, beginning_of, serve_world

    start = Start(scenario, seed, at, frozen, settings or {})
    return serve_world(create_app(beginning_of(start)))
