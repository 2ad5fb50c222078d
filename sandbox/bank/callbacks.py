"""Where a PSU is sent back to, as the axes of the callback say (service 6.1, contract/decisions)."""

from urllib.parse import quote, quote_plus, urlencode, urlsplit, urlunsplit

from sandbox.bank.state import Bank

MORE = (("iss", "https://bank.example"), ("session_state", "open"))
ALTERED = "another-state"


def callback_url(bank: Bank, uri: str, state: str | None, *, code: str | None = None) -> str:
    """The callback of a customer who agreed, with the state, and with a code if no access token was used."""
    rows: list[tuple[str, str]] = []
    if code is not None:
        decided = bank.decisions.callback_code
        before, state = _mix_up(bank, code, state)
        code_shown = {"foreign": code[::-1], "other_flow": before}.get(decided, code)
        rows += [("code", code_shown)] * (2 if decided == "twice" else 1)
    if bank.decisions.callback_outcome == "both":
        rows.append(("error", "server_error"))
    return _address(bank, uri, rows, state)


def _mix_up(bank: Bank, code: str, state: str | None) -> tuple[str, str | None]:
    """Where an axis says so, returns the code of the client's flow before this one, with the state of either flow."""
    client_id = bank.codes[code].grant.client_id if code in bank.codes else ""
    before = bank.flows.get(client_id, (code, state))
    bank.flows[client_id] = (code, state)
    return before[0], before[1] if state is not None and bank.decisions.callback_state == "other_flow" else state


def lead_back_refused(bank: Bank, uri: str, state: str | None, description: str) -> str:
    """The callback of a customer who refused. Empty where an axis says that there is none."""
    if bank.decisions.refusal_callback == "none":
        return ""
    error = bank.decisions.callback_error
    return _address(bank, uri, [("error", error), ("error_description", description)], state)


def _address(bank: Bank, uri: str, rows: list[tuple[str, str]], state: str | None) -> str:
    """The address with further parameters in its query."""
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
