// The search, which needs no server: every word must stand in a page or a choice, and titles count more. The menu of
// phones, buttons that copy code, and tabs of samples. Without this script all code is there to read.
"use strict";
(() => {
  const field = document.getElementById("q");
  const list = document.getElementById("found");
  const menuButton = document.getElementById("menu-button");
  const { base, suffix, oldAnchors } = document.body.dataset;
  const AROUND = 60; // characters of a page on each side of a word that was found
  const CHOSEN = "sample-language"; // where the browser keeps the language of samples that a reader chose

  // The choices were on this page before: an old link to one leads to where it is now.
  if (oldAnchors && location.hash && !document.getElementById(location.hash.slice(1))) {
    location.replace(oldAnchors + location.hash);
  }

  menuButton.addEventListener("click", () => {
    const opens = menuButton.getAttribute("aria-expanded") === "false";
    menuButton.setAttribute("aria-expanded", String(opens));
  });

  // Code

  const made = (name, attributes, text) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    return element;
  };

  const withCopy = (block) => {
    const box = made("div", { class: "code" });
    const button = made("button", { type: "button", class: "copy" }, "Copy");
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.textContent);
      document.getElementById("news").textContent = "Copied.";
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1200);
    });
    block.before(box);
    box.append(block, button);
  };

  const kept = (language) => {
    try { // a browser may forbid it
      if (language) localStorage.setItem(CHOSEN, language);
      return localStorage.getItem(CHOSEN);
    } catch {
      return language;
    }
  };

  // The details of a group become tabs. A choice holds for all groups that have the language, and for later pages.
  const choose = (language) => {
    for (const box of document.querySelectorAll(".tabs")) {
      const tabs = [...box.querySelectorAll("[role=tab]")];
      const chosen = tabs.find((tab) => tab.textContent === language);
      for (const tab of chosen ? tabs : []) {
        tab.setAttribute("aria-selected", String(tab === chosen));
        tab.tabIndex = tab === chosen ? 0 : -1;
        document.getElementById(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
      }
    }
  };

  const withTabs = (box, number) => {
    const list = made("div", { role: "tablist", "aria-label": "Language" });
    const panels = [...box.children].map((details, at) => {
      const tab = made("button", {
        type: "button", role: "tab", id: `tab-${number}-${at}`, "aria-controls": `sample-${number}-${at}`,
        "aria-selected": String(at === 0), tabindex: at ? "-1" : "0",
      }, details.querySelector("summary").textContent);
      tab.addEventListener("click", () => choose(kept(tab.textContent)));
      list.append(tab);
      const panel = made("div", { role: "tabpanel", id: `sample-${number}-${at}`, "aria-labelledby": tab.id });
      panel.append(...[...details.children].slice(1));
      panel.hidden = at > 0;
      return panel;
    });
    list.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      const tabs = [...list.children], at = tabs.indexOf(event.target);
      const next = tabs[(at + by + tabs.length) % tabs.length];
      next.focus();
      next.click();
    });
    box.replaceChildren(list, ...panels);
  };

  if (navigator.clipboard) document.querySelectorAll("main pre").forEach(withCopy);
  document.querySelectorAll(".tabs").forEach(withTabs);
  choose(kept());

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
