"""The `faults` of a scenario (choice 13)."""

from typing import Any

import orjson

from sandbox.contract.reply_statuses import ANSWERS, GATEWAY, answers_of
from sandbox.scenario.scalars import CLIENT, DURATION, INSTANT, NTH, TITLE, check_window, fraction, number, one_of, text
from sandbox.scenario.scenario_errors import Wrong, join_names
from sandbox.scenario.shapes import Plain, Table
from sandbox.world.faults import CHANGES, CUTS, Answer, Fault, When

DELAY_MAX = 600  # seconds of machine time
TOKEN = r"[A-Za-z0-9!#$&^_.+-]+"
MEDIA_TYPE = text(rf'{TOKEN}/{TOKEN}( ?; ?{TOKEN}=({TOKEN}|"[A-Za-z0-9 .:/_-]*"))*', "text/html; charset=utf-8")
STATUSES = sorted({status for statuses in ANSWERS.values() for status in statuses})


def _when(rows: dict[str, Any]) -> When:
    check_window(rows)
    rows = dict(rows)
    return When(since=rows.pop("from", None), **rows)


WHEN = Table(
    {
        "operation": one_of(ANSWERS, "operation"),
        "client": CLIENT,
        "nth": NTH,
        "chance": fraction(0, 1),
        "from": INSTANT,
        "until": INSTANT,
    },
    _when,
)


def _answer(rows: dict[str, Any]) -> Answer:
    try:
        orjson.dumps(rows.get("body"))
    except TypeError:
        raise Wrong("a JSON number has 64 bits at most, and NaN and Infinity are not JSON", key="body") from None
    return Answer(**rows)


ANSWER = Table(
    {"status": number(100, 599), "retry_after": number(0, 86_400), "body": Plain(), "content_type": MEDIA_TYPE},
    _answer,
    ("status",),
)


def _fault(rows: dict[str, Any]) -> Fault:
    when: When = rows.get("when", When())
    answer: Answer | None = rows.get("answer")
    if answer is not None and answer.status not in (*(statuses := answers_of(when.operation)), *GATEWAY):
        if when.operation is None:
            why = f"not every operation may answer {answer.status}"
            named = [name for name, known in ANSWERS.items() if answer.status in known]
            raise Wrong(why, f"name an operation: {join_names(named)}" if named else None, "answer.status")
        raise Wrong(
            f"{when.operation} never answers {answer.status}",
            f"its statuses are {join_names(map(str, (*statuses, *GATEWAY)))}",
            "answer.status",
        )
    if rows.get("cut") == "before" and answer is not None:
        raise Wrong("a reply cut off before it begins has no content", "take one of the two away", "cut")
    delay = rows["delay"].total_seconds() if "delay" in rows else 0.0
    if delay > DELAY_MAX:
        raise Wrong(f"a delay is at most {DELAY_MAX} s: it passes on the machine's clock", key="delay")
    return Fault(rows.get("title", ""), when, answer, delay, rows.get("cut"), rows.get("change"))


FAULT = Table(
    {
        "title": TITLE,
        "when": WHEN,
        "answer": ANSWER,
        "delay": DURATION,
        "cut": one_of(CUTS, "place to cut"),
        "change": one_of(CHANGES, "change"),
    },
    _fault,
    one_of=("answer", "delay", "cut", "change"),
    called="a fault",
)
