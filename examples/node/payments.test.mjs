// Ten tests of a TPP against the sandbox: node --test examples/node
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { beforeEach, test } from "node:test";
import { SCT } from "./bank.mjs";
import { useSandbox } from "./sandbox.mjs";

const sandbox = useSandbox();
let bank;
beforeEach(() => { bank = sandbox.bank; });

test("a payment is credited a minute after the signature", async () => {
  const payment = await bank.pay();
  assert.equal(payment.status, 201);
  await bank.approve(payment);
  const held = await bank.control("POST", "/await", { payment_id: payment.id, status: "ACSC", within: "5m" });
  assert.equal(held.waited, 60);
  assert.equal((await bank.status(payment)).status, "ACSC");
});

test("nobody signs, and the payment times out", async () => {
  const payment = await bank.pay();
  await bank.advance("61m");
  const { status, reason } = await bank.status(payment);
  assert.deepEqual([status, reason], ["CANC", "TIME_OUT"]);
});

test("the customer refuses", async () => {
  const payment = await bank.pay();
  await bank.refuse(payment);
  assert.equal((await bank.status(payment)).reason, "PSU_REFUSED");
});

test("an address expires after five minutes", async () => {
  const payment = await bank.pay();
  await bank.advance("5m");
  await assert.rejects(bank.approve(payment), { status: 410 });
});

test("the code of the callback buys tokens, once", async () => {
  const payment = await bank.pay();
  const code = await bank.approve(payment);
  assert.ok((await bank.token(payment, code)).access_token);
  await bank.waive("code-twice", "this test sends it twice");
  assert.equal((await bank.token(payment, code)).error, "FAILED_SECURITY_VALIDATION");
});

test("a lost reply is had again with the same Request-ID, and nothing is paid twice", async () => {
  const again = { "Request-ID": randomUUID(), "Code-Challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" };
  const fields = { endtoend_identification: "INVOICE-12" };
  const [first, second] = [await bank.pay(fields, again), await bank.pay(fields, again)];
  assert.equal(second.id, first.id);
  assert.equal((await bank.control("GET", "/payments")).payments.length, 1);
});

test("an amount of zero is refused with the bank's code", async () => {
  const { status, body } = await bank.pay({ instructed_amount: { amount: "0", currency: "EUR" } });
  assert.deepEqual([status, body.error_code], [400, "B14821ZZ-1231-000000"]);
});

test("a payment of tomorrow is cancelled by its customer's token", async () => {
  const payment = await bank.pay({ requested_execution_date: "2027-03-02" });
  const { access_token: token } = await bank.token(payment, await bank.approve(payment));
  const path = `/payments/${SCT}/${payment.id}`;
  const reply = await bank.call("DELETE", path, { version: 2, headers: { Authorization: `Bearer ${token}` } });
  assert.equal(reply.status, 204);
  assert.equal((await bank.status(payment)).status, "CANC");
});

test("a bank that is down is asked again after Retry-After", async () => {
  const when = { operation: "payment_status", nth: 1 };
  await bank.control("POST", "/faults", { when, answer: { status: 503, retry_after: 7 } });
  const payment = await bank.pay();
  const first = await bank.call("GET", `/payments/${SCT}/${payment.id}/status`);
  assert.deepEqual([first.status, first.headers.get("Retry-After")], [503, "7"]);
  await bank.advance("7s");
  assert.equal((await bank.call("GET", `/payments/${SCT}/${payment.id}/status`)).status, 200);
});

test("the referee fails a test whose client did wrong", async () => {
  await bank.pay({ endtoend_identification: "INVOICE-12" });
  assert.deepEqual(await bank.mistakes(), []);
  await bank.pay({ endtoend_identification: "INVOICE-12" });
  assert.match((await bank.mistakes()).join(), /^initiation-doubled: /);
  await bank.waive("initiation-doubled", "this test pays an invoice twice");
});
