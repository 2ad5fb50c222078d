"""Rows of the controls that act as the customer, serve OAuth clients and list what happened."""

from marshmallow import fields

from sandbox.bank.records import METHODS
from sandbox.server_address import URL
from sandbox.web.controls.body_fields import SINCE, TextListField, address, body, given, one_of, query, reply, text
from sandbox.web.controls.control_row import Button, Command, Control, get, post
from sandbox.web.controls.scenario_rows import AFTER

PSU = {"address": f"{URL}/psu/sign/...", "customer": "alice"}
METHOD = one_of(
    *METHODS,
    allow_none=True,
    about="How the customer signs; refused where it is not activated or too risky (service 5.7). Left out: one that is "
    "permitted.",
    option="How they sign: card_reader, app or biometrics.",
)
APPROVAL = {
    "address": address(required=True, about="The SCA or consent address, with the state that the TPP appended."),
    "customer": text(
        allow_none=True,
        about="The first owner of the debtor account where left out.",
        option="Who; left out, the debtor account's first owner.",
    ),
    "account": text(
        allow_none=True,
        about="The IBAN of the debtor account that the customer picks.",
        option="The IBAN to pay from; left out, their first current account.",
    ),
    "accounts": TextListField(
        allow_none=True,
        about="The IBANs that the customer lets the TPP read.",
        option="The IBANs of a consent; may be given several times.",
    ),
    "method": METHOD,
}
# At an address, or of what waits in the bank's channel: the view asks for one of the two. The accounts are taken, not
# read: so the body of an approval fits.
REFUSAL = APPROVAL | {"address": address(), "payment_id": text(), "account": given(), "accounts": given()}

PSU_ROWS: tuple[Control, ...] = (
    post(
        "/psu/approve",
        "psu.approve",
        "Acts as the customer without a browser: signs, or consents. Replies the callback address.",
        body("Approval", **APPROVAL),
        PSU,
        command=Command(
            "psu approve", "Signs or consents at ADDRESS; prints where the customer is sent back to.", "{redirect}"
        ),
        buttons=(Button("approve", "Approved, as the PSU.", ("address", "customer", "account", "method")),),
        reply="Redirection",
    ),
    post(
        "/psu/refuse",
        "psu.refuse",
        "Acts as the customer, who refuses. Replies the callback address. With `payment_id` in place of `address`, a "
        "further signer refuses in the bank's own channel, and nobody is sent back: CANC, reason `PSU_REFUSED`.",
        body("Refusal", **REFUSAL),
        PSU,
        buttons=(Button("refuse", "Refused, as the PSU.", ("address", "payment_id", "customer")),),
        reply=("Redirection", "RefusedPayment"),
    ),
    post(
        "/psu/sign",
        "psu.sign",
        "A further signature, in the bank's own channel.",
        body(
            "FurtherSignature",
            payment_id=text(required=True),
            customer=text(required=True, option="Who signs."),
            method=METHOD,
        ),
        {"payment_id": "...", "customer": "griet"},
        command=Command("psu sign", "A further signature, in the bank's own channel.", "{status}"),
        buttons=(Button("sign", "Signed by {customer}."),),
        reply="SignedPayment",
    ),
    post(
        "/psu/withdraw",
        "psu.withdraw",
        "Withdraws a consent.",
        body(
            "ConsentWithdrawal",
            client_id=text(required=True),
            customer=text(required=True),
            scope=one_of("AIS", "CAF", required=True),
        ),
        {"client_id": "demo-tpp", "customer": "alice", "scope": "AIS"},
        buttons=(Button("withdraw", "The consent was withdrawn."),),
        reply=reply("Withdrawal", withdrawn=fields.Integer()),
    ),
    get(
        "/reference/countries",
        "initiations.countries",
        "The countries, currencies and purpose codes that cross-border payments may have.",
        reply="Countries",
    ),
    get(
        "/.well-known/oauth-authorization-server",
        "discovery.metadata",
        "The OAuth endpoints (RFC 8414), to point a stock OAuth client at. The bank itself has no such page. Its "
        "/token wants Request-ID and Accept, which the client has to add.",
        reply="OauthMetadata",
    ),
    get(
        "/authorize",
        "discovery.authorize",
        "The authorization endpoint of stock OAuth clients: leads the browser on to a consent address. Takes "
        "`response_type=code`, `client_id`, `redirect_uri`, `scope` (AIS, or CAF with `iban`), `code_challenge`, "
        "`code_challenge_method` and `state`.",
        query=query(
            client_id=text(required=True, about="The registered client."),
            redirect_uri=text(required=True, about="A callback that the client registered."),
            response_type=one_of("code", required=True, about="code"),
            scope=one_of("AIS", "CAF", about="AIS where left out."),
            iban=text(about="The account, for CAF only."),
            code_challenge=text(required=True, about="As RFC 7636 has it."),
            code_challenge_method=one_of("S256", "plain", about="plain where left out."),
            state=text(about="Comes back at the callback."),
        ),
        success=302,
    ),
    get(
        "/journal",
        "initiations.journal",
        f"Every change of a status, numbered. {AFTER}",
        query=SINCE,
        command=Command("journal", "Shows what changed.", columns="seq at subject trigger from to reason"),
        reply=["JournalEntry"],
    ),
    get(
        "/requests",
        "call_questions.requests",
        f"Every call of the bank's interface and its answer, numbered. {AFTER}",
        query=SINCE,
        reply=["ListedCall"],
    ),
)
