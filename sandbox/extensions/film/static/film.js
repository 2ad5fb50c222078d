"use strict";
(() => {
  const content = JSON.parse(document.getElementById("content").textContent);
  const frames = content.frames, subjects = content.subjects;
  const by = (id) => document.getElementById(id);
  const place = by("place"), lanes = by("lanes");
  const STEP = 26, LEFT = 84, ROWS = { tpp: 28, customer: 64, bank: 100 };
  const PLAY_MS = 900, CALLS_SHOWN = 4;
  let playing = null;

  const made = (name, text, className) => {
    const element = document.createElement(name);
    if (text !== undefined && text !== null) element.textContent = String(text);
    if (className) element.className = className;
    return element;
  };
  const drawn = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    lanes.append(element);
    return element;
  };
  const time = (at) => at.slice(0, 19).replace("T", " ");

  function drawLanes() {
    const width = LEFT + Math.max(frames.length, 1) * STEP + 20;
    lanes.setAttribute("width", width);
    lanes.setAttribute("height", 132);
    for (const [lane, y] of Object.entries(ROWS)) {
      drawn("line", { x1: LEFT - 10, x2: width, y1: y, y2: y });
      drawn("text", { x: 10, y: y + 4 }, { tpp: "TPP", customer: "Customer", bank: "Bank" }[lane]);
    }
    let day = "";
    frames.forEach((frame, number) => {
      const x = LEFT + number * STEP;
      if (frame.at.slice(0, 10) !== day) {
        day = frame.at.slice(0, 10);
        drawn("text", { x: x - 4, y: 126 }, day);
      }
      const dot = drawn("circle", { cx: x, cy: ROWS[frame.lane], r: 7 });
      dot.dataset.number = number;
      dot.classList.add(frame.lane);
      if (frame.status >= 400) dot.classList.add("refused");
      const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
      title.textContent = `${time(frame.at)}  ${frame.title}`;
      dot.append(title);
      dot.addEventListener("click", () => show(number));
    });
    drawn("line", { y1: 8, y2: 112, class: "now", id: "now" });
  }

  function pill(status) { return made("span", status, `pill ${status}`); }

  function showCalls(number) {
    const calls = frames.slice(0, number + 1).filter((frame) => frame.lane === "tpp").slice(-CALLS_SHOWN).reverse();
    by("tpp").replaceChildren(...calls.map((call) => {
      const card = made("div", null, call === frames[number] ? "card new" : "card");
      card.append(made("div", call.title, "mono"), made("b", call.status), made("span", ` ${call.client || ""}`, "quiet"));
      if (call.error) card.append(made("div", call.error, "mono"));
      if (call.why) card.append(made("div", call.why, "quiet"));
      card.append(made("div", call.request_id, "mono quiet"));
      return card;
    }));
    if (!calls.length) by("tpp").replaceChildren(made("p", "No call yet.", "quiet"));
  }

  function showScreen(number) {
    const last = frames.slice(0, number + 1).filter((frame) => frame.lane === "customer").pop();
    if (!last) { by("customer").replaceChildren(made("p", "Nobody was asked yet.", "quiet")); return; }
    const about = subjects[last.subject] || {};
    const phone = made("div", null, "phone");
    phone.append(made("p", "The bank", "quiet"), made("p", last.screen));
    if (about.amount) phone.append(made("b", about.amount));
    if (about.to) phone.append(made("p", `to ${about.to}`));
    if (about.iban) phone.append(made("p", about.iban, "mono"));
    by("customer").replaceChildren(phone, made("p", `${time(last.at)}  ${last.title}`, "quiet"));
  }

  function showStates(number) {
    const states = new Map();
    for (const frame of frames.slice(0, number + 1)) {
      if (frame.subject && frame.to) { states.delete(frame.subject); states.set(frame.subject, frame); }
    }
    const rows = [...states].reverse().map(([id, frame]) => {
      const about = subjects[id] || {}, card = made("div", null, frame === frames[number] ? "card new" : "card");
      card.append(pill(frame.to), made("span", ` ${about.amount || about.product || ""} ${about.to ? "to " + about.to : ""}`));
      if (frame.reason) card.append(made("div", frame.reason, "mono"));
      card.append(made("div", `${frame.trigger.replaceAll("_", " ")} at ${time(frame.at)}`, "quiet"), made("div", id, "mono quiet"));
      return card;
    });
    by("bank").replaceChildren(...(rows.length ? rows : [made("p", "Nothing was begun yet.", "quiet")]));
  }

  function show(number) {
    number = Math.max(0, Math.min(frames.length - 1, number));
    place.value = number;
    const frame = frames[number];
    by("when").textContent = frame ? `${number + 1} of ${frames.length}: ${time(frame.at)}` : "Nothing happened.";
    place.setAttribute("aria-valuetext", frame ? `${time(frame.at)}, ${frame.title}` : "");
    lanes.querySelectorAll("circle").forEach((dot) => dot.classList.toggle("ahead", Number(dot.dataset.number) > number));
    const x = LEFT + number * STEP, now = by("now");
    now.setAttribute("x1", x); now.setAttribute("x2", x);
    const box = lanes.parentElement;
    if (x < box.scrollLeft + LEFT || x > box.scrollLeft + box.clientWidth - 60) box.scrollLeft = x - box.clientWidth / 2;
    showCalls(number); showScreen(number); showStates(number);
  }

  function play(going) {
    by("play").textContent = going ? "Pause" : "Play";
    by("play").setAttribute("aria-pressed", String(going));
    clearInterval(playing);
    playing = going ? setInterval(() => {
      if (Number(place.value) >= frames.length - 1) play(false); else show(Number(place.value) + 1);
    }, PLAY_MS) : null;
  }

  place.max = Math.max(0, frames.length - 1);
  drawLanes();
  place.addEventListener("input", () => { play(false); show(Number(place.value)); });
  by("back").addEventListener("click", () => { play(false); show(Number(place.value) - 1); });
  by("on").addEventListener("click", () => { play(false); show(Number(place.value) + 1); });
  by("play").addEventListener("click", () => {
    if (playing === null && Number(place.value) >= frames.length - 1) show(0);
    play(playing === null);
  });
  show(frames.length - 1);
})();
