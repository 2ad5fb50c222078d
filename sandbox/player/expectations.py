"""Checks the expectations of a script: about replies, initiations, accounts, the clock, and the lists of the world."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from functools import partial
from itertools import groupby
from typing import Any
from urllib.parse import quote as escape

from sandbox.banking.durations import read_duration, write_duration
from sandbox.client import ClientReply
from sandbox.extension_registry import with_names
from sandbox.lazy import load
from sandbox.player.orders import Content
from sandbox.player.stage import ScenarioContext, ScriptFault
from sandbox.scenarios.matching import find_differences, find_missing_in_order, find_value, quote, read_decimal
from sandbox.scenarios.steps import is_refusal

HTTP = range(100, 600)


def compare_reply(wish: Content, reply: ClientReply | None) -> Iterator[str]:
    """Compares a reply with the expectation `wish`, and yields a sentence for each difference. A number as `status` is
    compared with the HTTP status. A text as `status` is compared with the field `status` of the body. `headers` are
    compared with the headers, and `list` with the whole body. Any other word is a path in the body."""
    if reply is None:
        yield "no reply came"
        return
    for name, value in wish.items():
        if name == "status" and isinstance(value, int) and value in HTTP:
            if reply.status != value:
                yield f"status: expected {value}, found {reply.status}{_describe_refusal(reply)}"
        elif name == "headers" and isinstance(value, dict):
            for header, text in value.items():
                yield from find_differences(text, reply.headers.get(header), header)
        elif name == "list":
            yield from find_differences(value, reply.body, "list")
        else:
            yield from find_differences(value, find_value(reply.body, name), name)


def _describe_refusal(reply: ClientReply) -> str:
    body = reply.body if isinstance(reply.body, dict) else {}
    return f" ({body['error']}: {body.get('error_description')})" if "error" in body else ""


def is_refusal_like(wish: Any, reply: ClientReply | None, callback_error: str | None) -> bool:
    """Whether a refusal is the expected one. `wish` is the field `error` or `error_code` of its body, its HTTP status,
    or the error of a callback. If `wish` is true, any refusal is expected."""
    body = reply.body if reply is not None and isinstance(reply.body, dict) else {}
    status = None if reply is None else reply.status
    return wish is True or wish in (body.get("error"), body.get("error_code"), status, callback_error)


def expect(stage: ScenarioContext, content: Content) -> list[str]:
    """Returns a sentence for each expectation of the step that is not met. Without a word of SUBJECTS, such as
    `payment`, the expectations are about the last reply. Raises ScriptFault if the step has two such words."""
    subjects = [name for name in SUBJECTS if name in content]
    if len(subjects) > 1:
        raise ScriptFault(f"{subjects[0]} and {subjects[1]} are two things to expect: give each a step of its own")
    if not subjects:
        return list(compare_reply(content, stage.reply))
    conditions = {name: value for name, value in content.items() if name != subjects[0]}
    check = SUBJECTS[subjects[0]]
    return list((load(check) if isinstance(check, str) else check)(stage, content[subjects[0]], conditions))


def _expect_initiation(stage: ScenarioContext, name: Any, conditions: Content) -> Iterator[str]:
    """Compares an initiation, as the controls show it, with the expectation. The word `went` stands for the list of all
    its statuses so far."""
    reference = stage.find_reference(name)
    initiation = stage.controls.call("GET", f"/{reference.kind.row.list}/{escape(reference.id, safe='')}").body
    initiation["went"] = [status for status, _ in groupby(row["status"] for row in initiation["history"])]
    for field, value in conditions.items():
        yield from find_differences(value, find_value(initiation, field), field)


def _expect_account(stage: ScenarioContext, name: Any, conditions: Content) -> Iterator[str]:
    """Compares a balance with a number, with bounds (`over`, `under`), or with the balance when the script began
    (`unchanged`, `less`, `more`). Raises ScriptFault if there is no such account or currency, or if the expectation has
    no balance or other words than balance and currency."""
    iban = stage.find_iban(str(name))
    currency = conditions.get("currency", "EUR")
    balance = stage.read_balances().get((iban, currency))
    before = stage.opening.get((iban, currency))
    if balance is None:
        raise ScriptFault(f"there is no account {name!r} with {currency}")
    unknown = set(conditions) - {"balance", "currency"}
    if unknown or "balance" not in conditions:
        raise ScriptFault(f"of an account one expects its balance (and names the currency), not {', '.join(unknown)}")
    yield from _compare_balance(conditions["balance"], balance, balance if before is None else before)


def _compare_balance(wish: Any, actual: Decimal, before: Decimal) -> Iterator[str]:
    change = {"less": -1, "more": 1}
    if isinstance(wish, dict) and len(wish) == 1 and set(wish) <= set(change):
        ((name, value),) = wish.items()
        step = read_decimal(value)
        if step is None:
            raise ScriptFault(f"{name} takes an amount")
        wish = before + change[name] * step
    elif wish == "unchanged":
        wish = before
    elif isinstance(wish, str | int | float) and read_decimal(wish) is not None:
        wish = read_decimal(wish)
    elif not isinstance(wish, dict):
        raise ScriptFault('a balance is a number, unchanged, {less: "1.00"}, {more: "1.00"}, or {over:, under:}')
    if isinstance(wish, dict):
        yield from find_differences(wish, actual, "balance")
    elif wish != actual:
        yield f"balance: expected {wish}, found {actual}; it was {before} when the script began"


def _expect_list(register: str, stage: ScenarioContext, wish: Any, conditions: Content) -> Iterator[str]:
    """Checks a list of the world. If `wish` is a list, its entries must be in the world's list in this order, and other
    entries may be between them. Otherwise `wish` says something about the whole list, such as its `count`. With `of`,
    checks only the entries about this initiation."""
    rows = stage.controls.listed(register)
    if "of" in conditions:
        subject = stage.find_reference(conditions["of"]).id
        rows = [row for row in rows if row.get("subject") == subject]
    if isinstance(wish, list):
        yield from find_missing_in_order([_replace_name_by_id(stage, entry) for entry in wish], rows, register)
    else:
        yield from find_differences(_replace_name_by_id(stage, wish), rows, register)


def _replace_name_by_id(stage: ScenarioContext, entry: Any) -> Any:
    """Returns the entry. If a `subject` in it is the name of a captured initiation, replaces the name by the id."""
    if isinstance(entry, dict):
        capture = stage.captures.get(entry["subject"]) if isinstance(entry.get("subject"), str) else None
        facts = {"subject": capture.reference.id} if capture is not None and capture.reference is not None else {}
        return {name: _replace_name_by_id(stage, value) for name, value in entry.items()} | facts
    return entry


def _expect_clock(stage: ScenarioContext, wish: Any, conditions: Content) -> Iterator[str]:
    now = stage.read_now().isoformat()
    if not now.startswith(str(wish)):
        yield f"clock: expected {wish}, found {now}"


def _expect_elapsed(stage: ScenarioContext, wish: Any, conditions: Content) -> Iterator[str]:
    """Yields a difference if the bank time that passed since a captured step (`since`), or else since the script began,
    is not the expected time. `wish` is that time, or its bounds `over` and `under`. Raises ScriptFault if there are
    conditions other than `since`, or if the start of that time is unknown."""
    if set(conditions) - {"since"}:
        raise ScriptFault(f"of elapsed time one expects nothing else: {', '.join(set(conditions) - {'since'})}")
    start = stage.capture(conditions["since"]).at if "since" in conditions else stage.began
    if start is None:
        raise ScriptFault("the step has no time of its own: it is in a script that was not read whole")
    elapsed = stage.read_now() - start
    bounds = wish if isinstance(wish, dict) else {"": wish}
    for name, text in bounds.items():
        span = _read_span(text)
        if not {"": elapsed == span, "over": elapsed > span, "under": elapsed < span}.get(name, False):
            yield f"elapsed: expected {f'{name} ' if name else ''}{text}, found {write_duration(elapsed)}"


def _read_span(text: Any) -> timedelta:
    try:
        return read_duration(text)
    except ValueError as fault:
        raise ScriptFault(f"elapsed: {fault}") from None


def _expect_explanation(stage: ScenarioContext, name: Any, conditions: Content) -> Iterator[str]:
    """Compares the explanation of a captured call with the expectation. Raises ScriptFault if the captured step called
    no operation of the bank."""
    reply = stage.capture(name).reply
    if reply is None or reply.request_id is None:
        raise ScriptFault(f"{name!r} was no call of the bank")
    explanation = stage.controls.call("GET", f"/explain/{escape(reply.request_id, safe='')}").body
    for field, value in conditions.items():
        yield from find_differences(value, find_value(explanation, field), field)


def _expect_reply(stage: ScenarioContext, name: Any, conditions: Content) -> Iterator[str]:
    yield from compare_reply(conditions, stage.capture(name).reply)


def _compare_values(word: str, stage: ScenarioContext, wish: Any, conditions: Content) -> Iterator[str]:
    """Yields a sentence unless `wish` is a list whose values are all equal (if `word` is `same`), or all different (if
    `word` is `differ`)."""
    if not isinstance(wish, list) or len({str(value) for value in wish}) != (1 if word == "same" else len(wish)):
        yield f"{word}: {'these differ' if word == 'same' else 'some of these are equal'}: {quote(wish)}"


# The functions that check an expectation, by the word that names its subject. Without such a word, an expectation is
# about the last reply.
Check = Callable[[ScenarioContext, Any, Content], Iterator[str]]
SUBJECTS_OF_CORE: dict[str, Check] = {
    "payment": _expect_initiation,
    "order": _expect_initiation,
    "file": _expect_initiation,
    "account": _expect_account,
    **{name: partial(_expect_list, name) for name in ("journal", "timeline", "callbacks", "requests")},
    "clock": _expect_clock,
    "elapsed": _expect_elapsed,
    "explain": _expect_explanation,
    "reply": _expect_reply,
    **{word: partial(_compare_values, word) for word in ("same", "differ")},
}
SUBJECTS: dict[str, Check | str] = with_names(SUBJECTS_OF_CORE, "expectations")


def expects_refusal(step_after: Content) -> bool:
    """Whether an `expect` step with this content expects that the step before it was refused. An expectation about a
    subject, such as `payment`, does not."""
    return is_refusal(step_after) and not any(name in step_after for name in SUBJECTS)
