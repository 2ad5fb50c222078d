// From the metadata of a world to tokens, with openid-client and oauth4webapi.
import { readFileSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";

const facts = JSON.parse(readFileSync(process.argv[2]));
const controls = `${facts.base}/_sandbox`;
const metadata = `${controls}/.well-known/oauth-authorization-server`;
const bankFetch = (url, init) => {
  const headers = new Headers(init.headers);
  headers.set("Request-ID", randomUUID());
  headers.set("Accept", "application/vnd.service.api+json; version=3");
  return fetch(url, { ...init, headers });
};

// The customer's part: the browser follows the redirection, alice consents.
async function consent(address) {
  const led = await fetch(address, { redirect: "manual" });
  const reply = await fetch(`${controls}/psu/approve`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ address: led.headers.get("location"), customer: "alice" }),
  });
  return new URL((await reply.json()).redirect);
}

const config = await openid.discovery(
  new URL(metadata), "demo-tpp", {}, openid.ClientSecretBasic("demo-secret"),
  { execute: [openid.allowInsecureRequests] },
);
const pkceCodeVerifier = openid.randomPKCECodeVerifier();
const state = openid.randomState();
const address = openid.buildAuthorizationUrl(config, {
  redirect_uri: facts.redirect_uri,
  scope: "AIS",
  state,
  code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
  code_challenge_method: "S256",
});
const callback = await consent(address);
config[openid.customFetch] = bankFetch;
const pair = await openid.authorizationCodeGrant(config, callback, { pkceCodeVerifier, expectedState: state });

// oauth4webapi compares the issuer.
const found = await oauth.processDiscoveryResponse(new URL(controls), await fetch(metadata));
let refused = null;
try {
  await oauth.processDiscoveryResponse(new URL(`${controls}/other`), await fetch(metadata));
} catch (error) {
  refused = error.code;
}
writeFileSync(process.argv[3], JSON.stringify({ scope: pair.scope, token_endpoint: found.token_endpoint, refused }));
