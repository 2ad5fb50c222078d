"""A sandbox of one Belgian bank, on a clock that the tester owns."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from sandbox.beginning import Beginning

__all__ = ["create_app"]


def create_app(beginning: "Beginning | None" = None) -> "Flask":
    """The whole sandbox as one WSGI application; without a beginning, as `bank-sandbox serve` begins."""
    from sandbox.assembly import assemble, first_beginning
    from sandbox.machine import machine_time
    from sandbox.worlds import Worlds

    return assemble(Worlds(beginning or first_beginning(), machine_time))
