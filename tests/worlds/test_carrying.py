"""A world as one file: from one server to another, where it is the same to the byte."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import requests
from flask import Flask

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.contract.errors import Refusal
from sandbox.machine import machine_time
from sandbox.scenarios.reading import SHIPPED, load, read_fault, read_rule
from sandbox.server.server import serve_in_background
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import open_store
from sandbox.storage.transfer import file_reader, importer
from sandbox.storage.transfer.bounds import list_fault_content, write_rule
from sandbox.worlds.registry import WorldRegistry
from tests.exports import sealed
from tests.forked import Forked
from tests.tpp import CALLBACK, CHALLENGE, ISCT, SCT, VERIFIER, Tpp, headers, payment, refused

MORNING = "2027-03-01T09:00:00+01:00"
SECRET = "a-secret-of-ours"


class Server:
    """A real server, and calls whose ids are the same wherever they are made."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.number = 0

    def call(self, method: str, path: str, **more: Any) -> requests.Response:
        self.number += 1
        sent = headers(request_id=str(UUID(int=self.number, version=4)), **more.pop("headers", {}))
        return requests.request(method, f"{self.address}{path}", headers=sent, timeout=20, **more)

    def control(self, method: str, path: str, **body: Any) -> Any:
        return self.call(method, f"/_sandbox{path}", json=body or None).json()

    def lead(self, salt: str) -> list[bytes]:
        """A stretch of life; every answer of the bank as it came."""
        answers = []
        for number, product in enumerate((SCT, ISCT, SCT)):
            body = payment(product, endtoend_identification=f"{salt}-{number}")
            reply = self.call("POST", f"/payments/{product}", json=body)
            address = reply.headers["Location"]
            answers.append(told(reply, self.address))
            if number:
                signed = self.control("POST", "/psu/approve", address=address, customer="alice")
                answers.append(json.dumps(signed).encode())
        code = signed["redirect"].partition("code=")[2].partition("&")[0]
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
        bare = {"content_type": "application/x-www-form-urlencoded", "client_id": None, "accept_language": None}
        token = self.call("POST", "/token", data=form, auth=("demo-tpp", "demo-secret"), headers=bare)
        answers.append(told(token, self.address))
        self.control("POST", "/clock", advance="70s")
        seen = json.loads(token.content)["access_token"]
        ids = [row["payment_id"] for row in self.control("GET", "/payments")["payments"] if row["product"] == SCT]
        for payment_id in ids:
            answers.append(told(self.call("GET", f"/payments/{SCT}/{payment_id}/status"), self.address))
            sent = {"Authorization": f"Bearer {seen}"}
            answers.append(told(self.call("GET", f"/payments/{SCT}/{payment_id}", headers=sent), self.address))
        return answers

    def shows(self) -> list[bytes]:
        names = ("payments", "journal", "accounts", "clients", "timeline", "faults", "requests", "callbacks", "clock")
        return [self.call("GET", f"/_sandbox/{name}").content for name in names]

    def exported(self, query: str = "") -> bytes:
        """Without the findings: what a rule remembers of earlier calls stays behind."""
        lines = self.call("GET", f"/_sandbox/export{query}").content.splitlines()
        return sealed([line for line in lines if not line.startswith(b'{"finding"')])


def told(reply: requests.Response, address: str) -> bytes:
    """A reply with its status and the headers that are the bank's own; ports differ."""
    names = ("Location", "Response-ID", "Content-Type", "WWW-Authenticate")
    kept = {name: reply.headers[name] for name in names if name in reply.headers}
    return f"{reply.status_code} {kept} {reply.text}".replace(address, "http://here").encode()


@contextmanager
def serving_apart(*more: str) -> Iterator[Server]:
    """In a process of its own."""
    server = Forked("serve", "--port", "0", "--frozen", "--log", "off", *more)
    try:
        yield Server(server.stdout.readline().removeprefix("listening on ").strip())
    finally:
        server.end()


