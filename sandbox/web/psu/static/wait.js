// Asks whether an app was answered, and then opens the page again: the bank's answer, or what can be done now.
"use strict";

const EVERY = 2000; // ms
const waiting = document.getElementById("waiting");

if (waiting) {
  const ask = async () => {
    try {
      const reply = await fetch(waiting.dataset.asks, { cache: "no-store" });
      if (reply.ok && (await reply.text()) === "no") {
        location.replace(waiting.dataset.page);
        return;
      }
    } catch {
      // The bank cannot be reached for a moment.
    }
    setTimeout(ask, EVERY);
  };
  setTimeout(ask, EVERY);
}
