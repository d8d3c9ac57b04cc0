// The timeline of an episode: transport, overview, keys, videos and the address, all of one clock.
import { root, clock, view, steps, last, now, follow, set, run, look, zoom, pan, revision } from "./clock.js";
import { lanes, make, canvas_of, ink, themed } from "./lanes.js";
import { Tiles, ask } from "./tiles.js";
import { copy as put_on_clipboard } from "./page.js";
import "./values.js";
import "./pictures.js";

const RATES = [0.1, 0.25, 0.5, 1, 2, 4, 10];
const videos = [...document.querySelectorAll(".media video")];
const main = document.getElementById("main");

// ---- transport ----
const button = (text, label, keys, act) => {
  const made = make("button", { type: "button", "aria-label": label, title: label, ...(keys && { "aria-keyshortcuts": keys }) }, text);
  made.addEventListener("click", act);
  return made;
};
const play = button("Play", "Play", "Space", () => run(!clock.playing));
const scrub = make("input", { type: "range", min: 0, max: last, step: 1, "aria-label": "Step" });
const said = make("output", { class: "n" });
const rate = make("select", { "aria-label": "Speed" });
for (const r of RATES) rate.append(make("option", { value: r }, `${r} ×`));
const live = make("p", { class: "visually-hidden", role: "status" });
const over = make("div", { class: "overview-box" });
const bar = make("div", { class: "buttons" });
const copy = button("Copy link", "Copy a link to this step and window", "y", copy_link);
const flag = button("Flag", "Flag this episode", "f", turn_flag);
const ends = [button("|<", "First step", "Home", () => set(0)), button(">|", "Last step", "End", () => set(last))];
for (const end of ends) end.classList.add("ends-of");
bar.append(ends[0], button("<", "One step back", "ArrowLeft", () => set(now() - 1)), play,
  button(">", "One step on", "ArrowRight", () => set(now() + 1)), ends[1], said, rate, make("span", { class: "break" }),
  button("−", "Zoom out", "s", () => zoom(2)), button("+", "Zoom in", "w", () => zoom(0.5)), button("All", "The whole episode", "0", () => look(0, steps)),
  copy, flag, button("?", "Keys", "?", () => help.showModal()));
const flags = make("p", { class: "small" });
root.append(over, scrub, bar, flags, live);
let stored;
try { stored = localStorage; } catch { /* refused by the browser: nothing is kept */ }

const seconds = () => (now() / clock.sps).toFixed(2);
let shown, spoken;
function show() {
  const step = now();
  for (const video of videos) follow_video(video, step);
  play.textContent = clock.playing ? "Pause" : "Play";
  play.setAttribute("aria-label", play.textContent);
  if (step !== shown) {
    shown = step;
    scrub.value = step;
    scrub.setAttribute("aria-valuetext", `step ${step} of ${last}, ${seconds()} seconds`);
    said.textContent = `${step} / ${last}  ${clock.timed ? `${seconds()} s` : ""}`;
  }
  if (clock.playing) return;
  clearTimeout(spoken);
  spoken = setTimeout(() => { live.textContent = `step ${now()}, steps ${view.from} to ${view.to} shown`; }, 1000);
}

// ---- videos: the middle of a frame, so that a rounded seek does not show the one before ----
function follow_video(video, step) {
  const wanted = ((clock.playing ? clock.step : step) + 0.5) / clock.sps;
  if (!clock.playing) {
    video.pause();
    if (!video.seeking && Math.abs(video.currentTime - wanted) > 0.25 / clock.sps) video.currentTime = wanted;
    return;
  }
  const error = video.currentTime - wanted;
  if (Math.abs(error) > 0.25 && !video.seeking) video.currentTime = wanted;
  video.playbackRate = clock.rate * (Math.abs(error) * clock.sps <= 0.5 ? 1 : 1 - Math.max(-0.1, Math.min(0.1, error)));
  if (video.paused && !video.ended) video.play().catch(() => {});
}
clock.waits = () => videos.some((v) => v.readyState < 3 && !v.ended && !v.error);
for (const video of videos) {
  video.controls = false;
  video.addEventListener("seeked", () => { if (!clock.playing) follow_video(video, now()); });
  video.addEventListener("loadedmetadata", () => follow_video(video, now()));
}

