// Swagger UI on the sandbox's own documents. It fills in what a browser cannot know: a fresh Request-ID for each call, and
// the version in Accept where an operation replies no body.
"use strict";

let ui = null;
const wanted = location.search.startsWith("?controls") ? "../controls.json" : "../openapi.json";

document.querySelector(`nav a[href="${location.search.startsWith("?controls") ? "?controls" : "?"}"]`).ariaCurrent = "page";

// A version 4 UUID. Browsers have crypto.randomUUID on https and on this machine only; getRandomValues is everywhere.
function freshId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function acceptOf(document, method, address) {
  for (const [path, operations] of Object.entries(document.paths)) {
    const shape = new RegExp(path.replace(/[.]/g, "\\.").replace(/{[^}]+}/g, "[^/]+") + "$");
    const operation = operations[method.toLowerCase()];
    if (operation && operation["x-accept"] && shape.test(address)) return operation["x-accept"][0];
  }
  return null;
}

// Refusals are most of the document, and the reference page has them: with their first line the page is there at once.
function slim(document) {
  for (const operations of Object.values(document.paths)) {
    for (const operation of Object.values(operations)) {
      for (const [status, reply] of Object.entries(operation.responses || {})) {
        if (Number(status) >= 400) {
          delete reply.content;
          delete reply.headers;
          reply.description = reply.description.split("\n")[0];
        }
      }
    }
  }
  return document;
}

// Swagger UI makes a link within each button that unfolds an operation, fields without names, and no h2.
const plain = () => ({
  wrapComponents: { DeepLink: (original, system) => ({ text }) => system.React.createElement("span", null, text) },
});
const LANDMARKS = { ".information-container": "About the interface", ".scheme-container": "Server and keys" };
const LABELS = { "#servers": "Server", ".body-param__text": "Body", ".content-type": "Content type" };
function label() {
  for (const [place, name] of Object.entries(LANDMARKS)) {
    for (const part of document.querySelectorAll(place)) {
      part.setAttribute("role", "region");
      part.setAttribute("aria-label", name);
    }
  }
  for (const heading of document.querySelectorAll("#trial :is(h3, h4, h5):not([aria-level])")) {
    heading.setAttribute("role", "heading");
    heading.setAttribute("aria-level", String(Number(heading.tagName[1]) - 1)); // there is no h2
  }
  for (const field of document.querySelectorAll("#trial :is(select, textarea, input):not([aria-label])")) {
    const place = Object.keys(LABELS).find((one) => field.matches(one));
    const row = field.closest("[data-param-name]");
    field.setAttribute("aria-label", place ? LABELS[place] : row ? row.dataset.paramName : "Value");
  }
}
new MutationObserver(label).observe(document.getElementById("trial"), { childList: true, subtree: true });

const show = (document) => (ui = SwaggerUIBundle({
  spec: slim(document),
  dom_id: "#trial",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [plain],
  requestInterceptor: (call) => {
    const document = ui && ui.specSelectors.specJson().toJS();
    if (!document || call.loadSpec || !document.paths || call.url.includes("/_sandbox/")) return call;
    call.headers["Request-ID"] = freshId();
    if (!/version=/.test(call.headers.Accept || call.headers.accept || "")) {
      const accept = acceptOf(document, call.method, new URL(call.url).pathname);
      delete call.headers.accept;
      if (accept) call.headers.Accept = accept;
    }
    return call;
  },
}));

fetch(wanted, { credentials: "same-origin" }).then((reply) => reply.json()).then(show);
