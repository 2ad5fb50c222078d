"""TPPs: made and changed (choice 10). Their secrets and keys go in and never come out."""

from typing import Any

from flask import Response

from sandbox.bank.clients import amend, register
from sandbox.bank.records import Client
from sandbox.web.api.replies import json_response
from sandbox.web.controls.registers import client_shown
from sandbox.web.controls.request_bodies import refuse
from sandbox.world.world import World


def make(world: World, body: dict[str, Any]) -> Response:
    """client_id and secret are needed; the rest has a default."""
    client_id = body.pop("client_id")
    client = Client(client_id, **{"name": client_id} | body)
    world.act(register, client)
    return json_response(client_shown(client), 201)


def change(world: World, body: dict[str, Any], client_id: str) -> dict[str, Any]:
    """Fields that are left out stay as they are."""
    if body.pop("client_id", client_id) != client_id:
        raise refuse("client_id", "it is not that of the path")
    return client_shown(world.act(amend, client_id, tuple(sorted(body.items()))))
