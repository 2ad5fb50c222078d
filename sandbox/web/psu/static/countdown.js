// Counts down to the end of an address. The server wrote how much bank time is left, and how fast the bank's clock runs.
"use strict";

const ends = document.getElementById("ends");
const rate = ends ? Number(ends.dataset.rate) : 0;

if (rate > 0) {
  const opened = performance.now();
  const shown = ends.querySelector("b");
  const tick = () => {
    const left = Math.ceil(Number(ends.dataset.left) - ((performance.now() - opened) / 1000) * rate);
    if (left > 0) {
      shown.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    } else {
      ends.textContent = ends.dataset.over;
      clearInterval(timer);
    }
  };
  const timer = setInterval(tick, 1000);
}
