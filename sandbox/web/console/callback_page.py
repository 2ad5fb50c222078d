"""The callback page of a world, and the calls of the demo client that it leads to (choice 10)."""

from secrets import token_urlsafe

from flask import Response

from sandbox.bank.state import Bank
from sandbox.banking.pkce import EXAMPLE_CHALLENGE, EXAMPLE_VERIFIER, challenge_of
from sandbox.bulkfiles.samples import SAMPLES
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.fields import Frequency
from sandbox.contract.products import PRODUCTS
from sandbox.scenarios.well_known_values import values_of
from sandbox.web.api.addresses import DEMO_CLIENT, callback_of
from sandbox.web.console.calls import send
from sandbox.web.console.demo_tpp import STEPS, subject_of_state
from sandbox.web.console.next_steps import Next, after, of_callback, of_initiation
from sandbox.web.console.templating import draw
from sandbox.web.console.visits import ConsoleState, ConsoleVisit, Facts, keep_form

TEXT_MAX = 500  # characters of what an address brings that are shown
PARAMETERS = ("code", "state", "error", "error_description")
FREQUENCIES = ("MONTHLY", *(one.value for one in Frequency if one.value != "MONTHLY"))
MAKES = {"payment": "pay", "standing_order": "order", "bulk": "file"}
FORMS = ("pay", "order", "file")  # those of the page of forms that have fields
Check = tuple[bool | None, str]  # whether it holds, None where the page cannot know; and the sentence
WITHOUT_PKCE = ("token", "status", "details", "accounts", "transactions", "file")


def new(visit: ConsoleVisit) -> Facts:
    """Forms for a payment, a standing order, a file and a consent."""
    return {"products": tuple(PRODUCTS), "samples": SAMPLES, "frequencies": FREQUENCIES}


def values(visit: ConsoleVisit) -> Facts:
    """The well-known values of this world's scenario, each with a button that makes one."""
    return {"values": visit.world.ask(lambda bank: list(values_of(bank.rulebook.rules))), "steps": MAKES}


def callback(visit: ConsoleVisit) -> Facts:
    """What came back, what it means, and the call that follows."""
    args = visit.request.args
    given = [(name, value[:TEXT_MAX]) for name in PARAMETERS for value in args.getlist(name)]
    code, state = args.get("code", ""), args.get("state", "")
    subject = subject_of_state(visit.world, state) if state else None
    scope, client, challenge = visit.world.ask(_code, code)
    verifier = EXAMPLE_VERIFIER if challenge == EXAMPLE_CHALLENGE else visit.desk.verifiers.get(challenge)
    steps: list[Next] = []
    if code and client == DEMO_CLIENT:
        fields = {"code": code, "redirect_uri": callback_of(visit.request)}
        fields |= {} if verifier is None else {"verifier": verifier}
        steps = [of_callback(scope, subject, fields)]
    elif subject is not None and subject[0] != "consents":
        steps = of_initiation(visit, *subject)
    return {
        "given": given,
        "others": [name[:60] for name in args if name not in PARAMETERS][:20],
        "checks": checks(visit, subject, client, verifier),
        "subject": subject if subject and subject[0] != "consents" else None,
        "steps": steps,
        "refused": args.get("error", "")[:TEXT_MAX],
    }


def _code(bank: Bank, code: str) -> tuple[str, str | None, str]:
    """Scope, client and challenge of a code that the bank gave."""
    found = bank.codes.get(code)
    return ("", None, "") if found is None else (found.grant.scope, found.grant.client_id, found.challenge[1])


def new_challenge(desk: ConsoleState) -> str:
    verifier = token_urlsafe(48)
    challenge = challenge_of("S256", verifier)
    desk.verifiers.keep(challenge, verifier)
    return challenge


def call(visit: ConsoleVisit) -> Response:
    """Makes a call as the demo client, and shows the reply with what follows."""
    step = STEPS.get(visit.path["step"])
    if step is None:
        raise Refusal(Error.NOT_FOUND, input="call")
    name, form = visit.path["step"], visit.request.form
    asked = step(visit, form, "" if name in WITHOUT_PKCE else new_challenge(visit.desk))
    try:
        answer = send(visit, visit.desk.bank_app, asked)
    except ValueError:  # a line break in a header
        raise Refusal(Error.CONTROL_INVALID, input="form", why="a field has characters that no header takes") from None
    steps = after(visit, name, form, answer)
    if name in FORMS and not answer.is_success:
        page = visit.to("/console/new", notice=keep_form(visit))
        steps = [Next("Change it", "The form with what you typed.", link=page)]
    return draw(visit, "answer", call=asked, answer=answer, steps=steps)


def checks(
    visit: ConsoleVisit, subject: tuple[str, str] | None, client: str | None, verifier: str | None
) -> list[Check]:
    """What a TPP checks before it goes on (service 5.2, 5.3)."""
    args, found = visit.request.args, list[Check]()
    states = args.getlist("state")
    if not states:
        found.append((False, "No state came back. Append `state` to the address that the customer opens."))
    elif len(states) > 1:
        found.append((False, "The state came back twice."))
    elif subject is not None:
        found.append((True, "The state is the one that the console gave to this address."))
    else:
        found.append((None, "The console did not make this state. Compare it with the one that you appended."))
    if "error" in args:
        found.append((None, "The customer refused, or the bank did. No code comes with an error."))
    elif not args.get("code"):
        found.append((None, "No code came back: the initiation carried an access token, or it was a file."))
    elif client is None:
        found.append((False, "This bank did not give this code."))
    elif client != DEMO_CLIENT:
        found.append((None, f"The code belongs to {client}, whose secret the console does not know."))
    elif verifier is None:
        found.append((None, "Your code_verifier is needed for the next call: you made the challenge yourself."))
    else:
        found.append((True, "This bank gave the code, and the verifier of its challenge is known."))
    return found
