// Fetches and refreshes tokens with oauth4webapi and with openid-client. Prints for each client what it got.
import { readFileSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";

const facts = JSON.parse(readFileSync(process.argv[2]));
const server = { issuer: facts.base, token_endpoint: `${facts.base}/token` };

// What the bank asks beyond OAuth (service 4.0).
const bankFetch = (url, init) => {
  const headers = new Headers(init.headers);
  headers.set("Request-ID", randomUUID());
  headers.set("Accept", "application/vnd.service.api+json; version=3");
  return fetch(url, { ...init, headers });
};

async function withOauth4webapi({ client_id, secret, callback }) {
  const client = { client_id };
  const proof = oauth.ClientSecretBasic(secret);
  const options = { [oauth.allowInsecureRequests]: true, [oauth.customFetch]: bankFetch };
  const params = oauth.validateAuthResponse(server, client, new URL(callback), oauth.expectNoState);
  const sent = await oauth.authorizationCodeGrantRequest(
    server, client, proof, params, facts.redirect_uri, facts.verifier, options,
  );
  const pair = await oauth.processAuthorizationCodeResponse(server, client, sent);
  const again = await oauth.refreshTokenGrantRequest(server, client, proof, pair.refresh_token, options);
  return oauth.processRefreshTokenResponse(server, client, again);
}

async function withOpenidClient({ client_id, secret, callback }) {
  const config = new openid.Configuration(server, client_id, {}, openid.ClientSecretBasic(secret));
  config[openid.customFetch] = bankFetch;
  openid.allowInsecureRequests(config);
  const pair = await openid.authorizationCodeGrant(config, new URL(callback), { pkceCodeVerifier: facts.verifier });
  return openid.refreshTokenGrant(config, pair.refresh_token);
}

const libraries = { oauth4webapi: withOauth4webapi, "openid-client": withOpenidClient };
const told = [];
for (const client of facts.clients) {
  try {
    const pair = await libraries[client.library](client);
    told.push({ scope: pair.scope, access_token: pair.access_token });
  } catch (error) {
    told.push({ error: String(error), status: error.status ?? error.cause?.status ?? null, why: error.error ?? null });
  }
}
writeFileSync(process.argv[3], JSON.stringify(told));
