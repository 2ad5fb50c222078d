"""The control `GET /_sandbox/lies`, as a row for the table of controls."""

from marshmallow import fields

from sandbox.web.controls.body_fields import reply
from sandbox.web.controls.control_row import Control, get

VALUE = fields.Raw(allow_none=True, metadata={"description": "Of any type."})
TOLD_LIE = reply(
    "ToldLie",
    lie=fields.String(),
    operation=fields.String(),
    nth=fields.Integer(),
    request_id=fields.String(),
    call=fields.String(),
    field=fields.String(),
    told=VALUE,
    true=VALUE,
)
CONTROLS: tuple[Control, ...] = (
    get(
        "/lies",
        "sandbox.extensions.vary.lie_filter:list_lies",
        "The replies that a lie changed (the setting `lie: NAME` among `extensions`), with the value told and the true "
        "one; with `lie: listed`, those that each lie would have changed.",
        reply=[TOLD_LIE],
        tag="Looking on",
    ),
)
