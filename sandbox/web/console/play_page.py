"""Plays a scenario from the console, in a world of its own; its steps appear on the page as they are done."""

from collections.abc import Iterator
from urllib.parse import quote

from flask import Response
from markupsafe import escape

from sandbox.contract.errors import Error, Refusal
from sandbox.scenarios.reading import SHIPPED
from sandbox.web.console.templating import draw
from sandbox.web.console.visits import ConsoleVisit
from sandbox.worlds.registry import PlayedStep

PLACE = "<!-- the steps -->"
WORDS = {"holds": "✓", "fails": "✗", "skipped": "–"}


def play(visit: ConsoleVisit) -> Response:
    """The page is sent piece by piece: each step as soon as it is done."""
    name = visit.path["name"]
    if name not in SHIPPED or visit.desk.worlds.play is None:
        raise Refusal(Error.NOT_FOUND, input="scenario")
    page = draw(visit, "play", here="/console/scenario", name=name, place=PLACE)
    before, _, after = page.get_data(as_text=True).partition(PLACE)
    prefix = visit.prefix  # asked now: the request is over when the pieces are made
    steps = visit.desk.worlds.play(name)

    def pieces() -> Iterator[str]:
        yield before
        failed = held = 0
        world = ""
        for step in steps:
            if step.word == "world":
                world = step.text
                continue
            held, failed = held + (step.word == "holds"), failed + (step.word == "fails")
            yield line_of(step)
        yield f'</ul><p id="verdict"><b>{"Failed." if failed else f"All {held} steps held."}</b> '
        yield f'<a class="go" href="{escape(f"{prefix}/worlds/{quote(world)}/_sandbox/")}">Open its world</a></p><ul>'
        yield after

    page.response = (piece.encode() for piece in pieces())
    page.headers.pop("Content-Length", None)
    return page


def line_of(step: PlayedStep) -> str:
    faults = "".join(f'<br><span class="mono">{escape(fault)}</span>' for fault in step.faults)
    kind = "f-error" if step.word == "fails" else ""
    return f'<li class="{kind}"><b>{WORDS[step.word]}</b> {escape(step.text)}{faults}</li>\n'
