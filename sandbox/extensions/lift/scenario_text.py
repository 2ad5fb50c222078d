"""Writes a lifted scenario: how it begins, who pays, the steps, and what could not be explained."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.bank.records import Account, Customer
from sandbox.bank.rules import Added, Psu, RuleCondition, RuleEffect, ScenarioRule
from sandbox.banking.durations import write_instant
from sandbox.contract.decisions import Decisions, settings_of
from sandbox.extensions.lift.act_calls import fields_of, filled, plain, plain_fields
from sandbox.extensions.lift.gaps import opening_of
from sandbox.extensions.lift.har import Recorded, read_har
from sandbox.extensions.lift.lifted import Lift
from sandbox.extensions.lift.lifting import lift
from sandbox.extensions.lift.pseudonyms import FIRST_NUMBER, Pseudonyms
from sandbox.extensions.lift.world_file import is_world_file, read_world
from sandbox.people.chronicle import money
from sandbox.people.fixtures import Fixtures, Profile
from sandbox.people.habits import Habit
from sandbox.people.own_habits import BY, DAYS
from sandbox.reader.yaml_text import read_yaml
from sandbox.scenarios.library import SHIPPED
from sandbox.scenarios.reading import load, read_content
from sandbox.storage.transfer.form import exact
from sandbox.worlds.beginning import Beginning

OPENING = {"EUR": "100000.00"}
NUMBER = slice(7, 14)  # of an account, in its IBAN
Words = dict[str, Any]
KEPT = ("extends", "seed", "clock", "bank", "settings", "rules", "faults")  # kept of a scenario that the record loads


def lift_file(content: bytes, title: str) -> tuple[str, list[str]]:
    """The scenario of a HAR or of the sandbox's own export as YAML, and what could not be explained."""
    if is_world_file(content):
        beginning, calls, unexplained = read_world(content)
        head, fixtures = beginning_words(beginning), beginning.fixtures
    else:
        calls, unexplained = read_har(content), []
        head = _loaded(calls)
        people = {name: head[name] for name in ("extends", "bank") if name in head}
        fixtures = read_content(people, "scenario").fixtures if people else load("default").fixtures
    patterns = [row["when"].get("creditor_name") for row in head.get("rules", ()) if isinstance(row.get("when"), dict)]
    names = Pseudonyms(fixtures, tuple(pattern for pattern in patterns if pattern))
    found = lift(calls, names, has_controls=is_world_file(content))
    found.unexplained += unexplained
    if not found.has_controls:
        head["clock"] = {"at": write_instant(opening_of(calls)), "frozen": True}
    return _text(title, head, found), found.unexplained


def _loaded(calls: Sequence[Recorded]) -> dict[str, Any]:
    """The scenario that the record loads, if it does."""
    for call in calls:
        if call.method == "PUT" and call.path == ("_sandbox", "scenario") and call.status == 200:
            shipped, content = SHIPPED.get(str(call.json.get("name"))), call.json.get("scenario")
            if shipped is not None or not isinstance(content, dict):
                content = read_yaml(shipped or call.sent, "scenario.yaml").plain() or {}
            return {name: value for name, value in content.items() if name in KEPT}
    return {}


def _text(title: str, began: Mapping[str, Any], found: Lift) -> str:
    lines = [
        f"scenario: {json.dumps(title)}",
        "about: Lifted from a record. Names, IBANs and communications are other ones.",
    ]
    head = {"clock": {"at": "2027-03-01T09:00", "frozen": True}} | {name: began[name] for name in KEPT if name in began}
    head["bank"] = _bank(began.get("bank"), found.names)
    lines += [
        f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items() if value or name == "extends"
    ]
    lines += ["steps:" if found.steps else "steps: []", *(line for step in found.steps for line in _step(step))]
    lines += [f"# Not explained: {line}" for line in found.unexplained]
    return "\n".join(lines) + "\n"


def _bank(began: Any, names: Pseudonyms) -> Any:
    """With the accounts that stand for those of the record; alice and others own them."""
    if not names.debtors:
        return began
    bank = dict(began) if isinstance(began, dict) else {}
    customers, accounts = dict(bank.get("customers", {})), dict(bank.get("accounts", {}))
    business = {names.payers[name] for name in names.business}
    for at, (name, payer) in enumerate(names.payers.items()):
        kind = "business" if payer in business else "private"
        customers[payer] = {"name": payer.replace("-", " ").capitalize(), "kind": kind, "language": "fr"}
        accounts[name] = {"number": FIRST_NUMBER + at, "owners": [payer], "opening": OPENING}
    return bank | {"customers": customers, "accounts": accounts}


def _step(step: Mapping[str, Any]) -> list[str]:
    rows = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in step.items()]
    return [f"  {'-' if at == 0 else ' '} {row}" for at, row in enumerate(rows)]


