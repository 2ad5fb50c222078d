"""Makes the film of a world as one HTML file that needs no other files. Each call and each line of the journal is a
frame of the film. The frames are on three lanes: TPP, bank and customer."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import Any

import orjson

from sandbox.client import Controls
from sandbox.contract.moves import STATUS_STYLES
from sandbox.web.html.pages import draw_whole_page, read_inline_style

ROOM = "sandbox.extensions.film"
FRAMES_MAX = 2_000  # the newest
INITIATIONS = ("payment_initiation", "standing_order_initiation", "bulk_initiation")
# What a customer did by a trigger, and what the bank's screen said then.
SCREENS = {
    "opened": ("opens the bank's page", "Log in to see what you are asked to sign"),
    "signed": ("signs with the card reader", "Signed. Back to the shop"),
    "cosigned": ("signs first; another signature is needed", "Signed. Another signature is needed"),
    "refused": ("refuses", "Refused. Nothing is paid"),
}
# What the bank shows about an initiation after an event that no customer caused.
STATES = {
    "RCVD": "Not opened yet. The TPP sends the customer to this page",
    "PATC": "Waits for the signature",
    "PDNG": "Signed. The bank carries it out soon",
    "ACSP": "The money has left the account",
    "ACSC": "Paid. The money has arrived",
    "ACWP": "Active. The bank carries it out on its days",
    "RJCT": "Not paid. Money that had left is back",
    "CANC": "Cancelled. Nothing is paid",
}
RETURNED = "The money came back"
# What the customer sees during a call that is about no initiation.
CALLS = {
    "token": "The customer is back at the TPP",
    "consent_addresses": "The TPP sends the customer to the bank, to consent",
}
NOT_NEEDED = "The customer is not needed for this call"
PAYEE_CHECKED = "payee_checked"
# The customer sees the outcome of the verification of payee; a file has a count of each.
PAYEE_SCREENS = {
    "match": "The name of the beneficiary matches",
    "close_match": "The name of the beneficiary nearly matches",
    "no_match": "The name of the beneficiary does not match",
    "not_possible": "The name of the beneficiary could not be checked",
}
LISTS = ("payments", "standing-orders", "bulk-payments")

Row = dict[str, Any]


def render_film(controls: Controls, title: str) -> str:
    return make_page(title, make_frames(controls))


def make_page(title: str, content: dict[str, Any]) -> str:
    # Nothing in a script element may look like its end; other characters of JSON are inert there.
    data = orjson.dumps(content).decode().replace("<", "\\u003c")
    left_out = (
        f"<p class='quiet'>{content['left_out']:,} earlier events are left out.</p>" if content["left_out"] else ""
    )
    body = (
        f"<header><h1>{escape(title)}</h1>{left_out}</header>\n{read_static_text('film.html')}\n"
        f'<script type="application/json" id="content">{data}</script>'
    )
    return draw_whole_page(f"Film: {title}", read_inline_style(ROOM, "film.css"), body, read_static_text("film.js"))


def read_static_text(name: str) -> str:
    return (files(ROOM) / "static" / name).read_text(encoding="utf-8")


def make_frames(controls: Controls) -> dict[str, Any]:
    """Returns the data for the page of a world's film, read through the world's controls. The frames are the calls and
    the lines of the journal. `subjects` are the initiations that the frames are about, by id. Only the newest
    FRAMES_MAX frames are returned, and `left_out` is the number of the older frames."""
    subjects = {subject["id"]: subject for name in LISTS for subject in map(describe_subject, controls.listed(name))}
    calls = [call_frame(row) for row in controls.listed("requests")]
    facts = [make_fact_frame(row, subjects) for row in controls.listed("journal")]
    frames = list(merge_in_order(calls, facts))
    set_screens(frames, subjects)
    return {
        "frames": frames[-FRAMES_MAX:],
        "left_out": max(0, len(frames) - FRAMES_MAX),
        "subjects": subjects,
        "tones": {status.value: style.tone for status, style in STATUS_STYLES.items()},
        "now": controls.clock.get().now.isoformat(),
    }


def describe_subject(row: Row) -> Row:
    """Returns the facts by which a person recognizes an initiation, such as amount and beneficiary."""
    order = row.get("order") or {}
    amount = order.get("instructed_amount") or {}
    number = amount.get("amount") or amount.get("maximal_amount") or ""
    return {
        "id": row.get("payment_id") or row.get("payment_file_id"),
        "amount": f"{number} {amount.get('currency', '')}".strip(),
        "to": order.get("creditor_name", ""),
        "iban": (order.get("creditor_account") or {}).get("iban", ""),
        "from": (order.get("debtor_account") or {}).get("iban", ""),
        "customer": row.get("customer"),
        "product": row.get("product", "file"),
    }


def call_frame(row: Row) -> Row:
    frame = {name: row[name] for name in ("at", "operation", "status", "request_id", "seq")}
    frame |= {"client": row["client_id"], "error": row.get("error_code"), "why": row.get("rule")}
    return frame | {"lane": "tpp", "title": f"{row['method']} {row['path']}"}


def make_fact_frame(row: Row, subjects: Mapping[str, Row]) -> Row:
    """Returns the frame of a line of the journal. `subjects` are the initiations of the film by id.

    The frame is on the lane of the customer if the line is about an act of the customer (SCREENS) or about the check of
    the payee's name. Otherwise it is on the lane of the bank. The field `screen` of the frame is the text that the
    customer sees afterwards. It is empty if the line does not change what the customer sees.
    """
    frame = {name: row[name] for name in ("at", "trigger", "subject", "from", "to", "reason", "seq")}
    frame |= {"lane": "bank", "title": row["trigger"].replace("_", " ")}
    frame["screen"] = RETURNED if row["trigger"] == "returned" else STATES.get(row["to"], "")
    if row["trigger"] in SCREENS:
        does, screen = SCREENS[row["trigger"]]
        customer = subjects.get(row["subject"], {}).get("customer") or "the customer"
        frame |= {"lane": "customer", "title": f"{customer} {does}", "screen": screen}
    elif row["trigger"] == PAYEE_CHECKED:
        screen = PAYEE_SCREENS.get(row["reason"], f"The names of the beneficiaries: {row['reason']}")
        frame |= {"lane": "customer", "title": "the payee's name is checked", "screen": screen}
    return frame


def set_screens(frames: Iterable[Row], subjects: Mapping[str, Row]) -> None:
    """Sets two fields of each frame. `about` is the id of the initiation that the frame is about, or None. `screen` is
    the text that the customer sees at that moment.

    A line of the journal is about its subject. If it has no screen of its own, it gets the latest screen of its
    subject. An accepted call that sends an initiation is about the subject of the journal line before it. Any other
    call is about the initiation that its path names, if any. A call gets the latest screen of its initiation. If there
    is none, it gets a text about its operation (CALLS), or NOT_NEEDED.
    """
    screens: dict[str, str] = {}
    last = None
    for frame in frames:
        if frame["lane"] != "tpp":
            about = last = frame["subject"]
            screens[about] = frame["screen"] = frame["screen"] or screens.get(about, "")
        else:
            named_subjects = (part for part in frame["title"].split("/") if part in subjects)
            about = last if frame["operation"] in INITIATIONS and frame["status"] < 300 else next(named_subjects, None)
            frame["screen"] = screens.get(about or "") or CALLS.get(frame["operation"] or "", NOT_NEEDED)
        frame["about"] = about


def merge_in_order(calls: Iterable[Row], facts: Iterable[Row]) -> Iterator[Row]:
    """Yields the frames of calls, and the frames of journal lines (`facts`), in the order of time. At the same instant,
    the line that says that an initiation was received comes before the call that sent it. The acts of the customer come
    after the call."""

    def at_of(frame: Row) -> datetime:
        return datetime.fromisoformat(frame["at"])

    for _, group in groupby(sorted([*calls, *facts], key=at_of), key=at_of):
        frames = sorted(group, key=lambda frame: int(frame["seq"]))
        calls_left = deque(frame for frame in frames if frame["lane"] == "tpp")
        for fact in (frame for frame in frames if frame["lane"] != "tpp"):
            yield fact
            while fact["trigger"] == "received" and calls_left:
                call = calls_left.popleft()
                yield call
                if call["operation"] in INITIATIONS:
                    break
        yield from calls_left
