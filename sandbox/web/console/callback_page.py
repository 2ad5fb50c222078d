"""Views of the callback page, of the pages on which a tester makes an initiation or asks for a consent, and of the demo
client's calls (choice 10)."""

from secrets import token_urlsafe

from flask import Response

from sandbox.bank.state import Bank
from sandbox.banking.pkce import EXAMPLE_CHALLENGE, EXAMPLE_VERIFIER, compute_challenge
from sandbox.bulkfiles.samples import SAMPLES
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.fields import Frequency
from sandbox.contract.products import PRODUCTS
from sandbox.scenarios.well_known_values import list_values
from sandbox.web.api.addresses import DEMO_CLIENT
from sandbox.web.console.calls import call_bank
from sandbox.web.console.demo_tpp import (
    INITIATIONS,
    STEPS,
    NextStep,
    find_subject_of_state,
    list_next_steps,
    list_steps,
)
from sandbox.web.console.templating import draw
from sandbox.web.console.visits import ConsoleVisit, Facts

CALLS_LOOKED_AT = 20  # the last calls, among which the call that was just made is looked for
TEXT_MAX = 500  # characters of what an address brings that are shown
PARAMETERS = ("code", "state", "error", "error_description")
FREQUENCIES = ("MONTHLY", *(frequency.value for frequency in Frequency if frequency.value != "MONTHLY"))
MAKES = {"payment": "pay", "standing_order": "order", "bulk": "file"}
WITH_PKCE = ("pay", "order", "consent")
Check = tuple[bool | None, str]  # whether it holds, None where the page cannot know; and the sentence


def new(visit: ConsoleVisit) -> Facts:
    """Returns the values for the page with forms for a payment, a standing order, a file and a consent."""
    return {"products": tuple(PRODUCTS), "samples": SAMPLES, "frequencies": FREQUENCIES}


def values(visit: ConsoleVisit) -> Facts:
    """Returns the well-known values of this world's scenario. A well-known value is a name or a reference in an
    initiation that makes the bank behave in a special way. The page has a button for each value, which makes an
    initiation with that value."""
    return {"values": visit.world.ask(lambda bank: list(list_values(bank.rulebook.rules))), "steps": MAKES}


def call(visit: ConsoleVisit) -> Response:
    """Makes the call that the path names as `step`, as the demo client, and returns a page with the reply and the next
    steps. If the bank refuses the call, the next step is to read why. If the refused call is an initiation, another
    step is to change what was typed in its form.

    Raises Refusal for an unknown step, and for a text that cannot be sent in a header.
    """
    name, form = visit.path["step"], visit.request.form
    if name not in STEPS:
        raise Refusal(Error.NOT_FOUND, input="call")
    challenge = ""
    if name in WITH_PKCE:
        verifier = token_urlsafe(48)
        challenge = compute_challenge("S256", verifier)
        visit.state.verifiers.keep(challenge, verifier)
    api_call = STEPS[name](visit, form, challenge)
    try:
        reply = call_bank(visit, api_call)
    except ValueError:
        raise Refusal(Error.CONTROL_INVALID, input="form", why="a field has characters that no header takes") from None
    steps = list_next_steps(visit, name, form, reply)
    if not reply.is_success:
        last = visit.world.calls.list_after(visit.world.calls.made - CALLS_LOOKED_AT)
        refused = next((call.seq for call in reversed(last) if call.request_id == reply.request_id), None)
        page = visit.to(f"/console/calls/{refused}" if refused else "/console/calls")
        steps = [NextStep("See why", "The rule, its clause, and what would succeed.", link=page)]
    if name in INITIATIONS and not reply.is_success:
        page = visit.to("/console/new", notice=visit.keep_form())
        steps += [NextStep("Change it", "The form with what you typed.", link=page)]
    return draw(visit, "answer", call=api_call, answer=reply, steps=steps)


def callback(visit: ConsoleVisit) -> Facts:
    """Returns the values for the callback page: the parameters that came back from the bank, the checks that a TPP
    makes on them, and the next steps. If there is a code of the demo client, the next step is to exchange it for
    tokens. Otherwise, if `state` belongs to an initiation, the steps are those of the initiation."""
    args = visit.request.args
    code, state = args.get("code", ""), args.get("state", "")
    subject = find_subject_of_state(visit.world, state) if state else None
    initiation = subject if subject and subject[0] != "consents" else None
    scope, client, challenge = visit.world.ask(_read_code, code)
    verifier = EXAMPLE_VERIFIER if challenge == EXAMPLE_CHALLENGE else visit.state.verifiers.get(challenge)
    steps: list[NextStep] = []
    if code and client == DEMO_CLIENT:
        kind, name = subject or ("", "")
        fields = {"code": code, "redirect_uri": visit.callback} | ({"verifier": verifier} if verifier else {})
        content_name = "the payment's details" if scope == "PIS" else "the accounts"
        steps = [
            NextStep(
                "Exchange the code for tokens",
                f"The code buys tokens once, within minutes. They open {content_name}.",
                step="token",
                fields=fields | {"kind": kind, "id": name},
                asks="" if verifier else "verifier",
            )
        ]
    elif initiation is not None:
        steps = list_steps(visit, *initiation)
    return {
        "given": [(name, value[:TEXT_MAX]) for name in PARAMETERS for value in args.getlist(name)],
        "others": [name[:60] for name in args if name not in PARAMETERS][:20],
        "checks": [_check_state(args.getlist("state"), subject), _check_code(visit, client, verifier)],
        "subject": initiation,
        "steps": steps,
        "refused": args.get("error", "")[:TEXT_MAX],
    }


def _read_code(bank: Bank, code: str) -> tuple[str, str | None, str]:
    """Returns scope, client and PKCE challenge of an authorization code. If the bank did not issue the code, scope and
    challenge are empty, and the client is None."""
    record = bank.codes.get(code)
    return ("", None, "") if record is None else (record.grant.scope, record.grant.client_id, record.challenge[1])


# What a TPP checks before it goes on (service 5.2, 5.3)


def _check_state(states: list[str], subject: tuple[str, str] | None) -> Check:
    if not states:
        return False, "No state came back. Append `state` to the address that the customer opens."
    if len(states) > 1:
        return False, "The state came back twice."
    if subject is not None:
        return True, "The state is the one that the console gave to this address."
    return None, "The console did not make this state. Compare it with the one that you appended."


def _check_code(visit: ConsoleVisit, client: str | None, verifier: str | None) -> Check:
    if "error" in visit.request.args:
        return None, "The customer refused, or the bank did. No code comes with an error."
    if not visit.request.args.get("code"):
        return None, "No code came back: the initiation carried an access token, or it was a file."
    if client is None:
        return False, "This bank did not give this code."
    if client != DEMO_CLIENT:
        return None, f"The code belongs to {client}, whose secret the console does not know."
    if verifier is None:
        return None, "Your code_verifier is needed for the next call: you made the challenge yourself."
    return True, "This bank gave the code, and the verifier of its challenge is known."