// ---- overview: one field over the whole episode, marks, the window ----
const marks = []; // {step, kind: "terminated" | "truncated" | "hole" | "gap" | "task"}
const picture = over.appendChild(make("canvas"));
const shade = over.appendChild(make("div", { class: "window" }));
const grips = ["from", "to"].map((end) => shade.appendChild(make("button", { type: "button", class: end, "aria-label": end === "from" ? "Where the window begins" : "Where the window ends" })));
const first_field = root.querySelector(".overview");
const tiles = first_field && new Tiles(first_field.dataset.src, { dims: "0" });
let line;
function paint() {
  const [on, width, height] = canvas_of(picture), x = (step) => (step / steps) * width;
  if (line) {
    const values = line.lines[0], known = values.filter((v) => v !== null);
    const low = known.reduce((a, b) => Math.min(a, b), Infinity), high = known.reduce((a, b) => Math.max(a, b), -Infinity);
    const y = (v) => height - 5 - ((v - low) / (high - low || 1)) * (height - 10);
    on.beginPath();
    values.forEach((v, i) => { if (v !== null) on[i && values[i - 1] !== null ? "lineTo" : "moveTo"](x(line.first + i * line.apart), y(v)); });
    on.strokeStyle = ink.s1;
    on.stroke();
  }
  for (const { step, kind } of marks) {
    on.fillStyle = on.strokeStyle = kind === "hole" || kind === "gap" ? ink.bad : kind === "task" ? ink.link : ink.text;
    const at = Math.max(1, Math.min(width - 3, x(step)));
    if (kind === "hole") on.fillText("×", at - 4, height - 3);
    else if (kind === "task") on.fillText("▾", at - 4, 11);
    else if (kind === "gap") for (const side of [-2.5, 1]) on.fillRect(at + side, 2, 1.5, height - 4);
    else if (kind === "truncated") on.strokeRect(at - 1.5, 2.5, 4, height - 5);
    else on.fillRect(at - 1.5, 2, 4, height - 4);
  }
}
function place() {
  shade.style.left = `${(100 * view.from) / steps}%`;
  shade.style.width = `${(100 * (view.to - view.from)) / steps}%`;
  shade.classList.toggle("whole", view.to - view.from === steps);
}
/** Before which steps frames are missing: where time goes on by more than one and a half of them. */
async function find_gaps(source) {
  const times = new Tiles(source, { of: "delta" }), w = 2 ** Math.max(0, Math.ceil(Math.log2(steps / 1000)));
  const far = ({ lines, first, apart }) => lines[0].flatMap((v, i) => (v > 1.5 / clock.sps ? [first + i * apart] : []));
  const found = far(await times.get(w, 0, steps));
  if (w === 1) return found;
  const starts = [...new Set(found.map((step) => Math.floor(step / w) * w))].slice(0, 16);
  return (await Promise.all(starts.map(async (from) => far(await times.get(1, from, Math.min(steps, from + w))).filter((step) => step >= from && step < from + w)))).flat();
}

async function load_overview() {
  const w = 2 ** Math.max(0, Math.ceil(Math.log2(steps / 1000)));
  const done = [...root.querySelectorAll(".mark")].map(async ({ dataset }) => {
    const { runs } = await (await ask(`${dataset.src}?${new URLSearchParams({ runs: 200, revision })}`)).json();
    for (const [from, , value] of runs) if (value === true) marks.push({ step: from, kind: /trunc|timeout/.test(dataset.field) ? "truncated" : "terminated" });
  });
  for (const { dataset } of clock.timed ? root.querySelectorAll(".times") : [])
    done.push(find_gaps(dataset.src).then((found) => marks.push(...found.map((step) => ({ step, kind: "gap" })))));
  for (const { dataset } of root.querySelectorAll(".tasks"))
    done.push(ask(`${dataset.src}?${new URLSearchParams({ runs: 200, revision })}`).then(async (answer) => {
      for (const [from] of (await answer.json()).runs.slice(1)) marks.push({ step: from, kind: "task" });
    }));
  if (tiles) done.push(tiles.get(w, 0, steps).then((found) => {
    line = found;
    for (const step of found.holes) marks.push({ step, kind: "hole" });
  }));
  await Promise.allSettled(done);
  marks.sort((a, b) => a.step - b.step);
  paint();
}
function dragged(element, move) {
  element.addEventListener("pointerdown", (event) => {
    const box = over.getBoundingClientRect(), per = steps / box.width, x = event.clientX, { from, to } = view;
    const moved = (e) => move(Math.round((e.clientX - x) * per), from, to);
    element.setPointerCapture(event.pointerId);
    element.addEventListener("pointermove", moved);
    element.addEventListener("lostpointercapture", () => element.removeEventListener("pointermove", moved), { once: true });
    event.stopPropagation();
  });
}
dragged(shade, (by, from, to) => look(from + by, to + by));
dragged(grips[0], (by, from, to) => look(Math.max(0, Math.min(from + by, to - 8)), to));
dragged(grips[1], (by, from, to) => look(from, Math.max(from + 8, Math.min(steps, to + by))));
over.addEventListener("pointerdown", (event) => {
  const box = over.getBoundingClientRect(), at = ((event.clientX - box.left) / box.width) * steps, half = (view.to - view.from) / 2;
  if (event.target === picture) look(at - half, at + half);
});
grips.forEach((grip, i) => grip.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key] * Math.max(1, Math.round((view.to - view.from) / 32));
  if (!by) return;
  event.preventDefault();
  if (i) look(view.from, Math.max(view.from + 8, Math.min(steps, view.to + by)));
  else look(Math.max(0, Math.min(view.from + by, view.to - 8)), view.to);
}));
const to_mark = (ahead) => {
  const next = ahead ? marks.find((m) => m.step > now()) : marks.findLast((m) => m.step < now());
  if (next) set(next.step);
};

