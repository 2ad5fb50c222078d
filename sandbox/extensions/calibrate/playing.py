"""Plays recorded calls on a bank in this process, each at the time at which it was recorded.

A step is a recorded call to play. A scene is a state of the played bank and of the client, from which steps can be
played.

A recording of a real bank does not show the acts of its customers. So the player consents or signs for a customer when
the calls show that the customer has done so: before a code is exchanged, or when a status says so. If the recording has
calls of the sandbox's own controls for customers, these are played instead.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import quote

import orjson

from sandbox.bank import consents, tokens
from sandbox.bank.ledger import Compartment
from sandbox.bank.records import ROLES, BulkFile, Grant
from sandbox.bank.state import Bank
from sandbox.bank.tokens import IssuedTokens
from sandbox.banking.money import Money
from sandbox.client.transport import Signer
from sandbox.contract.decisions import EVERYWHERE
from sandbox.contract.errors import Refusal
from sandbox.contract.operations import BY_NAME, OPERATIONS
from sandbox.extensions.calibrate.comparison import (
    Differences,
    ReplyFacts,
    compare,
    compare_callbacks,
    read_facts,
    read_own_facts,
    weigh_places,
)
from sandbox.extensions.calibrate.played_bank import ADDRESS, Moment, OwnReply, PlayedBank
from sandbox.extensions.calibrate.reconstruction import (
    OPENED,
    Shown,
    ShownAccount,
    make_line,
    note_balances,
    read_basic_credentials,
    simplify_names,
)
from sandbox.extensions.calibrate.variables import Variables, find_address, read_callback_pairs
from sandbox.recordings.recorded_calls import RecordedCall

CONTROL = "_sandbox"
VERIFIER = "0" * 43  # the PKCE verifier of consents that were given before the recording
CONTROLS_OF_CUSTOMERS = ("approve", "refuse", "sign", "withdraw")
JSON_BODY = {"content-type": "application/json"}
REFUSED_BY_CUSTOMER = ("PSU_REFUSED", "DS02")
BY_ITSELF = "what happened"
UNSIGNED, SIGNED = ("RCVD", "PATC"), ("PDNG", "PNDG", "ACSP", "ACSC", "ACWP")
PROOF = ("signature", "digest", "date")
# Headers that are not sent to the played bank: those of the recorded connection and body length, and the host.
NOT_SENT = frozenset(("host", "content-length", "connection", "transfer-encoding", "accept-encoding", "cookie"))
SEGMENTS = [
    (row, tuple(None if part.startswith("<") else part for part in row.path.strip("/").split("/")))
    for row in OPERATIONS
]


def find_operation(method: str, path: Sequence[str]) -> str:
    """Returns the name of the operation with this method and path. Returns `callback` for a control of the sandbox, and
    an empty text if the bank has no such operation."""
    if path[:1] == (CONTROL,):
        return "callback"
    for row, parts in SEGMENTS:
        if row.method != method or len(parts) != len(path):
            continue
        if all(part is None or part == name for part, name in zip(parts, path, strict=True)):
            return row.name
    return ""


class RecordedStep(NamedTuple):
    """A recorded call to play, with its time, its operation and the parts of its reply that are compared."""

    number: int  # its place in the recording, counted from 1
    call: RecordedCall
    at: datetime
    operation: str
    facts: ReplyFacts

    @property
    def is_control(self) -> bool:
        return self.call.path[0] == CONTROL


@dataclass
class ClientSession:
    """What the client knows at one moment of the recording: ids, tokens and addresses of the played bank. Also has what
    the player has changed so far in the played bank, such as corrected balances."""

    variables: Variables = field(default_factory=Variables)
    addresses: dict[str, str] = field(default_factory=dict)  # addresses of the played bank, by challenge and by its id
    approved: set[str] = field(default_factory=set)  # the addresses at which the customer has approved
    balanced: set[str] = field(default_factory=set)  # the IBANs whose balance a reply has shown
    corrections: dict[Compartment, Decimal] = field(default_factory=dict)  # amounts that were added to balances
    debtors: dict[str, str] = field(default_factory=dict)  # by address: the IBAN that pays, as the initiation says
    payers: dict[str, str] = field(default_factory=dict)  # by address: the IBAN that the customer chooses
    lines_booked: dict[str, int] = field(default_factory=dict)  # by IBAN: how many shown lines the bank has booked

    def copy(self) -> "ClientSession":
        return ClientSession(
            self.variables.copy(),
            dict(self.addresses),
            set(self.approved),
            set(self.balanced),
            dict(self.corrections),
            dict(self.debtors),
            dict(self.payers),
            dict(self.lines_booked),
        )


class Scene(NamedTuple):
    """The state of the played bank and the state of the client's session, both at the same moment."""

    moment: Moment
    session: ClientSession


