"""Pays, reads and cancels with the clients that openapi-generator wrote for Python. Their folders are on the path."""

import json
import sys
from uuid import uuid4

import generated_bank as bank
import generated_controls as controls

FACTS = json.loads(sys.argv[1])
COMMON = {"accept_language": "fr", "client_id": "demo-tpp"}
PRODUCT = "sepa-credit-transfers"


def approve(address: str) -> str:
    """The customer's part, by the client of the controls."""
    with controls.ApiClient(controls.Configuration(host=FACTS["base"])) as line:
        wanted = controls.Approval(address=address, customer="alice")
        return str(controls.PSUApi(line).post_psu_approve(wanted).redirect)


def main() -> None:
    settings = bank.Configuration(host=FACTS["base"], username="demo-tpp", password="demo-secret")
    with bank.ApiClient(settings) as line:
        payments, tokens = bank.SinglePaymentsApi(line), bank.ConsentAndTokensApi(line)
        order = bank.SepaPayment(
            creditor_account=bank.SepaPaymentCreditorAccount(iban="BE68539007547034"),
            creditor_name="Jan Peeters",
            endtoend_identification="GENERATED-1",
            instructed_amount=bank.SepaPaymentInstructedAmount(amount="12.50", currency="EUR"),
            requested_execution_date="2027-03-15",
        )
        made = payments.payment_initiation_sepa_credit_transfers(
            request_id=uuid4(),
            redirect_uri=FACTS["redirect_uri"],
            code_challenge_method="S256",
            code_challenge=FACTS["challenge"],
            sepa_initiation=bank.SepaInitiation(order),
            **COMMON,
        )
        callback = approve(made.links.sca_redirect.href)
        pair = tokens.token(
            request_id=uuid4(),
            grant_type="authorization_code",
            code=callback.partition("code=")[2].partition("&")[0],
            redirect_uri=FACTS["redirect_uri"],
            code_verifier=FACTS["verifier"],
        )
        settings.access_token = pair.access_token
        known = {"payment_product": PRODUCT, "payment_id": made.payment_id, **COMMON}
        details = payments.payment_details(request_id=uuid4(), **known)
        payments.payment_cancellation(request_id=uuid4(), **known)
        status = payments.payment_status(request_id=uuid4(), **known)
        try:
            payments.payment_cancellation(request_id=uuid4(), **known)
        except bank.ApiException as error:
            refused = [error.status, json.loads(error.body)["error"]]
    told = [made.status, details.psu_name, details.instructed_amount.amount, status.status, refused]
    sys.stdout.write(json.dumps(told))


main()
