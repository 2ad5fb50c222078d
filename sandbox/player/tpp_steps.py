"""The steps of a TPP, which the reference client performs."""

from datetime import date
from typing import Any

from sandbox.bulkfiles.samples import SAMPLES, fill_sample
from sandbox.client import Flow, Initiation, PathKind, Reference, Tokens, code_from
from sandbox.client.bodies import SCT
from sandbox.client.transport import CONSENT_VERSIONS, VERSIONS, ClientReply, query_text, segment
from sandbox.player import orders
from sandbox.player.orders import Content
from sandbox.player.stage import Capture, ScenarioContext, ScriptFault


def pay(stage: ScenarioContext, content: Content) -> Capture:
    return _initiate(stage, content, PathKind.PAYMENT, orders.make_payment(stage, content))


def order(stage: ScenarioContext, content: Content) -> Capture:
    return _initiate(stage, content, PathKind.STANDING_ORDER, orders.make_standing_order(stage, content))


def _initiate(stage: ScenarioContext, content: Content, kind: PathKind, body: Content) -> Capture:
    tpp, product, version = stage.find_tpp(content.get("client")), content.get("product", SCT), content.get("version")
    token, resends = stage.choose_access_token(content), _is_sent_again(content)
    initiation = tpp.initiate(product, body, token, kind=kind, version=version, resend=resends)
    return Capture(initiation.reply, tpp.caller.client_id, initiation, initiation.sca_address, initiation.flow)


def file(stage: ScenarioContext, content: Content) -> Capture:
    """Sends a bulk file: a shipped sample (`sample`), a text (`content`), or else a csv made of `transfers`. Raises
    ScriptFault if there is no such sample."""
    product, file_content = "csv", None
    if "sample" in content:
        name = content["sample"]
        if name not in SAMPLES:
            raise ScriptFault(f"{name!r} is no sample file: `bank-sandbox bulk samples` lists them")
        product = "csv" if name.endswith(".csv") else "pain.001"
        file_content = fill_sample(name, date.fromisoformat(stage.fill("{today}")))
    elif "content" in content:
        file_content = str(content["content"]).encode()
        product = "pain.001" if file_content.lstrip().startswith(b"<") else "csv"
    else:
        file_content = orders.write_csv(stage, content)
    tpp = stage.find_tpp(content.get("client"))
    reference = content.get("payment_information_id")
    initiation = tpp.send_file(file_content, content.get("product", product), reference, resend=_is_sent_again(content))
    return Capture(initiation.reply, tpp.caller.client_id, initiation, None, initiation.flow)


def _is_sent_again(content: Content) -> bool:
    """Whether the client sends the same call again after a lost reply. True unless the step says `resend: false`."""
    return bool(content.get("resend", True))


def status(stage: ScenarioContext, content: Content) -> Capture:
    """Asks for the status of an initiation. If the reply has an address for signing (the reply about a bulk file can
    have one), stores it in the capture of the initiation."""
    capture, initiation = stage.find_initiated(content.get("of"))
    tpp = stage.find_tpp(content.get("client", capture.client))
    reply = tpp.status(_find_reference(initiation, content), stage.choose_access_token(content))
    capture.address = reply.sca_address or capture.address
    capture.flow = reply.flow or capture.flow
    return Capture(reply.reply, tpp.caller.client_id, initiation, capture.address, capture.flow)


def details(stage: ScenarioContext, content: Content) -> ClientReply:
    return _call_on_initiation(stage, content, "details", "GET", "/details")


def cancel(stage: ScenarioContext, content: Content) -> ClientReply:
    return _call_on_initiation(stage, content, "cancellation", "DELETE")


def _call_on_initiation(stage: ScenarioContext, content: Content, verb: str, method: str, end: str = "") -> ClientReply:
    """Calls an operation on a captured initiation, as the client `client` with the token `token`. Without these words,
    calls as the client and with the tokens of the capture."""
    capture, initiation = stage.find_initiated(content.get("of"))
    target = _find_reference(initiation, content)
    tpp = stage.find_tpp(content.get("client", capture.client))
    token, version = stage.choose_access_token(content, capture), VERSIONS[target.operation(verb)]
    return tpp.caller.call(method, f"{target.path}{end}", version, token=token, query=target.query)


def _find_reference(initiation: Initiation, content: Content) -> Reference:
    if not content.get("external"):
        return initiation.reference
    if initiation.external_id is None:
        raise ScriptFault("it was sent without a reference of its own")
    return initiation.external


def consent(stage: ScenarioContext, content: Content) -> Capture:
    """Asks for consent addresses. With `customer`, this customer also approves, and the code is exchanged for tokens.
    Raises ScriptFault for a scope other than AIS and CAF."""
    scope = content.get("scope") or "AIS"
    if scope not in CONSENT_VERSIONS:
        raise ScriptFault(f"{scope!r} is no scope of a consent: AIS or CAF")
    tpp = stage.find_tpp(content.get("client"))
    iban = stage.find_iban(content["iban"]) if "iban" in content else None
    addresses = tpp.consent_addresses(scope, iban)
    capture = Capture(addresses.reply, tpp.caller.client_id, None, addresses.address, addresses.flow)
    if "customer" in content:
        accounts = [stage.find_iban(name) for name in content.get("accounts") or [content.get("account")] if name]
        capture.callback = stage.controls.psu.approve(addresses.address, content["customer"], None, accounts or None)
        capture.tokens = tpp.tokens_from(capture.callback, addresses.flow)
        capture.reply = capture.tokens.reply
    return capture


