// A small client of the sandbox: the bank's interface as a TPP calls it, and the tester's controls.
import { createHash, randomBytes, randomUUID } from "node:crypto";

const KEY = process.env.SANDBOX_KEY;
const CALLBACK = "http://127.0.0.1:9000/callback";
export const SCT = "sepa-credit-transfers";

const base64url = (bytes) => bytes.toString("base64url");

export class Bank {
  /** A world of its own, frozen on a Monday morning; close() drops it. */
  static async begin(url, scenario) {
    const bank = new Bank(url, `node-${randomUUID()}`);
    const clock = { at: "2027-03-01T09:00", frozen: true };
    await bank.server("PUT", `/worlds/${bank.name}`, { clock, ...(scenario && { scenario }) });
    return bank;
  }

  constructor(url, name) {
    this.url = url;
    this.name = name;
    this.base = `${url}/worlds/${name}`;
  }

  close() {
    return this.server("DELETE", `/worlds/${this.name}`);
  }

  server(method, path, body) {
    return this.#send(`${this.url}/_sandbox${path}`, method, body);
  }

  /** One of the controls of this world. */
  control(method, path, body) {
    return this.#send(`${this.base}/_sandbox${path}`, method, body);
  }

  advance(span) {
    return this.control("POST", "/clock", { advance: span });
  }

  /** The errors of the client that the referee found, each with its rule. */
  async mistakes() {
    const { findings } = await this.control("GET", "/referee");
    return findings
      .filter((row) => row.severity === "error" && !row.waved_off)
      .map((row) => `${row.rule}: ${row.what}. ${row.instead}`);
  }

  /** Lets a rule of the referee pass in this test. */
  waive(rule, reason) {
    return this.control("PATCH", "/settings", { referee_waives: [`${rule}: ${reason}`] });
  }

  async #send(address, method, body) {
    const headers = { ...(KEY && { "X-Sandbox-Key": KEY }), ...(body && { "Content-Type": "application/json" }) };
    const reply = await fetch(address, { method, headers, body: body && JSON.stringify(body) });
    const content = reply.status === 204 ? null : await reply.json();
    if (!reply.ok) throw Object.assign(new Error(`${reply.status} ${content.error_description}`), { status: reply.status, ...content });
    return content;
  }

  /** A call of the bank's interface; the reply has status, headers and body. */
  async call(method, path, { version = 3, headers = {}, body } = {}) {
    const reply = await fetch(this.base + path, {
      method,
      headers: {
        Accept: `application/vnd.service.api+json; version=${version}`,
        "Accept-Language": "fr",
        "Client-ID": "demo-tpp",
        "Redirect-URI": CALLBACK,
        "Request-ID": randomUUID(),
        ...headers,
      },
      body,
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, body: text ? JSON.parse(text) : null };
  }

  /** Initiates a payment; what is given replaces fields of the body. */
  async pay(fields = {}, headers = {}) {
    const verifier = base64url(randomBytes(32));
    const body = JSON.stringify({
      creditor_account: { iban: "BE68539007547034" },
      creditor_name: "Jan Peeters",
      endtoend_identification: randomBytes(8).toString("hex"),
      instructed_amount: { amount: "12.50", currency: "EUR" },
      ...fields,
    });
    const reply = await this.call("POST", `/payments/${SCT}`, {
      body,
      headers: {
        "Content-Type": "application/json",
        "Code-Challenge-Method": "S256",
        "Code-Challenge": base64url(createHash("sha256").update(verifier).digest()),
        ...headers,
      },
    });
    return { ...reply, verifier, id: reply.body?.payment_id, address: reply.headers.get("Location") };
  }

  status(payment) {
    return this.call("GET", `/payments/${SCT}/${payment.id}/status`).then((reply) => reply.body);
  }

  /** The customer signs; the code of the callback, whose state must be ours. */
  async approve(payment, customer = "alice") {
    const state = base64url(randomBytes(16));
    const { redirect } = await this.control("POST", "/psu/approve", { address: `${payment.address}?state=${state}`, customer });
    const query = new URL(redirect).searchParams;
    if (query.get("state") !== state) throw new Error("the callback is not ours");
    return query.get("code");
  }

  /** The customer refuses. */
  refuse(payment, customer = "alice") {
    const address = `${payment.address}?state=${base64url(randomBytes(16))}`;
    return this.control("POST", "/psu/refuse", { address, customer });
  }

  async token(payment, code) {
    const reply = await this.call("POST", "/token", {
      headers: {
        Authorization: `Basic ${Buffer.from("demo-tpp:demo-secret").toString("base64")}`,
        "Content-Type": "application/x-www-form-urlencoded",
      },
      body: String(new URLSearchParams({ grant_type: "authorization_code", code, redirect_uri: CALLBACK, code_verifier: payment.verifier })),
    });
    return reply.body;
  }
}