@contextmanager
def serving_here(seed: int, state: str | None, **more: Any) -> Iterator[Server]:
    with ExitStack() as stack:
        store = stack.enter_context(closing(open_store(state))) if state else None
        worlds = WorldRegistry(make_first_beginning(seed=seed, rate=0, **more), machine_time, store)
        yield Server(stack.enter_context(serve_in_background(assemble(worlds))))


def command(errors: Path, *words: str) -> tuple[int, str, str]:
    """How a command ended, what it printed, and its errors."""
    program = Forked(*words, errors=errors)
    printed = program.stdout.read()
    return program.wait(), printed, errors.read_text()


def test_exported_here_imported_there_by_commands_the_replies_are_the_same_bytes(tmp_path: Path) -> None:
    state = ("--state", str(tmp_path / "bank.state"))
    with serving_apart("--at", MORNING, "--seed", "7") as one, serving_apart("--seed", "99", *state) as two:
        lead_and_carry(one, two, tmp_path / "bug.world.jsonl.gz", carry_by_commands)
        assert two.lead("after") == one.lead("after")
        assert two.exported() == one.exported()


PLACES = [("file", "memory"), ("file", "database"), ("database", "file")]


@pytest.mark.parametrize(("here", "there"), PLACES)
def test_exported_here_imported_there_the_replies_are_the_same_bytes(
    request: pytest.FixtureRequest, tmp_path: Path, here: str, there: str
) -> None:
    places = {"memory": None, "file": str(tmp_path / "bank.state")}
    if "database" in (here, there):
        places["database"] = request.getfixturevalue("database")
    morning = read_instant(MORNING)
    with serving_here(7, places[here], at=morning) as one, serving_here(99, places[there]) as two:
        lead_and_carry(one, two, tmp_path / "bug.world.jsonl.gz", carry_by_calls)
        if "database" not in places:
            assert two.lead("after") == one.lead("after")
            assert two.exported() == one.exported()
            return
        assert two.exported() == one.exported()
        # What a database's world draws from now on is its own: an act that was lost and done again gives other ids.
        assert with_ids_numbered(two.lead("after")) == with_ids_numbered(one.lead("after"))
        shown = [with_ids_numbered(server.shows()) for server in (two, one)]
        assert shown[0] == [content.replace(one.address, two.address) for content in shown[1]]


def lead_and_carry(one: Server, two: Server, file: Path, carry: Callable[[Server, Server, Path], None]) -> None:
    """Leads a world, and carries it to the other server, which then shows the same."""
    one.lead("before")
    one.control("POST", "/faults", when={"operation": "accounts", "nth": 3}, answer={"status": 503})
    carry(one, two, file)
    assert two.shows() == [content.replace(one.address.encode(), two.address.encode()) for content in one.shows()]
    two.number = one.number


def carry_by_commands(one: Server, two: Server, file: Path) -> None:
    errors = file.with_name("errors")
    code, _, told = command(errors, "export", "--url", one.address, "--output", str(file))
    assert code == 0, told
    code, _, told = command(errors, "import", "--url", two.address, str(file))
    assert code == 1 and "--replace" in told
    code, printed, _ = command(errors, "import", "--url", two.address, "--replace", str(file))
    assert code == 0 and "world default with" in printed


def carry_by_calls(one: Server, two: Server, file: Path) -> None:
    file.write_bytes(requests.get(f"{one.address}/_sandbox/export", timeout=20).content)
    url = f"{two.address}/worlds/default/_sandbox/import"
    for query, status in (("", 409), ("?replace=true", 201)):
        reply = requests.post(f"{url}{query}", data=file.read_bytes(), timeout=20)
        assert reply.status_code == status, reply.text