def token(stage: ScenarioContext, content: Content) -> Capture:
    """Exchanges the code of a callback for tokens. `of` names the step from which the customer came back, such as an
    initiation or a consent. Each step has a capture: its results, for later steps. Stores the tokens in the capture of
    the step `of`, and returns the capture of the step `token` itself, with the same tokens. Raises ScriptFault if no
    customer came back from the step `of`."""
    capture = stage.capture(content.get("of"))
    tpp = stage.find_tpp(content.get("client", capture.client))
    flow = capture.flow
    if flow is None or capture.callback is None:
        raise ScriptFault(f"no customer came back from {content.get('of')!r}: there is a step `psu: {{approves: ...}}`")
    code = content.get("code") or code_from(capture.callback, flow)
    uri, verifier = content.get("redirect_uri", flow.redirect_uri), content.get("code_verifier", flow.verifier)
    tokens = tpp.exchange(code, Flow(flow.scope, uri, verifier, flow.state), content.get("version"))
    capture.tokens = tokens
    return Capture(tokens.reply, tpp.caller.client_id, None, None, flow, capture.callback, tokens, capture.logical_ids)


def refresh(stage: ScenarioContext, content: Content) -> Capture:
    """Refreshes the tokens in the capture of the step `of`, and returns the capture of the step `refresh` itself, with
    the new tokens. A capture holds the results of a step for later steps. Unless `keep_old` is true, the new tokens
    also replace the old ones in the capture of the step `of`."""
    capture, tokens = stage.find_with_tokens(content.get("of"))
    tpp = stage.find_tpp(content.get("client", capture.client))
    newer = tpp.refresh(tokens, content.get("scope"), content.get("version"))
    refreshed = Capture(newer.reply, tpp.caller.client_id, None, None, capture.flow, None, newer, capture.logical_ids)
    if not content.get("keep_old"):
        capture.tokens = newer
    return refreshed


def accounts(stage: ScenarioContext, content: Content) -> ClientReply:
    capture, _ = stage.find_with_tokens(content.get("of"))
    tpp = stage.find_tpp(content.get("client", capture.client))
    return tpp.caller.call("GET", "/accounts", VERSIONS["accounts"], token=stage.choose_access_token(content, capture))


def account(stage: ScenarioContext, content: Content) -> ClientReply:
    return _read(stage, content, "account", "", {})


QUERY = ("date_from", "date_to", "psu_involved", "pagesize", "next", "currency")


def transactions(stage: ScenarioContext, content: Content) -> ClientReply:
    """Reads transactions. `sca` is the SCA token to send, by default that of the consent. Null sends none."""
    query = query_text({name: content.get(name) for name in QUERY})
    return _read(stage, content, "transactions", "/transactions", query)


def _read(stage: ScenarioContext, content: Content, operation: str, end: str, query: dict[str, str]) -> ClientReply:
    capture, tokens = stage.find_with_tokens(content.get("of"))
    tpp = stage.find_tpp(content.get("client", capture.client))
    sca = content.get("sca", True)
    sca_token = tokens.sca_token if sca is True else sca
    return tpp.caller.call(
        "GET",
        f"/accounts/{segment(find_logical_id(stage, capture, tokens, content.get('account')))}{end}",
        VERSIONS[operation],
        token=stage.choose_access_token(content, capture),
        query=query,
        extra={"SCA-Token": str(sca_token)} if end and sca_token else None,
    )


def find_logical_id(stage: ScenarioContext, capture: Capture, tokens: Tokens, name: Any) -> str:
    """Returns the logical id of the account `name`. Returns any other text unchanged, because it may be a
    logical id. Known are the accounts of the scenario's fixtures and those that a step added.

    A CAF consent has one account. Its logical id is returned for any known account, and if `name` is None. For other
    consents, raises ScriptFault if `name` is None, or if the consent does not cover the account."""
    if name is not None and not isinstance(name, str):
        raise ScriptFault("an account is a name, an IBAN or a logical-id")
    iban = None if name is None else stage.find_iban(name)
    if iban is not None and iban not in stage.people.accounts and iban not in stage.opened.values():
        return iban
    if tokens.logical_id is not None:
        return tokens.logical_id
    if iban is None:
        raise ScriptFault("say which account")
    if iban not in capture.logical_ids:
        tpp = stage.find_tpp(capture.client)
        capture.logical_ids |= {row.iban: row.logical_id for row in tpp.accounts(tokens)}
    if iban not in capture.logical_ids:
        raise ScriptFault(f"the consent has no account {name!r}")
    return capture.logical_ids[iban]


def call(stage: ScenarioContext, content: Content) -> ClientReply:
    """Makes any call with valid default headers. A path below /_sandbox goes to the controls."""
    method, path = str(content.get("method", "GET")), str(content.get("path", "/"))
    if path.startswith("/_sandbox"):
        return stage.controls.call(method, path.removeprefix("/_sandbox"), content.get("json"))
    tpp = stage.find_tpp(content.get("client"))
    body, media = orders.read_raw_body(content)
    return tpp.caller.call(
        method,
        path,
        content.get("version", 3),
        token=stage.choose_access_token(content),
        flow=None if "token" in content else tpp.caller.flow("PIS"),
        query=query_text(content.get("query") or {}),
        content=body,
        extra={"Content-Type": media} if media else None,
    )


VERBS = (pay, order, file, status, details, cancel, consent, token, refresh, accounts, account, transactions, call)