class AccountToken(NamedTuple):
    token: str
    logical_id: str


class CallResult(NamedTuple):
    differences: Differences
    met: frozenset[str]  # the axes that the bank read
    reply: OwnReply


class Player:
    """Plays steps on one bank, whose axes have the values in `variants`. A step changes the state of the bank and of
    the client's session."""

    def __init__(self, bank: PlayedBank, shown: Shown, *, has_controls: bool) -> None:
        self.bank = bank
        self.shown = shown
        self.signing_time = datetime.fromtimestamp(0, UTC)
        self.signer = Signer(lambda: self.signing_time)
        self.has_controls = has_controls
        self.session = ClientSession()
        self.variants: Mapping[str, str] = {}
        # by the number of a step: the places of its reply that depend on chance
        self.noise: Mapping[int, Collection[str]] = {}
        self.played = 0

    def go_to(self, scene: Scene, variants: Mapping[str, str]) -> None:
        self.bank.go_to(scene.moment, variants)
        self.session, self.variants = scene.session.copy(), variants

    def copy_scene(self) -> Scene:
        return Scene(self.bank.copy_moment(), self.session.copy())

    def is_at(self, scene: Scene) -> bool:
        """Whether the bank and the session are in the state of this scene, so that all later calls would get the same
        replies as from there. The values of the axes are not compared."""
        return self.session == scene.session and self.bank.is_at(scene.moment)

    def wait_until(self, at: datetime) -> None:
        self.bank.wait_until(at)

    def list_met(self) -> frozenset[str]:
        """Returns the axes that the bank has read since the last call was sent."""
        return frozenset(self.bank.met)

    def play(self, step: RecordedStep) -> CallResult:
        self.played += 1
        self.bank.met.clear()
        self.bank.note_axes()
        self.bank.wait_until(step.at)
        if step.is_control:
            differences, reply = self._act(step)
        else:
            differences, reply = self._call(step)
        differences = self.without_noise(step, differences)
        return CallResult(differences, frozenset(self.bank.met | (set() if step.is_control else EVERYWHERE)), reply)

    def without_noise(self, step: RecordedStep, differences: Differences) -> Differences:
        noise = self.noise.get(step.number, ())
        return {place: text for place, text in differences.items() if place not in noise} if noise else differences

    # Acts of customers that the recording has

    def _act(self, step: RecordedStep) -> tuple[Differences, OwnReply]:
        call, variables = step.call, self.session.variables
        body = dict(call.json)
        if isinstance(body.get("address"), str):
            body["address"] = variables.translate_address(body["address"])
        if isinstance(body.get("payment_id"), str):
            body["payment_id"] = variables.translate(body["payment_id"])
        reply = self._send(call.method, "".join(f"/{part}" for part in call.path), "", JSON_BODY, orjson.dumps(body))
        content = read_json_object(reply)
        if step.facts.status != reply.status:
            return {"status": f"{step.facts.status} instead of {reply.status}"}, reply
        recorded, own = call.reply_json.get("redirect"), content.get("redirect")
        if isinstance(recorded, str) and isinstance(own, str):
            pairs = dict(read_callback_pairs(own))
            for name, value in read_callback_pairs(recorded):
                if name in pairs:
                    variables.bind(value, pairs[name])
        differences = compare_callbacks(recorded, own)
        times = call.reply_json.get("times", 1), content.get("times", 1)
        if times[0] != times[1]:
            differences["callback (times)"] = f"{times[0]} instead of {times[1]}"
        return differences, reply

    # Calls of the bank's interface

    def _call(self, step: RecordedStep) -> tuple[Differences, OwnReply]:
        call = step.call
        self._give_earlier_tokens(call)
        if call.path == ("token",):
            self._give_consent_before(call)
        booked = self._book_missing(step)
        own = self._send_recorded(call)
        differences = self._compare(step, own) | booked
        if self._correct_balance(step, own):
            own = self._send_recorded(call)
            differences = self._compare(step, own)
        if "status" in differences or "body.status" in differences or "body.error" in differences:
            happened = self._let_happen(step, own)
            if happened is not None:
                again = self._send_recorded(call)
                after = self._compare(step, again) | happened
                if weigh_places(after) < weigh_places(differences):
                    own, differences = again, after
        self._bind(call, own)
        return {} if self.shown.has_older_secret(call) else differences, own

    def _compare(self, step: RecordedStep, own: OwnReply) -> Differences:
        return compare(step.facts, read_own_facts(own, ADDRESS), self.session.variables)

    def _send_recorded(self, call: RecordedCall) -> OwnReply:
        variables = self.session.variables
        headers = {
            name: value for name, value in variables.translate_headers(call.headers).items() if name not in NOT_SENT
        }
        body = call.body
        if call.path == ("token",):
            body = variables.translate_pairs(body)
        query = variables.translate_pairs(call.split.query)
        content = body.encode()
        if "signature" in headers and not (call.status == 401 and "Signature" in call.reply_body):
            headers |= self._make_signature(headers, content)
        return self._send(call.method, variables.translate_path(call.path), query, headers, content)

    def _make_signature(self, headers: Mapping[str, str], content: bytes) -> dict[str, str]:
        """Returns the headers of a new signature that has the form of the recorded signature. It is made with a key
        that the played bank knows, because the private key of the recorded client is not known."""
        is_detached = ".." in headers["signature"]
        with suppress(ValueError, KeyError, TypeError):
            self.signing_time = parsedate_to_datetime(headers["date"])
        over = "headers" if self.variants.get("signature_over") == "headers" else "body" if is_detached else "attached"
        fresh = self.signer.headers(content, over, headers.get("request-id", ""))
        return {name.lower(): value for name, value in fresh.items()}

    def _send(self, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes) -> OwnReply:
        return self.bank.send(method, path, query, headers, body)

    def _bind(self, call: RecordedCall, own: OwnReply) -> None:
        if call.status >= 400 and own.status >= 400 and call.status != 401:
            return
        session, content = self.session, _read_json_value(own)
        session.variables.bind_reply(call.reply, content)
        headers = {name.lower(): value for name, value in own.headers}
        recorded, address = find_address(call.reply_headers, call.reply), find_address(headers, content)
        if recorded and address:
            session.variables.bind(recorded, address)
        if call.path[0] == "consent-uris" and isinstance(content, list) and content:
            address = str(content[0].get("consent_uri", ""))
        if address:
            for key in (call.headers.get("code-challenge"), find_own_id(content), *call.path[2:3]):
                if key:
                    session.addresses[key] = session.addresses[session.variables.translate(key)] = address
            account = call.json.get("debtor_account") or call.json.get("origin_account")
            iban = account.get("iban") if isinstance(account, dict) else call.query.get("iban")
            if isinstance(iban, str):
                session.debtors[address] = iban
            elif (payer := self.shown.payer_of.get(find_own_id(call.reply) or "")) is not None:
                session.payers[address] = payer

    # Acts of customers and of the bank that no call shows

    def _give_consent_before(self, call: RecordedCall) -> None:
        """If the call exchanges a code, lets the customer consent first. The code that the played bank gives then
        replaces the recorded code in the calls that are played. Does nothing if the recorded code has a replacement
        already, or if the recording has controls for customers."""
        code = call.form.get("code", "")
        if self.has_controls or not code or code in self.session.variables.texts:
            return
        for challenge in call.challenges:
            address = self.session.addresses.get(challenge)
            if address is not None:
                ibans = self.shown.ibans_of.get(challenge, [])
                redirect = self.approve(address, ibans)
                if redirect:
                    self.session.variables.bind(code, dict(read_callback_pairs(redirect)).get("code", ""))

    def _give_earlier_tokens(self, call: RecordedCall) -> None:
        """If the call succeeded with a token from before the recording, makes a consent in the played bank. The token
        of this consent then replaces the recorded token in the calls that are played. Does nothing if the recorded
        token has a replacement already, or if the recording does not show the accounts of the earlier consent."""
        variables, shown = self.session.variables, self.shown
        token = call.access_token if call.path[0] == "accounts" else call.form.get("refresh_token")
        credentials = read_basic_credentials(call)
        client_id = credentials[0] if credentials else call.headers.get("client-id", "")
        ibans = shown.ibans_of.get(shown.find_grant(token or ""), [])
        is_known = token in variables.texts or token in shown.challenge_of
        if not token or is_known or call.status >= 400 or not ibans:
            return

        def give(bank: Bank) -> IssuedTokens:
            issued, names = consent_to(bank, client_id, ibans)
            for recorded, iban in shown.by_logical_id.items():
                if recorded in call.path and iban in names:
                    variables.bind(recorded, names[iban])
            return issued

        with suppress(Refusal, KeyError, IndexError):  # the recording shows too little of them
            issued = self.bank.ask(give)
            variables.bind(token, issued.access_token if call.access_token else issued.refresh_token)
            variables.bind(shown.sca_token_of.get(token, ""), issued.sca_token or "")

    def approve(self, address: str, ibans: Sequence[str] = ()) -> str:
        """Lets the customer approve at the address: a signature, or a consent for the accounts `ibans`. Returns the
        address of the callback, or an empty text if the bank refused."""
        self.session.approved.add(address)
        mark = "&" if "?" in address else "?"
        body: dict[str, Any] = {"address": f"{address}{mark}state=state"}
        accounts = self.bank.ask(lambda bank: bank.accounts)
        known = [iban for iban in ibans if iban in accounts]
        debtor, payer = self.session.debtors.get(address), self.session.payers.get(address, "")
        if known:
            body |= {"customer": accounts[known[0]].owners[0], "accounts": known}
        elif payer in accounts:
            body |= {"customer": accounts[payer].owners[0], "account": payer}
        elif debtor is None or debtor not in accounts:
            first = next((iban for iban in self.shown.accounts if iban in accounts), next(iter(accounts)))
            body["customer"] = accounts[first].owners[0]
        reply = self._send("POST", f"/{CONTROL}/psu/approve", "", JSON_BODY, orjson.dumps(body))
        if reply.status == 400 and "accounts" in body:
            del body["accounts"]
            reply = self._send("POST", f"/{CONTROL}/psu/approve", "", JSON_BODY, orjson.dumps(body))
        redirect = read_json_object(reply).get("redirect")
        return redirect if isinstance(redirect, str) else ""

    def refuse(self, address: str) -> OwnReply:
        """Lets the customer refuse at the address. Returns the reply, which has the address of the callback."""
        body = {"address": address, "customer": self._choose_customer(address)}
        return self._send("POST", f"/{CONTROL}/psu/refuse", "", JSON_BODY, orjson.dumps(body))

    def find_debtor(self, payment_id: str) -> str | None:
        """Returns the IBAN of the account that pays the initiation, or the first such account of a file. Returns None
        if the customer has not chosen it yet."""

        def find(bank: Bank) -> str | None:
            initiation = bank.find_initiation(payment_id)
            if isinstance(initiation, BulkFile):
                return next((part.paying.debtor_iban for part in initiation.payable_parts), None)
            return initiation.debtor.iban if initiation is not None and initiation.debtor is not None else None

        return self.bank.ask(find)

    def make_payment_token(self, payment_id: str) -> str | None:
        """Returns an access token of the customer who signed the initiation, or None if there is none."""

        def issue(bank: Bank) -> str | None:
            initiation = bank.find_initiation(payment_id)
            if initiation is None or initiation.customer is None:
                return None
            grant, uri = Grant(initiation.origin.client_id, initiation.customer, "PIS"), initiation.origin.redirect_uri
            code = tokens.create_code(bank, grant, uri, ("plain", VERIFIER), None)
            versions = BY_NAME["token"].versions
            return tokens.exchange_code(bank, grant.client_id, code, uri, VERIFIER, versions[0]).access_token

        with suppress(Refusal):
            return self.bank.ask(issue)
        return None

    def make_account_token(self, client_id: str, iban: str) -> AccountToken | None:
        """Lets the customer consent to the account. Returns an access token and the logical id of the account, or None
        if the bank refuses."""

        def issue(bank: Bank) -> AccountToken:
            issued, names = consent_to(bank, client_id, [iban])
            return AccountToken(issued.access_token, names[iban])

        with suppress(Refusal, KeyError):
            return self.bank.ask(issue)
        return None

    def _let_happen(self, step: RecordedStep, own: OwnReply) -> Differences | None:
        """Does in the played bank what a customer or the bank must have done before the recorded reply, such as a
        signature. `own` is the reply that the played bank gave without it.

        Returns None if nothing was done, and an empty dict after an act of a customer. Returns an act of the bank as a
        difference, because with another value of an axis the bank may do it by itself.
        """
        call, content = step.call, read_json_object(own)
        if call.status < 400 and str(content.get("error", "")).upper() == "INVALID_TPP":
            self._give_roles(call.headers.get("client-id", ""))
            return {BY_ITSELF: "the client has a role, which the nearest bank had not given to it"}
        status, reason, before = (*map(call.reply_json.get, ("status", "reason")), content.get("status"))
        if len(call.path) < 3 or status == before or before is None:
            return None
        subject = self.session.variables.translate(call.path[2])
        address = find_address({}, content) or self.session.addresses.get(subject)
        if not self.has_controls and before in UNSIGNED and address not in (None, *self.session.approved):
            if status in SIGNED:
                self.approve(str(address))
                return {}
            if status == "CANC" and reason in REFUSED_BY_CUSTOMER:
                self.refuse(str(address))
                return {}
        if status == "RJCT" and before in SIGNED:
            path = f"/{CONTROL}/payments/{quote(subject, safe='')}/move"
            move = {"status": status} | ({"reason": reason} if isinstance(reason, str) else {})
            self._send("POST", path, "", JSON_BODY, orjson.dumps(move))
            return {f"{BY_ITSELF} ({reason})": "the payment was refused, which the nearest bank does not do by itself"}
        return None

    def _correct_balance(self, step: RecordedStep, own: OwnReply) -> bool:
        """If the recorded reply of the step is the first one that shows the balance of an account, books lines that
        give the account the same balance in the played bank. Returns whether lines were booked. If so, the played
        bank's reply `own` to this call is out of date."""
        content = simplify_names(step.call.reply_json)
        iban = content.get("iban")
        if step.operation != "account" or own.status != 200 or not isinstance(iban, str):
            return False
        if iban in self.session.balanced or iban not in self.bank.ask(lambda bank: bank.accounts):
            return False
        self.session.balanced.add(iban)
        shown, played = ShownAccount(iban), ShownAccount(iban)
        note_balances(shown, content)
        note_balances(played, simplify_names(read_json_object(own)))
        entries = []
        for currency, number in shown.balances.items():
            more = number - played.balances.get(currency, number)
            if more:
                entries.append(make_line(iban, Money(more, currency), OPENED, "balance"))
                self.session.corrections[iban, currency] = more

        def post(bank: Bank) -> None:
            for entry in entries:
                bank.ledger.post(entry)

        self.bank.ask(post)
        return bool(entries)

    def _book_missing(self, step: RecordedStep) -> Differences:
        """Books lines (transactions, such as a salary) that the played bank lacks: those of the step's account that the
        recording shows up to this step.

        Returns each of these lines as a difference, because with another value of an axis the bank may book it by
        itself.
        """
        if step.call.path[0] != "accounts" or len(step.call.path) == 1 or step.facts.status != 200:
            return {}
        shown = self.shown.accounts.get(self.shown.by_logical_id.get(step.call.path[1], ""))
        entries = [line.entry for line in shown.later if line.is_booked(step.at)] if shown else []
        if shown is None or len(entries) == self.session.lines_booked.get(shown.iban, 0):
            return {}
        self.session.lines_booked[shown.iban] = len(entries)

        def book(bank: Bank) -> Differences:
            had = Counter[tuple[date, Money]]()
            for currency in {entry.postings[0].amount.currency for entry in entries}:
                for line in bank.ledger.list_lines(entries[0].postings[0].account, currency):
                    had[line.on, line.posting.amount] += 1
            booked: Differences = {}
            for entry in entries:
                amount = entry.postings[0].amount
                had[entry.on, amount] -= 1
                if had[entry.on, amount] < 0:
                    bank.ledger.post(entry)
                    place = f"{BY_ITSELF} on {entry.on} ({amount.number} {amount.currency})"
                    booked[place] = "a line that the nearest bank does not book by itself"
            return booked

        return self.bank.ask(book)

    def _give_roles(self, client_id: str) -> None:
        clients = self.bank.ask(lambda bank: bank.clients)
        if client_id in clients:
            clients[client_id] = replace(clients[client_id], roles=ROLES, active=True)

    def _choose_customer(self, address: str) -> str:
        accounts = self.bank.ask(lambda bank: bank.accounts)
        iban = self.session.debtors.get(address) or self.session.payers.get(address, "")
        account = accounts.get(iban) or next(iter(accounts.values()))
        return account.owners[0]


