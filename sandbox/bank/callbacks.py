"""Makes the callback URL, to which a customer is redirected after approving or refusing (service 6.1). The decisions
about callbacks can change its parameters."""

from urllib.parse import quote, quote_plus, urlencode, urlsplit, urlunsplit

from sandbox.bank.state import Bank

MORE = (("iss", "https://bank.example"), ("session_state", "open"))
ALTERED = "another-state"


def make_callback_url(bank: Bank, uri: str, state: str | None, *, code: str | None = None) -> str:
    """Returns the URL to which a customer who agreed is redirected, with `code` if one is given. The decision
    `callback_code` may replace or repeat the code. If the decision `callback_outcome` is `both`, an error is added."""
    rows: list[tuple[str, str]] = []
    if code is not None:
        code_variant = bank.decisions.callback_code
        before, state = _replace_flow(bank, code, state)
        code_shown = {"foreign": code[::-1], "other_flow": before}.get(code_variant, code)
        rows += [("code", code_shown)] * (2 if code_variant == "twice" else 1)
    if bank.decisions.callback_outcome == "both":
        rows.append(("error", "server_error"))
    return _add_parameters(bank, uri, rows, state)


def _replace_flow(bank: Bank, code: str, state: str | None) -> tuple[str, str | None]:
    """Stores this code and state as those of the client's newest callback. Returns a code and a state.

    The code is that of the client's previous callback, or this code if there was none. The state is that of the
    previous callback if the decision `callback_state` is `other_flow` and this callback has a state. Otherwise it is
    this state.
    """
    client_id = bank.codes[code].grant.client_id if code in bank.codes else ""
    before = bank.flows.get(client_id, (code, state))
    bank.flows[client_id] = (code, state)
    return before[0], before[1] if state is not None and bank.decisions.callback_state == "other_flow" else state


def make_refusal_url(bank: Bank, uri: str, state: str | None, description: str) -> str:
    """Returns the URL to which a customer who refused is redirected. Returns an empty text if the bank redirects nobody
    after a refusal, because the decision `refusal_callback` is `none`."""
    if bank.decisions.refusal_callback == "none":
        return ""
    error = bank.decisions.callback_error
    return _add_parameters(bank, uri, [("error", error), ("error_description", description)], state)


def _add_parameters(bank: Bank, uri: str, rows: list[tuple[str, str]], state: str | None) -> str:
    """Returns the URL `uri` with `rows` and the state added to its query. The decision `callback_state` may change or
    drop the state. If the decision `callback_parameters` is `more`, further parameters are added."""
    if state is not None:
        match bank.decisions.callback_state:
            case "kept" | "other_flow":
                rows.append(("state", state))
            case "altered":
                rows.append(("state", ALTERED))
    if bank.decisions.callback_parameters == "more":
        rows.extend(MORE)
    parts = urlsplit(uri)
    more = urlencode(rows, quote_via=quote_plus if bank.decisions.callback_encoding == "plus" else quote)
    return urlunsplit(parts._replace(query=f"{parts.query}&{more}" if parts.query and more else parts.query or more))