// ---- the address ----
function address(more) {
  const url = new URL(location.href), whole = view.from === 0 && view.to === steps;
  const state = { at: now() || (url.searchParams.has("at") ? 0 : ""), from: whole ? "" : view.from, to: whole ? "" : view.to, rate: clock.rate === 1 ? "" : clock.rate, ...more };
  for (const [name, value] of Object.entries(state)) {
    if (value === "") url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url;
}
let due;
function remember() {
  if (clock.playing) return;
  due ??= setTimeout(() => {
    due = undefined;
    if (!clock.playing && address().href !== location.href) history.replaceState(null, "", address());
  }, 250);
}
async function copy_link() {
  const url = address({ at: now(), lanes: lanes.map((l) => l.is.lane).join(","), revision });
  const done = await put_on_clipboard(url);
  if (!done) history.replaceState(null, "", url);
  copy.textContent = done ? "Copied" : "In the address bar";
  setTimeout(() => { copy.textContent = "Copy link"; }, 2000);
}

// ---- other fields: the same place of the page at the same step, and for the next episode the same speed ----
const links_to_fields = () => [...main.querySelectorAll('[aria-label="Fields"] a, figure.lane a, .leaves a')];
const name_of = (link) => `${link.closest("figure.lane")?.dataset.lane ?? link.closest("tr")?.querySelector("code").textContent ?? ""} ${(link.querySelector("bdi") ?? link).textContent}`;
const called = (name) => links_to_fields().filter((link) => name_of(link) === name); // several, within JSON
main.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || !links_to_fields().includes(link)) return;
  event.preventDefault();
  const url = address({ lanes: new URL(link.href).searchParams.get("lanes") ?? "" });
  try { sessionStorage.setItem("place", JSON.stringify({ href: url.href, name: name_of(link), nth: called(name_of(link)).indexOf(link), top: link.getBoundingClientRect().top, scroll: scrollY })); } catch { /* it begins at the top */ }
  location.assign(url);
});
function return_to_place() {
  let place;
  try {
    place = JSON.parse(sessionStorage.getItem("place"));
    sessionStorage.removeItem("place");
  } catch { /* refused by the browser */ }
  if (place?.href !== location.href) return;
  const link = called(place.name)[place.nth];
  for (let details = link?.closest("details"); details; details = details.parentElement.closest("details")) details.open = true;
  scrollTo({ top: link ? scrollY + link.getBoundingClientRect().top - place.top : place.scroll, behavior: "instant" });
  link?.focus({ preventScroll: true });
}
function carry_rate() {
  for (const link of document.querySelectorAll('nav a[rel="prev"], nav a[rel="next"]')) {
    const url = new URL(link.href);
    if (clock.rate === 1) url.searchParams.delete("rate");
    else url.searchParams.set("rate", clock.rate);
    link.href = url;
  }
}

// ---- flags: episodes that this browser keeps, to be listed together ----
const [folder, number] = location.pathname.split("/episodes/");
const flagged = () => new Set(stored?.getItem(`flags ${folder}`)?.match(/\d+/g));
function turn_flag() {
  const all = flagged();
  if (!all.delete(number)) all.add(number);
  stored?.setItem(`flags ${folder}`, [...all].sort((a, b) => a - b).join(" "));
  show_flags();
}
function show_flags() {
  const all = flagged(), where = encodeURIComponent(`number in (${[...all].join(", ")})`);
  flag.setAttribute("aria-pressed", all.has(number));
  flags.replaceChildren(...(all.size ? [make("a", { href: `${folder}/episodes?where=${where}` }, `${all.size} flagged`)] : []));
}
show_flags();

