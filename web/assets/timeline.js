// The timeline of an episode: transport, overview, keys, videos and the address, all of one clock.
import { api, root, clock, view, steps, last, now, follow, set, run, look, zoom, pan, revision } from "./clock.js";
import { lanes, make, canvas_of, ink, names, themed } from "./lanes.js";
import { Tiles, ask } from "./tiles.js";
import { copy as put_on_clipboard } from "./page.js";
import "./values.js";

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
  copy, flag, button("?", "Keys", "?", () => help()));
const flags = make("p", { class: "small" });
root.append(over, scrub, bar, flags, live);
flag.hidden = !api; // of one episode only
if (document.querySelector("figure.picture")) import("./pictures.js");
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
const side_of = (video) => video.closest("[data-shift]")?.dataset; // of several episodes: where in the drawing its first step is
const rate_of = (video) => Number(side_of(video)?.fps) || clock.sps;
const seconds_of = (video, step) => (Math.max(0, step - Number(side_of(video)?.shift ?? 0)) + 0.5) / rate_of(video);
/** Before its first step and behind its last one a video stands still. */
const runs = (video) => clock.playing && clock.step >= Number(side_of(video)?.shift ?? 0) && !(seconds_of(video, clock.step) >= video.duration);
function follow_video(video, step) {
  const wanted = seconds_of(video, clock.playing ? clock.step : step), fps = rate_of(video);
  if (!runs(video)) {
    const at = Math.min(wanted, Math.max(0, (video.duration || wanted) - 0.5 / fps));
    video.pause();
    if (!video.seeking && Math.abs(video.currentTime - at) > 0.25 / fps) video.currentTime = at;
    return;
  }
  const error = video.currentTime - wanted;
  if (Math.abs(error) > 0.25 && !video.seeking) video.currentTime = wanted;
  video.playbackRate = clock.rate * (clock.sps / fps) * (Math.abs(error) * fps <= 0.5 ? 1 : 1 - Math.max(-0.1, Math.min(0.1, error)));
  if (video.paused && !video.ended) video.play().catch(() => {});
}
clock.waits = () => videos.some((v) => v.readyState < 3 && runs(v) && !v.ended && !v.error && !v.hidden);
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
const tiles = first_field && new Tiles(first_field.dataset.src, { dims: "0" }, false, first_field.dataset.revision || revision);
let line;
function paint() {
  const [on, width, height] = canvas_of(picture), x = (step) => (step / steps) * width;
  if (line) {
    const values = line.lines[0], known = values.filter((v) => v !== null);
    const low = known.reduce((a, b) => Math.min(a, b), Infinity), high = known.reduce((a, b) => Math.max(a, b), -Infinity);
    const y = (v) => height - 5 - ((v - low) / (high - low || 1)) * (height - 10);
    on.beginPath();
    values.forEach((v, i) => { if (v !== null) on[i && values[i - 1] !== null ? "lineTo" : "moveTo"](x(line.first + i * line.apart + Number(first_field.dataset.shift)), y(v)); });
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

const to_extreme = async (ahead) => (await import("./extremes.js")).go(ahead, () => to_lanes(address().href), (text) => {
  clearTimeout(spoken);
  live.textContent = text;
});

// ---- the address ----
let first_names = names(); // where it names none
function address(more) {
  const url = new URL(location.href), whole = view.from === 0 && view.to === steps, fields = names();
  const state = { ...((url.searchParams.has("lanes") || fields !== first_names) && { lanes: fields }), at: now() || (url.searchParams.has("at") ? 0 : ""), from: whole ? "" : view.from, to: whole ? "" : view.to, rate: clock.rate === 1 ? "" : clock.rate, ...more };
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
    carry();
  }, 250);
}
async function copy_link() {
  const url = address({ at: now(), lanes: names(), ...(revision && { revision }) });
  const done = await put_on_clipboard(url);
  if (!done) history.replaceState(null, "", url);
  copy.textContent = done ? "Copied" : "In the address bar";
  setTimeout(() => { copy.textContent = "Copy link"; }, 2000);
}