def consent_to(bank: Bank, client_id: str, ibans: Sequence[str]) -> tuple[IssuedTokens, dict[str, str]]:
    """Lets the owner of the first of these accounts consent to all of them. Returns the tokens, and the logical ids of
    the client's accounts by IBAN. May raise Refusal."""
    uri, owner = bank.clients[client_id].redirect_uris[0], bank.accounts[ibans[0]].owners[0]
    ((_, address),) = consents.ask(bank, client_id, "AIS", None, uri, ("plain", VERIFIER), "fr")
    callback = consents.agree(bank, address, owner, tuple(ibans), None)
    names = {
        iban: name
        for consent in bank.consents.values()
        if consent.client_id == client_id
        for name, iban in consent.logical_ids.items()
    }
    code = dict(read_callback_pairs(callback))["code"]
    return tokens.exchange_code(bank, client_id, code, uri, VERIFIER, BY_NAME["token"].versions[0]), names


def find_own_id(content: Any) -> str | None:
    """Returns the id of the initiation in a reply to its POST, or None if there is none."""
    names = ("payment_id", "paymentId", "payment_file_id")
    ids = (content.get(name) for name in names) if isinstance(content, dict) else ()
    return next((value for value in ids if isinstance(value, str)), None)


def _read_json_value(reply: OwnReply) -> Any:
    try:
        return orjson.loads(reply.body)
    except orjson.JSONDecodeError:
        return reply.body


def read_json_object(reply: OwnReply) -> dict[str, Any]:
    content = _read_json_value(reply)
    return content if isinstance(content, dict) else {}


def list_steps(calls: Sequence[RecordedCall], opening: datetime) -> list[RecordedStep]:
    """Returns the steps that can be played: calls of an operation, and acts of customers by the sandbox's controls.
    Leaves out calls that got no reply. A call without a time is played a second after the call before it."""
    steps = []
    at = opening
    for number, call in enumerate(calls, 1):
        operation = find_operation(call.method, call.path)
        is_act = operation == "callback" and call.path[1:2] == ("psu",) and call.path[2:3][0] in CONTROLS_OF_CUSTOMERS
        if not operation or (operation == "callback" and not is_act) or call.is_lost:
            continue
        at = max(at, call.began) if call.began is not None else at + timedelta(seconds=1)
        names = call.reply_names
        facts = read_facts(call.status, call.reply_headers, names, call.reply_body, call.address)
        steps.append(RecordedStep(number, call, at, operation, facts))
    return steps
