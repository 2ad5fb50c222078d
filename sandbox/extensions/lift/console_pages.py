"""The page of the console that makes a scenario from the calls of a world (choice 10)."""

from contextlib import suppress

from markupsafe import Markup

from sandbox.extensions.lift.lifting import lift_recording
from sandbox.recordings import RecordedCall
from sandbox.recordings.reading import select_calls
from sandbox.recordings.recorded_calls import read_headers
from sandbox.web.api.call_records import Content, read_contents
from sandbox.web.api.call_texts import list_headers
from sandbox.web.console.pages import FILTERS, list_selected_calls
from sandbox.web.console.templating import load_templates
from sandbox.web.console.visits import ConsoleVisit, Facts
from sandbox.worlds.calls import Exchange

TITLE = "Made of calls at the console"


def calls_panel(visit: ConsoleVisit, facts: Facts) -> Markup:
    """Returns a link to the page that makes a scenario from the listed calls. The link has the same filters as the
    list. Returns an empty text if the list has no calls."""
    address = visit.to("/console/lift", **facts["filters"])
    template = load_templates().get_template("sandbox.extensions.lift/calls_panel.html")
    return Markup(template.render(address=address)) if facts["calls"] else Markup()


def lift(visit: ConsoleVisit) -> Facts:
    """Returns the facts that the page shows: a scenario made from the calls that the query selects, and how many calls
    are left out. A call is left out if its contents are no longer stored, if it is not a call to the bank, or if no
    client of a bank can have sent it."""
    contents = read_contents(visit.world)
    fitting = list_selected_calls(visit)[::-1]
    calls = []
    for call in fitting:
        if (content := contents.get(call.seq)) is not None:
            with suppress(ValueError):  # a caller may send what no call of a client can be
                calls.append(make_recorded_call(visit, call, content))
    to_bank = select_calls(calls, visit.bank_address)
    text, unexplained = lift_recording(to_bank, TITLE)
    filters = {name: visit.request.args.get(name, "") for name in FILTERS}
    return {
        "yaml": text,
        "count": len(to_bank.calls),
        "left_out": len(fitting) - len(to_bank.calls),
        "unexplained": unexplained,
        "list": visit.to("/console/calls", **filters),
    }


def make_recorded_call(visit: ConsoleVisit, call: Exchange, content: Content) -> RecordedCall:
    address = visit.bank_address + call.path + (f"?{content.query}" if content.query else "")
    return RecordedCall(
        call.seq,
        call.method if call.method.isascii() and call.method.isalpha() else "GET",
        address,
        read_headers(list_headers(content)),
        content.sent.decode(errors="replace"),
        call.status,
        read_headers(content.reply_headers.items()),
        (content.reply or b"").decode(errors="replace"),
        call.at,
        call.at,
    )