// ---- other fields, as links have them: their lanes come to this page, which stays where it is ----
const FIELDS = '[aria-label="Fields"] a, figure.lane a:not(.extremes a), .leaves a';
let lanes_of_address = new URL(location.href).searchParams.get("lanes");
const to_lanes = async (url, link, push) => (await import("./fields.js")).bring(url, link, FIELDS, () => {
  if (push) history.pushState(null, "", url);
  lanes_of_address = new URL(url).searchParams.get("lanes");
  first_names = names();
  remember();
});
// a link of the server names the lanes that it wrote; those that were switched since are as they are now
function with_lanes(link) {
  const written = document.querySelector(".lanes").dataset.list.split(","), now_there = names().split(",");
  const wanted = (new URL(link.href).searchParams.get("lanes") ?? "").split(",").map((name) => (written.includes(name) ? now_there[written.indexOf(name)] : name));
  return address({ lanes: wanted.join(",") });
}
main.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.matches(".extremes a")) set(Number(new URL(link.href).searchParams.get("at")));
  else if (link.matches(FIELDS)) to_lanes(with_lanes(link), link, true);
  else return;
  event.preventDefault();
});
addEventListener("popstate", () => {
  const asked = new URL(location.href).searchParams, fields = asked.get("lanes"), given = (name, otherwise) => Number(asked.get(name) ?? otherwise);
  if (fields === lanes_of_address) return;
  look(given("from", 0), given("to", steps));
  set(given("at", 0));
  to_lanes(location.href);
});

// the next episode has the same fields, window, step and speed
function carry() {
  const here = address({ at: now() || "" }).searchParams;
  lanes_of_address = new URL(location.href).searchParams.get("lanes");
  for (const link of document.querySelectorAll('nav a[rel="prev"], nav a[rel="next"]')) {
    const url = new URL(link.href);
    for (const name of ["lanes", "at", "from", "to", "rate"]) {
      if (here.has(name)) url.searchParams.set(name, here.get(name));
      else url.searchParams.delete(name);
    }
    link.href = url;
  }
}
// and so has any other link to this page
main.addEventListener("click", ({ target }) => {
  const link = target.closest("a[href]"), { searchParams } = address({ at: now() || "" });
  carry();
  if (!link?.matches(".chips a, .lanes > p a")) return;
  const url = new URL(link.href);
  for (const name of ["at", "from", "to", "rate"]) if (searchParams.has(name)) url.searchParams.set(name, searchParams.get(name));
  link.href = url;
}, true);

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
let single = stored?.getItem("keys") !== "off"; // those of one letter
const help = async () => (await import("./help.js")).show(single, (on) => {
  single = on;
  stored?.setItem("keys", on ? "on" : "off");
});

const other_rate = (by) => {
  clock.rate = RATES[Math.max(0, Math.min(RATES.length - 1, RATES.indexOf(clock.rate) + by))];
  rate.value = clock.rate;
  remember();
};
const letters = {
  w: () => zoom(0.5), "+": () => zoom(0.5), "=": () => zoom(0.5), s: () => zoom(2), "-": () => zoom(2), 0: () => look(0, steps), a: () => pan(-0.25), d: () => pan(0.25),
  ",": () => other_rate(-1), ".": () => other_rate(1), "[": () => to_mark(false), "]": () => to_mark(true), e: () => to_extreme(true), E: () => to_extreme(false), y: copy_link, "?": help,
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
  else if (single && !event.altKey && target.localName !== "select" && !target.matches("input:not([type=range])")) act = letters[key];
  if (!act || event.defaultPrevented) return;
  event.preventDefault();
  act();
}
for (const part of [root, document.querySelector(".lanes")]) part.addEventListener("keydown", pressed);

scrub.addEventListener("input", () => set(Number(scrub.value)));
rate.addEventListener("change", () => { clock.rate = Number(rate.value); remember(); });
const asked = Number(new URL(location.href).searchParams.get("rate"));
clock.rate = RATES.includes(asked) ? asked : 1;
rate.value = clock.rate;
follow((moved) => { show(); if (moved) place(); remember(); });
themed.push(paint);
let width;
new ResizeObserver(() => { if (width !== (width = over.clientWidth)) paint(); }).observe(over);
place();
show();
load_overview();
carry();