def with_ids_numbered(contents: list[bytes]) -> list[str]:
    """Ids, tokens and addresses by the order in which they come."""
    numbers: dict[str, str] = {}
    drawn = re.compile(r"[A-Za-z0-9_-]{32,}")
    return [
        drawn.sub(lambda found: numbers.setdefault(found[0], f"id {len(numbers)}"), content.decode())
        for content in contents
    ]


@pytest.fixture(scope="module")
def worlds() -> WorldRegistry:
    """One register for all: a file that is refused changes nothing, which each of them asserts."""
    return WorldRegistry(make_first_beginning(seed=7, at=read_instant(MORNING), rate=0), machine_time)


@pytest.fixture(scope="module")
def app(worlds: WorldRegistry) -> Flask:
    return assemble(worlds)


@pytest.fixture(scope="module")
def led(app: Flask) -> Tpp:
    """A world with secrets of its callers in it."""
    tpp = Tpp(app, "led")
    tpp.control("POST", "/clients", client_id="our-tpp", secret=SECRET, redirect_uris=["http://127.0.0.1:*/*"])
    tpp.control("PUT", "/clients/our-tpp", secret=f"{SECRET}-2")
    reply = tpp.initiate()
    address = f"{reply.headers['Location']}?state=our-own-state"
    tpp.control("POST", "/psu/approve", address=address, customer="alice")
    tpp.token_for("alice")
    tpp.advance("1h")
    tpp.control("POST", "/faults", when={"operation": "payment_status", "nth": 2}, answer={"status": 503})
    return tpp


def exported(tpp: Tpp, query: str = "") -> bytes:
    reply = tpp.http.get(f"{tpp.prefix}/_sandbox/export{query}")
    assert reply.status_code == 200, reply.text
    found: bytes = reply.data
    return found


def imported(tpp: Tpp, content: bytes, query: str = "") -> Any:
    return tpp.http.post(f"/_sandbox/import{query}", data=content)


def test_a_stripped_file_holds_no_secret_and_replays(led: Tpp, app: Flask, worlds: WorldRegistry) -> None:
    bank = worlds.get("led").bank
    secrets = [SECRET, VERIFIER, CHALLENGE, "our-own-state", *bank.codes, *bank.access_tokens, *bank.refresh_tokens]
    secrets += [*bank.sca_tokens, *bank.sca_addresses]
    whole, content = exported(led).decode(), exported(led, "?secrets=strip").decode()
    assert [secret for secret in (SECRET, VERIFIER, "our-own-state") if secret not in whole] == []
    assert any(code in whole for code in bank.codes)
    assert [secret for secret in secrets if secret in content] == []
    assert json.loads(content.partition("\n")[0])["stripped"] != []
    assert imported(led, content.encode(), "?as=plain").status_code == 201
    for name in ("payments", "journal", "accounts", "requests"):
        assert Tpp(app, "plain").listed(name) == led.listed(name)


