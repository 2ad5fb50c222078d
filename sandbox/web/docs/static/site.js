// The search, which needs no server: every word must stand in a page or a choice, and titles count more. The menu of
// phones.
(() => {
  const field = document.getElementById("q");
  const list = document.getElementById("found");
  const menuButton = document.getElementById("menu-button");
  const { base, suffix, oldAnchors } = document.body.dataset;
  const AROUND = 60; // characters of a page on each side of a word that was found

  // The choices were on this page before: an old link to one leads to where it is now.
  if (oldAnchors && location.hash && !document.getElementById(location.hash.slice(1))) {
    location.replace(oldAnchors + location.hash);
  }

  menuButton.addEventListener("click", () => {
    const opens = menuButton.getAttribute("aria-expanded") === "false";
    menuButton.setAttribute("aria-expanded", String(opens));
  });

  // The search

  let loading = null;
  const rows = () => {
    loading ??= new Promise((done, fail) => {
      const script = document.createElement("script");
      script.src = `${base}static/search-index.js`;
      script.addEventListener("load", () =>
        done(window.SEARCH_INDEX.map(([slug, anchor, title, text]) => ({ slug, anchor, title, text, low: `${title} ${text}`.toLowerCase() }))));
      script.addEventListener("error", fail);
      document.head.append(script);
    });
    return loading;
  };

  const itemOf = (row, words) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = `${base}${row.slug}${suffix}${row.anchor && `#${row.anchor}`}`;
    link.textContent = row.title;
    const at = row.text.toLowerCase().indexOf(words[0]);
    const around = document.createElement("small");
    around.textContent = at < 0 ? "" : `… ${row.text.slice(Math.max(0, at - AROUND), at + AROUND)} …`;
    item.append(link, around);
    return item;
  };

  const look = async () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return list.replaceChildren();
    const all = await rows();
    const fitting = all.filter((row) => words.every((word) => row.low.includes(word)));
    const rank = (row) => words.filter((word) => row.title.toLowerCase().includes(word)).length;
    fitting.sort((one, other) => rank(other) - rank(one));
    list.replaceChildren(...fitting.slice(0, 12).map((row) => itemOf(row, words)));
    if (!fitting.length) {
      const none = document.createElement("li");
      none.textContent = "Nothing found.";
      list.append(none);
    }
  };

  field.addEventListener("focus", rows, { once: true });
  field.addEventListener("input", look);
  field.form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await look();
    const first = list.querySelector("a");
    if (first) location.href = first.href;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea")) return;
    event.preventDefault();
    field.focus();
  });
  look();
})();
