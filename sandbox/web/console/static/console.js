// The page works without this. With it, open pages stay fresh.
(() => {
  const every = 1500;
  const body = document.body;
  const news = document.getElementById("news");
  let seen = null;

  // What a person is typing in, or has changed, is left alone.
  const busy = (region) =>
    [...region.querySelectorAll("input, select, textarea")].some(
      (field) =>
        field === document.activeElement ||
        (field.type !== "hidden" && field.tagName !== "SELECT" && field.value !== field.defaultValue) ||
        (field.tagName === "SELECT" && field.selectedOptions[0] && !field.selectedOptions[0].defaultSelected &&
          [...field.options].some((option) => option.defaultSelected)),
    );

  // A browser that knows no popovers shows none.
  const unfolded = (region) => CSS.supports("selector(:popover-open)") && region.querySelector(":popover-open");

  const replace = (old, fresh) => {
    if (old.innerHTML === fresh.innerHTML || busy(old) || unfolded(old)) return;
    const open = new Set([...old.querySelectorAll("details[open]")].map((one) => one.dataset.key));
    const focusable = "a, button, summary, [tabindex]";
    const at = [...old.querySelectorAll(focusable)].indexOf(document.activeElement);
    const scrolled = [...old.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
    old.className = fresh.className;
    old.innerHTML = fresh.innerHTML;
    for (const one of old.querySelectorAll("details")) one.open = open.has(one.dataset.key);
    old.querySelectorAll(".scroll").forEach((one, index) => { one.scrollLeft = scrolled[index] || 0; });
    if (at >= 0) old.querySelectorAll(focusable)[at]?.focus({ preventScroll: true });
    kit.ready(old);
  };

  const reread = async () => {
    const answer = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
    if (!answer.ok) return false;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const old of document.querySelectorAll("[data-live]")) {
      const match = fresh.getElementById(old.id);
      if (match) replace(old, match);
    }
    body.dataset.mark = fresh.body.dataset.mark;
    return true;
  };

  const look = async () => {
    if (document.hidden) return;
    const answer = await fetch(body.dataset.liveAt, { credentials: "same-origin", cache: "no-store" });
    if (!answer.ok) return;
    const live = await answer.json();
    const now = document.getElementById("now");
    now.textContent = live.now;
    now.dateTime = live.machine;
    if (!("fixed" in body.dataset) && live.mark !== body.dataset.mark) {
      await reread();
      if (seen) {
        const calls = live.calls - seen.calls, moves = live.moves - seen.moves;
        const told = [calls > 0 && `${calls} new calls`, moves > 0 && `${moves} changes of status`].filter(Boolean);
        if (told.length) news.textContent = `${told.join(", ")}.`;
      }
    }
    seen = live;
  };

  const tick = async () => {
    try {
      await look();
      body.classList.remove("away");
    } catch {
      body.classList.add("away");
    }
    setTimeout(tick, every);
  };

  // The timeline: the wheel zooms at the pointer, keys do as the links, and the new stretch replaces the old in place.
  let wanted = null;
  const show = async (address) => {
    history.replaceState(null, "", address);
    await reread();
  };
  const stretch = (box, begin, end) => {
    const page = new URL(location.href);
    page.searchParams.set("from", new Date(begin * 1000).toISOString());
    page.searchParams.set("until", new Date(end * 1000).toISOString());
    clearTimeout(wanted);
    wanted = setTimeout(() => show(page.href), 120);
    box.dataset.begin = begin;
    box.dataset.end = end;
  };
  document.addEventListener("wheel", (event) => {
    const box = event.target.closest?.(".timeline");
    if (!box || event.ctrlKey || !event.deltaY) return;
    event.preventDefault();
    const area = box.querySelector(".lane").getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - area.left) / area.width));
    const begin = +box.dataset.begin, end = +box.dataset.end;
    const at = begin + share * (end - begin), factor = event.deltaY > 0 ? 1.5 : 1 / 1.5;
    if ((end - begin) * factor < 1 || (end - begin) * factor > 9e9) return;
    stretch(box, at - (at - begin) * factor, at + (end - at) * factor);
  }, { passive: false });
  const ways = { "+": "Zoom in", "-": "Zoom out", ArrowLeft: "Earlier", ArrowRight: "Later", 0: "Whole" };
  document.addEventListener("keydown", (event) => {
    if (!event.target.matches?.(".timeline") || event.ctrlKey || event.altKey || event.metaKey) return;
    const link = ways[event.key] && document.querySelector(`#timeline [data-way="${ways[event.key]}"]`);
    if (!link) return;
    event.preventDefault();
    show(link.href);
  });

  // What a form would send is shown as it is typed.
  document.addEventListener("input", async (event) => {
    const steps = event.target.closest("[data-preview]");
    if (!steps) return;
    const form = steps.closest("form");
    const answer = await fetch(steps.dataset.preview, {
      method: "POST", body: new URLSearchParams(new FormData(form)), headers: { Accept: "application/json" },
    });
    if (answer.ok) form.querySelector("pre").textContent = await answer.text();
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.matches?.("input, select, textarea")) return;
    const field = document.querySelector(".search input");
    if (!field) return;
    event.preventDefault();
    field.focus();
  });

  // A picture that is wider than its panel shows where it stands now.
  for (const box of document.querySelectorAll(".scroll:has(> .states .now)")) {
    box.scrollLeft += box.querySelector(".now").getBoundingClientRect().right - box.getBoundingClientRect().right + 16;
  }
  if (document.getElementById("now")) setTimeout(tick, every);
})();
