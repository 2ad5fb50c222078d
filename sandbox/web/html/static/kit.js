// Copy buttons, toasts, and tabs that remember what was chosen. Pages work without it.
"use strict";
const kit = (() => {
  const toast = document.createElement("p");
  toast.className = "toast";
  toast.setAttribute("role", "status");
  document.body.append(toast);
  let fading = 0;

  const say = (text) => {
    toast.textContent = text;
    clearTimeout(fading);
    fading = setTimeout(() => { toast.textContent = ""; }, 2500);
  };

  // A private window may have no storage.
  const stored = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  const store = (key, value) => { try { localStorage.setItem(key, value); } catch { /* it is only not remembered */ } };

  const ready = (root) => {
    for (const button of root.querySelectorAll("button.copy")) button.hidden = !navigator.clipboard;
    for (const tabs of root.querySelectorAll(".tabs[data-remember]")) {
      const value = stored(tabs.dataset.remember);
      for (const input of tabs.querySelectorAll(".tab-list input")) if (input.value === value) input.checked = true;
    }
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy ?? button.parentElement.querySelector("code").textContent);
    say("Copied.");
  });
  document.addEventListener("change", (event) => {
    const tabs = event.target.closest(".tab-list") && event.target.closest(".tabs[data-remember]");
    if (!tabs) return;
    store(tabs.dataset.remember, event.target.value);
    ready(document);
  });
  ready(document);
  return { say, ready };
})();