def test_a_world_with_people_of_its_own_brings_them_along(
    tpp: Tpp, worlds: WorldRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = {
        "customers": {"zoe": {"name": "Zoé Peeters", "kind": "private", "language": "fr"}},
        "accounts": {"zoe": {"number": 77, "owners": ["zoe"], "life": "still", "opening": {"EUR": "10.00"}}},
        "clients": {"zoes-tpp": {"secret": "zoes-secret", "name": "Zoé's TPP"}},
    }
    made = tpp.control("PUT", "/worlds/zoe", scenario={"scenario": "Zoé", "bank": people})
    assert made.status_code == 201, made.text
    content = exported(Tpp(tpp.http.application, "zoe"))
    assert "Zoé Peeters" in content.decode()
    assert imported(tpp, content, "?as=again").status_code == 201
    assert worlds.get("again").ask(hash_state) == worlds.get("zoe").ask(hash_state)
    monkeypatch.setattr(file_reader, "MONTHS_MAX_OF_ALL", 1)
    assert "months together" in imported(tpp, content, "?as=again").json["error_description"]
    assert b"zoes-secret" not in exported(Tpp(tpp.http.application, "zoe"), "?secrets=strip")


def test_a_world_that_began_at_a_time_of_another_zone_goes_along() -> None:
    worlds = WorldRegistry(make_first_beginning(seed=7, at=datetime.fromisoformat(MORNING), rate=0), machine_time)
    assert imported(Tpp(assemble(worlds)), exported(Tpp(assemble(worlds))), "?as=b").status_code == 201


def test_a_running_world_runs_on(app: Flask) -> None:
    running = WorldRegistry(make_first_beginning(seed=7), machine_time)
    tpp = Tpp(assemble(running))
    tpp.initiated()
    assert imported(tpp, exported(tpp), "?as=b").json["clock"]["mode"] == "running"


def first(change: Callable[[dict[str, Any]], Any]) -> Callable[[list[bytes]], list[bytes]]:
    return line(0, change)


def line(number: int, change: Callable[[dict[str, Any]], Any]) -> Callable[[list[bytes]], list[bytes]]:
    def changed(lines: list[bytes]) -> list[bytes]:
        lines = list(lines)
        content = json.loads(lines[number])
        change(content)
        lines[number] = json.dumps(content).encode()
        return lines

    return changed


ACT = 3  # the initiation, after the two acts about a client


@pytest.mark.parametrize(
    "change, why",
    [
        (lambda lines: [], "it is empty"),
        (lambda lines: [b"not a world"], "this is no file of a world"),
        (lambda lines: [b"[1]"], "it is no object"),
        (first(lambda head: head.update(format="else")), "this is no file of a world"),
        (first(lambda head: head.update(version=99)), "this program reads version 1 alone"),
        (first(lambda head: head["people"].update(digest="0" * 64)), "this program ships others"),
        (first(lambda head: head.update(past="0" * 64)), "have another past"),
        (first(lambda head: head.update(seed="7")), "no number"),
        (first(lambda head: head.update(secret="7f")), "the secret is not 32 hexadecimal digits"),
        (first(lambda head: head.update(secret=7)), "no text"),
        (first(lambda head: head.pop("opening")), "something is missing"),
        (first(lambda head: head.pop("stripped")), "something is missing"),
        (first(lambda head: head.update(stripped=1)), "does not take this"),
        (first(lambda head: head.pop("past")), "something is missing"),
        (first(lambda head: head.update(now="9999-12-31T00:00:00+00:00")), "between the years 2000 and 2200"),
        (first(lambda head: head.update(now="8999-12-31T00:00:00+00:00")), "between the years 2000 and 2200"),
        (first(lambda head: head.update(opening="1999-12-31T00:00:00+00:00")), "between the years 2000 and 2200"),
        (first(lambda head: head.update(rate=1_000_001)), "no rate: it is a number from 0 to 1000000"),
        (first(lambda head: head.update(first_rate=1e9)), "no rate: it is a number from 0 to 1000000"),
        (line(ACT, lambda act: act.update(at="2200-01-01T09:00:00+01:00")), "between the years 2000 and 2200"),
        (
            line(-2, lambda row: row["finding"]["call"].update(at="2200-01-02T09:00:00Z")),
            "between the years 2000 and 2200",
        ),
        (line(-1, lambda end: end.pop("digest")), "its last line has no digest"),
        (first(lambda head: head["settings"]["v"].update(due_events_max=10**12)), "settings"),
        (first(lambda head: head["settings"]["v"].update(page_size="many")), "settings"),
        (first(lambda head: head.update(rules=[{"~": "os.system", "v": ["true"]}])), "it has the record 'os.system'"),
        (first(lambda head: head.update(rules=[{"~": "Money", "v": ["1", "EUR"]}])), "not written by the sandbox"),
        (line(ACT, lambda act: act.update(verb="os.system")), "is not known here"),
        (line(ACT, lambda act: act.update(act=9)), "act 3 is expected"),
        (line(ACT, lambda act: act.update(made=99)), "goes another way"),
        (line(ACT, lambda act: act.update(at="2027-02-01T09:00:00+01:00")), "cannot be done"),
        (line(ACT, lambda act: act["arguments"].pop("origin")), "payments.initiate has no argument 'origin'"),
        (line(ACT, lambda act: act["arguments"].update(colour="red")), "it has the argument 'colour'"),
        (line(ACT, lambda act: act["arguments"]["order"]["v"].update(colour="red")), "it has the field 'colour'"),
        (line(ACT, lambda act: act.update(arguments=[])), "the arguments of an act have names"),
        (line(ACT, lambda act: act["arguments"]["order"]["v"].update(creditor_name=7)), "does not take a int"),
        (line(ACT, lambda act: act["arguments"].update(order=None)), "does not take a NoneType"),
        (lambda lines: [*lines[:ACT], *lines[ACT + 1 :]], "act 3 is expected"),
        (lambda lines: lines[:-1], "it was cut"),
        (lambda lines: [*lines, b"{}"], "something follows the end"),
        (line(-1, lambda end: end.update(state="0" * 64)), "another state than it says"),
    ],
)
def test_a_file_that_does_not_hold_is_refused_and_nothing_changes(
    led: Tpp, worlds: WorldRegistry, change: Callable[[list[bytes]], list[bytes]], why: str
) -> None:
    lines = exported(led).splitlines()
    before = worlds.get("led").ask(hash_state)
    reply = imported(led, sealed(change(lines)))
    assert refused(reply, 400, "SBX-", "file")
    assert why in reply.json["error_description"]
    assert worlds.get("led").ask(hash_state) == before


def faulty(**change: Any) -> Callable[[list[bytes]], list[bytes]]:
    """Another value in the fault that was ordered; `when__x` and `answer__x` reach inside."""

    def changed(head: dict[str, Any]) -> None:
        place = head["ordered"]["v"]["rules"][0]["v"]
        for path, value in change.items():
            outer, _, inner = path.rpartition("__")
            (place[outer]["v"] if outer else place)[inner] = value

    return first(changed)


def ruled(**rule: Any) -> Callable[[list[bytes]], list[bytes]]:
    when = {"~": "RuleCondition", "v": rule.pop("when", {})}
    return first(lambda head: head["rules"].append({"~": "ScenarioRule", "v": {"title": "r", "when": when} | rule}))


def amended(verb: str, name: str, value: Any) -> Callable[[list[bytes]], list[bytes]]:
    """An act as a control makes it, but for the value."""
    named = {"accounts.amend": "iban", "customers.amend": "customer", "clients.amend": "client_id"}[verb]
    arguments = {named: "BE00", "changes": [[name, value]]}
    return line(ACT, lambda act: act.update(verb=verb, arguments=arguments))


def span(days: int) -> dict[str, Any]:
    return {"~": "span", "v": [days, 0, 0]}


def euros(number: str) -> dict[str, Any]:
    return {"~": "Money", "v": {"number": {"~": "decimal", "v": number}, "currency": "EUR"}}


RETURN = {"~": "RuleEffect", "v": {"on": {"~": "Status", "v": "ACSC"}, "move": {"~": "Status", "v": "PATC"}}}


@pytest.mark.parametrize(
    "change, why",
    [
        (faulty(when__nth=0), "a number from 1 to"),
        (faulty(when__nth=None, when__chance=2.0), "a number from 0 to 1"),
        (faulty(when__operation="payments"), "payments"),
        (faulty(answer__status=299), "never answers 299"),
        (faulty(answer__retry_after=10**6), "a number from 0 to 86400"),
        (faulty(delay=601.0), "a delay is at most 600 s"),
        (faulty(delay=-1.0), "fault 1"),
        (faulty(cut="everywhere"), "everywhere"),
        (ruled(then=[RETURN]), "no table lets it go from ACSC to PATC"),
        (ruled(refuse="NOTHING"), "'NOTHING' is no error of the bank"),
        (ruled(timings=[["unsigned_after", span(80_000)]]), "a duration is from 0 to 200 years"),
        (ruled(timings=[["code_life", span(-1)]]), "a duration is from 0 to 200 years"),
        (ruled(timings=[["seed", span(1)]]), "seed"),
        (ruled(when={"nth": -1}, refuse="PROFILE_FORBIDS"), "a number from 1 to"),
        (ruled(when={"since": {"~": "time", "v": "8999-12-31T00:00:00+00:00"}}), "between the years 2000 and 2200"),
        (ruled(when={"since": {"~": "time", "v": "2027-12-31T00:00:00"}}), "a time has an offset"),
        (amended("accounts.amend", "signatures_required", 99), "it is a number from 1 to 9"),
        (amended("accounts.amend", "overdraft", euros("-1")), "it is below 0"),
        (amended("accounts.amend", "overdraft", euros("NaN")), "an amount has 13 digits"),
        (amended("accounts.amend", "overdraft", euros("1E+999999999")), "an amount has 13 digits"),
        (amended("accounts.amend", "overdraft", "500.00"), "does not take a str"),
        (amended("accounts.amend", "colour", "red"), "Account has no field colour"),
        (amended("customers.amend", "language", "xx"), "it is one of"),
        (amended("clients.amend", "roles", ["KING"]), "each is one of PIS, AIS, CAF"),
    ],
)
def test_a_value_that_no_control_takes_comes_by_no_file(
    led: Tpp, worlds: WorldRegistry, change: Callable[[list[bytes]], list[bytes]], why: str
) -> None:
    reply = imported(led, sealed(change(exported(led).splitlines())), "?as=outside")
    assert refused(reply, 400, "SBX-", "file")
    assert why in reply.json["error_description"]
    with pytest.raises(Refusal, match="NOT_FOUND"):
        worlds.find("outside")


def test_every_rule_and_fault_of_a_shipped_scenario_reads_the_same_from_what_a_file_is_held_against() -> None:
    scenarios = [load(name) for name in SHIPPED]
    rules = {rule for scenario in scenarios for rule in scenario.rules}
    faults = [fault for scenario in scenarios for fault in scenario.faults]
    assert rules and [rule for rule in rules if read_rule(write_rule(rule)) != rule] == []
    assert faults and [fault for fault in faults if read_fault(list_fault_content(fault), "") != fault] == []


@pytest.mark.parametrize("number", [0, ACT, -2])
def test_nothing_of_a_file_that_is_not_as_it_was_written_is_played(
    led: Tpp, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[Any] = []
    monkeypatch.setattr(importer, "play", lambda *given: played.append(given))
    lines = exported(led).splitlines()
    lines[number] += b" "
    reply = imported(led, b"\n".join(lines))
    assert refused(reply, 400, "SBX-", "file") and played == []
    assert "the lines before it are not those that were written" in reply.json["error_description"]


def test_what_unpacks_without_end_is_cut_short(tpp: Tpp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_reader, "LINE_MAX", 1_000_000)
    reply = imported(tpp, gzip.compress(b" " * 50_000_000))
    assert "too long" in reply.json["error_description"]
    crowd = b"[" + b"[]," * 500_000 + b"[]]"
    monkeypatch.setattr(file_reader, "LINE_MAX", 100_000_000)
    assert "line 1: it holds too much" in imported(tpp, gzip.compress(crowd)).json["error_description"]
    assert "unpacked" in imported(tpp, gzip.compress(b"{}" * 99)[:-9]).json["error_description"]


def test_the_name_is_checked_and_the_way_of_secrets_too(led: Tpp) -> None:
    assert refused(imported(led, exported(led), "?as=.."), 400, "SBX-", "as")
    assert refused(led.http.get("/_sandbox/export?secrets=some"), 400, "SBX-", "secrets")
