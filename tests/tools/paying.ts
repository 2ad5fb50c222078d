// Pays, reads and cancels with the client that openapi-generator wrote for TypeScript.
import { readFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { AxiosError } from "axios";
import {
  Configuration,
  ConsentAndTokensApi,
  PaymentDetailsPaymentProductEnum,
  SinglePaymentsApi,
  TokenGrantTypeEnum,
} from "./client";

const facts = JSON.parse(readFileSync("facts.json", "utf8"));
const acceptLanguage = "fr";
const clientID = "demo-tpp";

// The customer's part, by a control.
async function approve(address: string): Promise<string> {
  const reply = await fetch(`${facts.base}/_sandbox/psu/approve`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ address, customer: "alice" }),
  });
  return ((await reply.json()) as { redirect: string }).redirect;
}

async function main(): Promise<void> {
  const settings = new Configuration({ basePath: facts.base, username: "demo-tpp", password: "demo-secret" });
  const payments = new SinglePaymentsApi(settings);
  const made = await payments.paymentInitiationSepaCreditTransfers({
    requestID: randomUUID(),
    acceptLanguage,
    clientID,
    redirectURI: facts.redirect_uri,
    codeChallengeMethod: "S256",
    codeChallenge: facts.challenge,
    sepaInitiation: {
      creditor_account: { iban: "BE68539007547034" },
      creditor_name: "Jan Peeters",
      endtoend_identification: "GENERATED-2",
      instructed_amount: { amount: "12.50", currency: "EUR" },
      requested_execution_date: "2027-03-15",
    },
  });
  if (!("_links" in made.data)) throw new Error("not version 3");
  const callback = new URL(await approve(made.data._links.sca_redirect!.href));
  const pair = await new ConsentAndTokensApi(settings).token({
    requestID: randomUUID(),
    grantType: TokenGrantTypeEnum.AuthorizationCode,
    code: callback.searchParams.get("code")!,
    redirectUri: facts.redirect_uri,
    codeVerifier: facts.verifier,
  });
  settings.accessToken = pair.data.access_token;
  const known = { paymentId: made.data.payment_id, acceptLanguage, clientID };
  const paymentProduct = PaymentDetailsPaymentProductEnum.SepaCreditTransfers;
  const details = await payments.paymentDetails({ ...known, requestID: randomUUID(), paymentProduct });
  await payments.paymentCancellation({ ...known, requestID: randomUUID(), paymentProduct });
  const status = await payments.paymentStatus({ ...known, requestID: randomUUID(), paymentProduct });
  let refused: unknown = null;
  try {
    await payments.paymentCancellation({ ...known, requestID: randomUUID(), paymentProduct });
  } catch (error) {
    const answer = (error as AxiosError<{ error: string }>).response!;
    refused = [answer.status, answer.data.error];
  }
  const { psu_name, instructed_amount } = details.data;
  console.log(JSON.stringify([made.data.status, psu_name, instructed_amount.amount, status.data.status, refused]));
}

main();
