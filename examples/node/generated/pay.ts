// Pays, reads and cancels with the client that openapi-generator wrote; ends with 1 where the bank answers otherwise.
import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { AxiosError } from "axios";
import {
  Configuration,
  ConsentAndTokensApi,
  PaymentDetailsPaymentProductEnum,
  SinglePaymentsApi,
  TokenGrantTypeEnum,
  type PaymentCancellation403Response,
} from "./client/index.js";
import { Configuration as ControlsConfiguration, PSUApi, WorldsApi } from "./controls/index.js";

const server = process.env.SANDBOX_URL ?? "http://127.0.0.1:8080";
const world = `generated-${randomUUID()}`;
const base = `${server}/worlds/${world}`;
const redirectURI = "http://127.0.0.1:9000/callback";
const apiKey = process.env.SANDBOX_KEY ?? "";
const worlds = new WorldsApi(new ControlsConfiguration({ basePath: server, apiKey }));
const psu = new PSUApi(new ControlsConfiguration({ basePath: base, apiKey }));

async function main(): Promise<void> {
  const settings = new Configuration({ basePath: base, username: "demo-tpp", password: "demo-secret" });
  const payments = new SinglePaymentsApi(settings);
  const caller = () => ({ requestID: randomUUID(), acceptLanguage: "fr", clientID: "demo-tpp" });
  const codeVerifier = randomBytes(32).toString("base64url");

  const { data: made } = await payments.paymentInitiationSepaCreditTransfers({
    ...caller(),
    redirectURI,
    codeChallengeMethod: "S256",
    codeChallenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    sepaInitiation: {
      creditor_account: { iban: "BE68539007547034" },
      creditor_name: "Jan Peeters",
      endtoend_identification: "GENERATED-NODE",
      instructed_amount: { amount: "12.50", currency: "EUR" },
      requested_execution_date: "2027-03-15",
    },
  });
  assert.ok("_links" in made); // version 3
  assert.equal(made.status, "RCVD");

  const address = made._links.sca_redirect!.href;
  const { data: callback } = await psu.postPsuApprove({ approval: { address, customer: "alice" } });
  const { data: tokens } = await new ConsentAndTokensApi(settings).token({
    requestID: randomUUID(),
    grantType: TokenGrantTypeEnum.AuthorizationCode,
    code: new URL(callback.redirect!).searchParams.get("code")!,
    redirectUri: redirectURI,
    codeVerifier,
  });
  settings.accessToken = tokens.access_token;

  const paymentProduct = PaymentDetailsPaymentProductEnum.SepaCreditTransfers;
  const payment = () => ({ ...caller(), paymentProduct, paymentId: made.payment_id });
  const { data: details } = await payments.paymentDetails(payment());
  assert.equal(details.instructed_amount.amount, "12.50");
  assert.equal(details.requested_execution_date, "2027-03-15");

  await payments.paymentCancellation(payment());
  assert.equal((await payments.paymentStatus(payment())).data.status, "CANC");

  const refusal = await payments.paymentCancellation(payment()).catch((error: unknown) => error);
  assert.ok(refusal instanceof AxiosError);
  assert.equal(refusal.status, 403);
  const why: PaymentCancellation403Response = refusal.response?.data;
  assert.equal(why.error, "NOT_CANCELLABLE");
}

await worlds.putWorldsName({ name: world, worldCreation: { clock: { at: "2027-03-01T09:00", frozen: true } } });
try {
  await main();
} finally {
  await worlds.deleteWorldsName({ name: world });
}
console.log("a payment was made, read, cancelled, and not cancelled twice");
