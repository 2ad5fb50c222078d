"""The head of a scenario that begins as a world of an export began: people, settings and rules, in words."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sandbox.bank.records import Account, Client, Customer
from sandbox.bank.rules import Added, Psu, Rule, Then, When
from sandbox.contract.settings import Settings
from sandbox.lift.act_calls import fields_of, plain, plain_settings
from sandbox.scenario.reading import load
from sandbox.seed.chronicle import money
from sandbox.seed.fixtures import Fixtures, Profile
from sandbox.seed.habits import Habit
from sandbox.seed.own_habits import BY, DAYS
from sandbox.world.beginning import Beginning
from sandbox.world.transfer.form import exact

Words = dict[str, Any]
NUMBER = slice(7, 14)  # of an account, in its IBAN


def beginning_words(beginning: Beginning) -> Words:
    """Everything but its faults: the calls of an export stand for what was done behind those."""
    root = load("default")
    assert beginning.at is not None
    own = beginning.rules[: len(beginning.rules) - len(root.rules)]
    inherits = own + root.rules == beginning.rules
    head: Words = {} if inherits else {"extends": None}
    head |= {"seed": beginning.seed, "clock": {"at": exact(beginning.at), "frozen": True}}
    settings = setting_words(beginning.settings, root.settings if inherits else Settings())
    bank = bank_words(beginning.fixtures, root.fixtures if inherits else None)
    rules = [rule_words(rule, beginning.fixtures) for rule in (own if inherits else beginning.rules)]
    parts = {"bank": bank, "settings": settings, "rules": rules}
    return head | {name: part for name, part in parts.items() if part}


def setting_words(settings: Settings, base: Settings) -> Words:
    rows = ((row.name, getattr(settings, row.name)) for row in fields(Settings))
    return plain_settings((name, value) for name, value in rows if value != getattr(base, name))


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
        "clients": {name: _client(one) for name, one in fixtures.clients.items()},
    }
    if base is None:
        return rows
    earlier = bank_words(base, None)
    changed = {part: {name: row for name, row in rows[part].items() if row != earlier[part].get(name)} for part in rows}
    return {part: found for part, found in changed.items() if found}


def _customer(one: Customer, fixtures: Fixtures) -> Words:
    row: Words = {"name": one.name, "kind": one.kind, "language": one.language}
    row |= {"channel_blocked": True} if one.channel_blocked else {}
    row |= {"methods": list(one.methods[1:])} if one.methods[1:] else {}
    row |= {"habits": habits} if (habits := _habits(one.id, fixtures)) else {}
    return row | ({"fees": {name: fee.text() for name, fee in one.fees}} if one.fees else {})


def _habits(customer: str, fixtures: Fixtures) -> list[Words]:
    """Those of the accounts that the customer owns first."""
    names = {iban: name for name, iban in fixtures.names.items()}
    owned = (iban for iban, account in fixtures.accounts.items() if account.owners[0] == customer)
    return [_habit(habit) | {"account": names[iban]} for iban in owned for habit in fixtures.profiles[iban].habits]


def _habit(habit: Habit) -> Words:
    low, high = (money(cents, habit.currency).text() for cents in (habit.low, habit.high))
    name, iban = habit.party or ("", None)
    row: Words = {"what": habit.word, "name": name} | ({"iban": iban} if iban else {})
    row |= {"amount": low} if low == high else {"between": [low, high]}
    day = next((word for word, day in DAYS.items() if day is habit.due), habit.due)
    row |= {"a_week": habit.a_week} if habit.due is None else {"day": day}
    row |= {"by": next(word for word, remark in BY.items() if remark == habit.remark), "currency": habit.currency}
    row |= {"every": habit.every} | ({"communication": habit.text} if habit.text else {})
    return row | ({"hold": money(habit.hold, habit.currency).text()} if habit.hold else {})


def _account(one: Account, past: Profile, names: Mapping[str, str]) -> Words:
    row: Words = {"number": int(one.iban[NUMBER]), "owners": list(one.owners)}
    row |= fields_of(one, Account(one.iban, "current-account", one.owners), ("iban", "owners", "closed"))
    row |= {"life": past.life, "months": past.months}
    row["opening"] = {money.currency: money.text() for money in past.opening if money.number}
    row |= {"income": past.income.text()} if past.income.number else {}
    row |= {"keeps": past.keeps.text()} if past.keeps is not None else {}
    row |= {"saves_to": names[past.saves_to]} if past.saves_to is not None else {}
    return row | ({"goes_on": True} if past.goes_on else {})


def _client(one: Client) -> Words:
    return fields_of(one, but=("id", "keys"))


def rule_words(rule: Rule, fixtures: Fixtures) -> Words:
    parts: Words = {
        "title": rule.title,
        "when": _when(rule.when),
        "then": [_then(one) for one in rule.then],
        "timings": {name: plain(span) for name, span in rule.timings},
        "psu": {} if rule.psu is None else _psu(rule.psu, fixtures),
        "validation": [_finding(one) for one in rule.validation],
        "refuse": rule.refuse,
    }
    return {name: part for name, part in parts.items() if part or name == "title"}


def _finding(one: Added) -> Words:
    return ({"bulk": one.bulk} if one.bulk else {"refuse": True}) | {"code": one.code, "text": one.text}


def _when(when: When) -> Words:
    row = fields_of(when, but=("since", "amount"))
    row |= {"from": exact(when.since)} if when.since is not None else {}
    if when.amount is not None:
        bounds = {name: getattr(when.amount, name) for name in ("equal", "over", "under")}
        row["amount"] = {name: str(bound) for name, bound in bounds.items() if bound is not None}
    return row


def _then(then: Then) -> Words:
    row: Words = {"on": then.on.value} | ({"after": plain(then.after)} if then.after else {})
    if then.back:
        return row | {then.back: then.reason}
    return row | {"move": then.move.value} | ({"reason": then.reason} if then.reason else {})


def _psu(psu: Psu, fixtures: Fixtures) -> Words:
    names = {iban: name for name, iban in fixtures.names.items()}
    row: Words = {psu.does: True} | ({"customer": psu.customer} if psu.customer else {})
    row |= {"account": names.get(psu.account, psu.account)} if psu.account else {}
    row |= {"accounts": [names.get(iban, iban) for iban in psu.accounts]} if psu.accounts else {}
    row |= {"after": plain(psu.after)} if psu.after else {}
    return row | ({"second": _psu(psu.then, fixtures)} if psu.then is not None else {})
