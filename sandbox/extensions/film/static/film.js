"use strict";
(() => {
  const content = JSON.parse(document.getElementById("content").textContent);
  const frames = content.frames, subjects = content.subjects;
  const by = (id) => document.getElementById(id);
  const place = by("place"), lanes = by("lanes");
  const STEP = 26, LEFT = 84, ROWS = { tpp: 28, customer: 64, bank: 100 };
  const TONES = { tpp: "move", customer: "wait", bank: "good" };
  const LANES = { tpp: "TPP", customer: "Customer", bank: "Bank" };
  // An event stays for as long as it takes to read it.
  const READ_MS = 1200, READ_MS_PER_LETTER = 25, READ_MS_MAX = 4000;
  const CALLS_SHOWN = 3, STATES_SHOWN = 4;
  const labels = []; // of the lanes; they stay in view when the lanes are scrolled
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
      labels.push(drawn("text", { x: 10, y: y + 4 }, LANES[lane]));
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
    lanes.append(...labels);
  }

  function badge(status) { return made("span", status, `badge t-${content.tones[status]}`); }

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

  // The screen is that of the initiation which the event is about, as it is at the event.
  function showScreen(frame) {
    if (!frame) { by("customer").replaceChildren(made("p", "Nobody was asked yet.", "quiet")); return; }
    const about = subjects[frame.about];
    const phone = made("div", null, about ? "phone" : "phone off");
    phone.append(made("p", about ? "The bank" : "", "quiet"), made("p", frame.screen));
    if (about) {
      if (about.amount) phone.append(made("b", about.amount));
      if (about.to) phone.append(made("p", `to ${about.to}`));
      if (about.iban) phone.append(made("p", about.iban, "mono"));
    }
    by("customer").replaceChildren(phone);
  }

  function showStates(number) {
    const states = new Map();
    for (const frame of frames.slice(0, number + 1)) {
      if (frame.subject && frame.to) { states.delete(frame.subject); states.set(frame.subject, frame); }
    }
    const left = Math.max(0, states.size - STATES_SHOWN);
    const rows = [...states].reverse().slice(0, STATES_SHOWN).map(([id, frame]) => {
      const about = subjects[id] || {}, card = made("div", null, frame === frames[number] ? "card new" : "card");
      card.append(badge(frame.to), made("span", ` ${about.amount || about.product || ""} ${about.to ? "to " + about.to : ""}`));
      if (frame.reason) card.append(made("div", frame.reason, "mono"));
      card.append(made("div", `${frame.trigger.replaceAll("_", " ")} at ${time(frame.at)}`, "quiet"), made("div", id, "mono quiet"));
      return card;
    });
    if (left) rows.push(made("p", `${left} more did not change lately.`, "quiet"));
    by("bank").replaceChildren(...(rows.length ? rows : [made("p", "Nothing has begun yet.", "quiet")]));
  }

  function textOf(frame) {
    const change = frame.to && frame.to !== frame.from ? `: ${frame.from || "new"} to ${frame.to}` : "";
    const reply = frame.lane === "tpp" ? `: ${frame.status}${frame.error ? ` ${frame.error}` : ""}` : "";
    return `${frame.title}${change}${reply}`;
  }

  function showCaption(number, frame) {
    if (!frame) { by("caption").replaceChildren("Nothing happened."); return; }
    by("caption").replaceChildren(
      made("span", `${number + 1} of ${frames.length}`, "quiet"), made("span", time(frame.at), "mono"),
      made("b", LANES[frame.lane], `badge t-${TONES[frame.lane]}`), made("span", textOf(frame)));
  }

  function show(number) {
    number = Math.max(0, Math.min(frames.length - 1, number));
    place.value = number;
    const frame = frames[number];
    showCaption(number, frame);
    place.setAttribute("aria-valuetext", frame ? `${time(frame.at)}, ${frame.title}` : "");
    lanes.querySelectorAll("circle").forEach((dot) => dot.classList.toggle("ahead", Number(dot.dataset.number) > number));
    const x = LEFT + number * STEP, now = by("now");
    now.setAttribute("x1", x); now.setAttribute("x2", x);
    const box = lanes.parentElement;
    if (x < box.scrollLeft + LEFT || x > box.scrollLeft + box.clientWidth - 60) box.scrollLeft = x - box.clientWidth / 2;
    showCalls(number); showScreen(frame); showStates(number);
    for (const [lane] of Object.entries(LANES)) by(lane).parentElement.classList.toggle("active", frame?.lane === lane);
  }

  // Milliseconds that the event at the place is shown for.
  function lasting() {
    const letters = textOf(frames[Number(place.value)]).length + frames[Number(place.value)].screen.length;
    return Math.min(READ_MS + READ_MS_PER_LETTER * letters, READ_MS_MAX) / Number(by("pace").value);
  }

  function next() {
    if (Number(place.value) >= frames.length - 1) { play(false); return; }
    show(Number(place.value) + 1);
    playing = setTimeout(next, lasting());
  }

  function play(going) {
    by("play").textContent = going ? "Pause" : "Play";
    by("play").setAttribute("aria-pressed", String(going));
    clearTimeout(playing);
    playing = going && frames.length ? setTimeout(next, lasting()) : null;
  }

  place.max = Math.max(0, frames.length - 1);
  drawLanes();
  lanes.parentElement.addEventListener("scroll", () => {
    for (const label of labels) label.setAttribute("x", lanes.parentElement.scrollLeft + 10);
  });
  place.addEventListener("input", () => { play(false); show(Number(place.value)); });
  by("back").addEventListener("click", () => { play(false); show(Number(place.value) - 1); });
  by("on").addEventListener("click", () => { play(false); show(Number(place.value) + 1); });
  by("play").addEventListener("click", () => {
    if (playing === null && Number(place.value) >= frames.length - 1) show(0);
    play(playing === null);
  });
  show(0);
})();
