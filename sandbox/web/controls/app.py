"""Routes the controls: they are no part of the bank (choice 10). Their table is rows.py."""

from collections.abc import Callable, Iterable

from flask import Flask, Response, request

from sandbox.web.api.app import here
from sandbox.web.api.replies import json_response
from sandbox.web.controls.control_row import Control
from sandbox.web.controls.rows import CONTROLS
from sandbox.web.controls.view_calls import ControlCall, View, view_of
from sandbox.world.registry import Worlds


def route(app: Flask, worlds: Worlds, rows: Iterable[Control] = CONTROLS) -> None:
    for row in rows:
        app.add_url_rule(
            f"/_sandbox{row.path}",
            row.endpoint,
            _endpoint(view_of(row), worlds),
            methods=[row.method],
            provide_automatic_options=False,
        )


def _endpoint(view: View, worlds: Worlds) -> Callable[..., Response]:
    def endpoint(**path: str) -> Response:
        outcome = view(ControlCall(worlds, request, path, lambda: here(worlds)))
        return outcome if isinstance(outcome, Response) else json_response(outcome)

    return endpoint
