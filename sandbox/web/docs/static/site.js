// Searches the pages without a server: every word must stand in a page; titles count more.
"use strict";
(() => {
  const field = document.getElementById("q");
  const list = document.getElementById("found");
  const { base, suffix } = document.body.dataset;
  const rows = (window.SEARCH_INDEX || []).map(([slug, title, text]) => ({ slug, title, low: `${title} ${text}`.toLowerCase(), text }));

  const look = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.replaceChildren();
    if (!words.length) return;
    const fitting = rows.filter((row) => words.every((word) => row.low.includes(word)));
    const rank = (row) => words.filter((word) => row.title.toLowerCase().includes(word)).length;
    fitting.sort((one, other) => rank(other) - rank(one));
    for (const row of fitting.slice(0, 12)) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = `${base}${row.slug}${suffix}`;
      link.textContent = row.title;
      item.append(link);
      list.append(item);
    }
    if (!fitting.length) {
      const none = document.createElement("li");
      none.textContent = "Nothing found.";
      list.append(none);
    }
  };

  field.addEventListener("input", look);
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = list.querySelector("a");
    if (first) location.href = first.href;
  });
})();
