// Attaches to the sandbox at SANDBOX_URL, or starts one on a free port; gives each test a bank of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, afterEach, before, beforeEach } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Bank } from "./bank.mjs";

const PATIENCE = { start: 60_000, health: 10_000 }; // milliseconds

/** The address of a sandbox that is ready, and the process that serves it if it was started here. */
async function start() {
  let url = process.env.SANDBOX_URL;
  let server;
  if (!url) {
    server = spawn(process.env.BANK_SANDBOX ?? "bank-sandbox", ["serve", "--port", "0", "--log", "off"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(server, "spawn"); // rejects if there is no such program
    url = await listeningAddress(server);
  }
  try {
    await ready(url);
  } catch (error) {
    server?.kill();
    throw error;
  }
  return { url, server };
}

async function listeningAddress(server) {
  const giveUp = setTimeout(() => server.kill(), PATIENCE.start);
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      if (line.startsWith("listening on ")) return line.slice("listening on ".length);
    }
  } finally {
    clearTimeout(giveUp);
    server.stdout.resume(); // a full pipe would stop the server
  }
  throw new Error("the sandbox ended before it listened");
}

async function ready(url) {
  for (const end = Date.now() + PATIENCE.health; ; await pause(50)) {
    const reply = await fetch(`${url}/_sandbox/health`).catch((error) => error);
    if (reply.ok) return;
    if (Date.now() > end) throw new Error(`no sandbox answers at ${url}`, { cause: reply });
  }
}

/**
 * Gives each test of the file `sandbox.bank`, and drops it afterwards. A test fails if the referee found an error of the
 * client; `sandbox.bank.waive(rule, reason)` lets a rule pass.
 */
export function useSandbox({ scenario } = {}) {
  const sandbox = {};
  let url, server;
  before(async () => {
    ({ url, server } = await start());
  });
  beforeEach(async () => {
    sandbox.bank = await Bank.begin(url, scenario);
  });
  afterEach(async () => {
    const mistakes = await sandbox.bank.mistakes().finally(() => sandbox.bank.close());
    if (mistakes.length) throw new Error(`the referee found: ${mistakes.join("; ")}`);
  });
  after(async () => {
    if (server?.kill()) await once(server, "exit");
  });
  return sandbox;
}