def beginning_words(beginning: Beginning) -> Words:
    """Everything but its faults: the calls of an export stand for what was done behind those."""
    root = load("default")
    assert beginning.at is not None
    own = beginning.rules[: len(beginning.rules) - len(root.rules)]
    inherits = own + root.rules == beginning.rules
    head: Words = {} if inherits else {"extends": None}
    head |= {"seed": beginning.seed, "clock": {"at": exact(beginning.at), "frozen": True}}
    usual, given = settings_of(root.settings if inherits else Decisions()), settings_of(beginning.settings)
    settings = plain_fields((name, value) for name, value in given.items() if value != usual[name])
    bank = bank_words(beginning.fixtures, root.fixtures if inherits else None)
    rules = [rule_words(rule, beginning.fixtures) for rule in (own if inherits else beginning.rules)]
    return head | filled(bank=bank, settings=settings, rules=rules)


def bank_words(fixtures: Fixtures, base: Fixtures | None) -> Words:
    """What differs from the people that the scenario inherits."""
    if base is not None and fixtures.digest == base.digest:
        return {}
    names = {iban: name for name, iban in fixtures.names.items()}
    rows: Words = {
        "customers": {name: _customer(one, fixtures) for name, one in fixtures.customers.items()},
        "accounts": {
            names[iban]: _account(one, fixtures.profiles[iban], names) for iban, one in fixtures.accounts.items()
        },
        "clients": {name: fields_of(one, but=("id", "keys")) for name, one in fixtures.clients.items()},
    }
    if base is None:
        return rows
    earlier = bank_words(base, None)
    changed = {part: {name: row for name, row in rows[part].items() if row != earlier[part].get(name)} for part in rows}
    return filled(**changed)


def _customer(one: Customer, fixtures: Fixtures) -> Words:
    row: Words = {"name": one.name, "kind": one.kind, "language": one.language}
    row |= filled(channel_blocked=one.channel_blocked, methods=list(one.methods[1:]))
    return row | filled(habits=_habits(one.id, fixtures), fees={name: fee.text() for name, fee in one.fees})


def _habits(customer: str, fixtures: Fixtures) -> list[Words]:
    """The habits of the accounts whose first owner is the customer."""
    names = {iban: name for name, iban in fixtures.names.items()}
    owned = (iban for iban, account in fixtures.accounts.items() if account.owners[0] == customer)
    return [_habit(habit) | {"account": names[iban]} for iban in owned for habit in fixtures.profiles[iban].habits]


def _habit(habit: Habit) -> Words:
    low, high = (money(cents, habit.currency).text() for cents in (habit.low, habit.high))
    name, iban = habit.party or ("", None)
    row: Words = {"what": habit.word, "name": name} | filled(iban=iban)
    row |= {"amount": low} if low == high else {"between": [low, high]}
    day = next((word for word, day in DAYS.items() if day is habit.due), habit.due)
    row |= {"a_week": habit.a_week} if habit.due is None else {"day": day}
    row |= {"by": next(word for word, remark in BY.items() if remark == habit.remark), "currency": habit.currency}
    row |= {"every": habit.every} | filled(communication=habit.text)
    return row | ({"hold": money(habit.hold, habit.currency).text()} if habit.hold else {})


def _account(one: Account, past: Profile, names: Mapping[str, str]) -> Words:
    row: Words = {"number": int(one.iban[NUMBER]), "owners": list(one.owners)}
    row |= fields_of(one, Account(one.iban, "current-account", one.owners), ("iban", "owners", "closed"))
    row |= {"life": past.life, "months": past.months}
    row["opening"] = {money.currency: money.text() for money in past.opening if money.number}
    row |= {"income": past.income.text()} if past.income.number else {}
    row |= {"keeps": past.keeps.text()} if past.keeps is not None else {}
    return row | filled(saves_to=names.get(past.saves_to or ""), goes_on=past.goes_on)


def rule_words(rule: ScenarioRule, fixtures: Fixtures) -> Words:
    return {"title": rule.title} | filled(
        when=_when(rule.when),
        then=[_then(one) for one in rule.then],
        timings={name: plain(span) for name, span in rule.timings},
        psu=None if rule.psu is None else _psu(rule.psu, fixtures),
        validation=[_finding(one) for one in rule.validation],
        refuse=rule.refuse,
    )


def _finding(one: Added) -> Words:
    return ({"bulk": one.bulk} if one.bulk else {"refuse": True}) | {"code": one.code, "text": one.text}


def _when(when: RuleCondition) -> Words:
    row = fields_of(when, but=("since", "amount"))
    row |= {"from": exact(when.since)} if when.since is not None else {}
    if when.amount is not None:
        bounds = {name: getattr(when.amount, name) for name in ("equal", "over", "under")}
        row["amount"] = {name: str(bound) for name, bound in bounds.items() if bound is not None}
    return row


def _then(then: RuleEffect) -> Words:
    row: Words = {"on": then.on.value} | ({"after": plain(then.after)} if then.after else {})
    if then.back:
        return row | {then.back: then.reason}
    return row | {"move": then.move.value} | filled(reason=then.reason)


def _psu(psu: Psu, fixtures: Fixtures) -> Words:
    names = {iban: name for name, iban in fixtures.names.items()}
    return {psu.does: True} | filled(
        customer=psu.customer,
        account=psu.account and names.get(psu.account, psu.account),
        accounts=[names.get(iban, iban) for iban in psu.accounts],
        after=psu.after and plain(psu.after),
        second=psu.then and _psu(psu.then, fixtures),
    )
