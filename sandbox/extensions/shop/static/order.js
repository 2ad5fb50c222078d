// Asks the shop where the order stands, as often as the answer says, and not while nobody looks.
"use strict";
{
  const place = document.getElementById("state");
  const wait = () => {
    const after = place.firstElementChild?.dataset.after;
    if (after) setTimeout(ask, after * 1000);
  };
  const ask = async () => {
    if (document.hidden) {
      document.addEventListener("visibilitychange", ask, { once: true });
      return;
    }
    try {
      const answer = await fetch(place.dataset.from);
      if (answer.status === 404) return; // the shop began anew, and knows this order no more
      const told = answer.ok ? await answer.text() : "";
      if (told && told.trim() !== place.dataset.told) {
        place.dataset.told = told.trim();
        place.innerHTML = told;
      }
    } catch {
      // The shop is away; the next question may reach it.
    }
    wait();
  };
  wait();
}