// ---- one camera at a time over the whole width ----
const figures = [...document.querySelectorAll(".media figure")];
const enlarge = (i) => figures.forEach((figure, k) => figure.classList.toggle("large", k === i));
const next_camera = () => enlarge(figures.findIndex((figure) => figure.classList.contains("large")) + 1);

// ---- keys: of the timeline only ----
const KEYS = [["Space", "play, pause"], ["Left, Right", "one step; with Shift ten, with Alt to the next mark"], ["Home, End", "first, last step"],
  ["w, s or +, -", "zoom in, out"], ["0", "the whole episode"], ["a, d", "move the window"], [", .", "slower, faster"], ["[ ]", "previous, next mark"],
  ["j, k", "next, previous episode"], ["c", "enlarge the next camera"], ["Escape", "all cameras at the same size"], ["f", "flag this episode"], ["y", "copy a link"], ["?", "this help"]];
const help = make("dialog", { class: "keys", "aria-label": "Keys" }), named = make("dl", { class: "table" });
for (const [key, does] of KEYS) named.append(make("dt", {}, key), make("dd", {}, does));
const single = make("input", { type: "checkbox" }), label = make("label");
label.append(single, " Single-letter shortcuts");
const close = make("form", { method: "dialog" });
close.append(make("button", {}, "Close"));
help.append(make("h2", {}, "Keys"), make("p", { class: "muted" }, "While the focus is in the timeline or in a curve. A drag in a curve, two fingers or Ctrl and the wheel zoom, a double click shows all."), named, label, close);
main.append(help);
single.checked = stored?.getItem("keys") !== "off";
single.addEventListener("change", () => stored?.setItem("keys", single.checked ? "on" : "off"));

const other_rate = (by) => {
  clock.rate = RATES[Math.max(0, Math.min(RATES.length - 1, RATES.indexOf(clock.rate) + by))];
  rate.value = clock.rate;
  carry_rate();
  remember();
};
const letters = {
  w: () => zoom(0.5), "+": () => zoom(0.5), "=": () => zoom(0.5), s: () => zoom(2), "-": () => zoom(2), 0: () => look(0, steps), a: () => pan(-0.25), d: () => pan(0.25),
  ",": () => other_rate(-1), ".": () => other_rate(1), "[": () => to_mark(false), "]": () => to_mark(true), y: copy_link, "?": () => help.showModal(),
  c: next_camera, f: turn_flag, j: () => document.querySelector('nav a[rel="next"]')?.click(), k: () => document.querySelector('nav a[rel="prev"]')?.click(),
};
function pressed(event) {
  const { key, target } = event, field = target.closest("select, input, button");
  if (event.ctrlKey || event.metaKey || target.closest("dialog")) return;
  let act;
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const by = key === "ArrowLeft" ? -1 : 1;
    if (event.altKey) act = () => to_mark(by > 0);
    else if (event.shiftKey) act = () => set(now() + 10 * by);
    else if (!field || target === scrub) act = () => set(now() + by);
  } else if (key === "Escape" && figures.some((f) => f.classList.contains("large"))) act = () => enlarge(-1);
  else if (key === " " && (target === scrub || !field)) act = () => run(!clock.playing);
  else if ((key === "Home" || key === "End") && (!field || target === scrub)) act = () => set(key === "Home" ? 0 : last);
  else if (single.checked && !event.altKey && target.localName !== "select" && !target.matches("input:not([type=range])")) act = letters[key];
  if (!act || event.defaultPrevented) return;
  event.preventDefault();
  act();
}
for (const part of [root, document.querySelector(".lanes")]) part.addEventListener("keydown", pressed);

scrub.addEventListener("input", () => set(Number(scrub.value)));
rate.addEventListener("change", () => { clock.rate = Number(rate.value); carry_rate(); remember(); });
const asked = Number(new URL(location.href).searchParams.get("rate"));
clock.rate = RATES.includes(asked) ? asked : 1;
rate.value = clock.rate;
carry_rate();
follow((moved) => { show(); if (moved) place(); remember(); });
themed.push(paint);
let width;
new ResizeObserver(() => { if (width !== (width = over.clientWidth)) paint(); }).observe(over);
place();
show();
load_overview();
return_to_place();
