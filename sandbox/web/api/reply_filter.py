"""Filters by which an extension changes replies and callbacks of the bank, if one of its settings asks for it.

A filter gets the content of a reply before the bank's own settings change its form, so the fields still have the
service's names. It also gets the address of a callback before the browser is sent there. A world without settings of
extensions uses no filter.
"""

from collections.abc import Callable
from typing import NamedTuple

from sandbox.contract.added_settings import load_added_settings, value_of
from sandbox.contract.decisions import Decisions
from sandbox.extension_registry import load_objects
from sandbox.web.api.call import Call
from sandbox.web.api.replies import ReplyContent
from sandbox.worlds.world import World


class ReplyFilter(NamedTuple):
    """The two functions by which an extension changes replies and callbacks. They are used in a world in which the
    extension's setting is not at its default."""

    setting: str
    reply: Callable[[Call, ReplyContent], ReplyContent]  # may raise Refusal
    callback: Callable[[World, str], str]


def filter_reply(call: Call, reply: ReplyContent) -> ReplyContent:
    for row in _filters_in_force(call.decisions):
        reply = row.reply(call, reply)
    return reply


def filter_callback(world: World, address: str) -> str:
    for row in _filters_in_force(world.decisions):
        address = row.callback(world, address)
    return address


def _filters_in_force(decisions: Decisions) -> list[ReplyFilter]:
    filters: list[ReplyFilter] = load_objects("replies")
    return [row for row in filters if value_of(decisions, row.setting) != load_added_settings()[row.setting].words[0]]
