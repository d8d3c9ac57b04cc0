// One clock for an episode: the scrubber, the line in its curves, its videos and the rows as stored show the same step.
const form = document.querySelector('form[aria-label="Step"]');
const last = Number(form.elements.at.max);
const api = document.querySelector('link[rel="alternate"]').href;
const videos = [...document.querySelectorAll(".media video")];
const clock = { step: Number(form.elements.at.value), playing: false, rate: 1, sps: 30 };

function make(name, attributes, text = "") {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}
const bar = make("div", { class: "transport", role: "group", "aria-label": "Timeline" });
const play = make("button", { type: "button", "aria-keyshortcuts": "Space" }, "Play");
const scrub = make("input", { type: "range", min: 0, max: last, step: 1, "aria-label": "Step" });
const said = make("output", { class: "n" });
const rate = make("select", { "aria-label": "Speed" });
for (const r of [0.25, 0.5, 1, 2, 4]) rate.append(make("option", { value: r }, `${r} ×`));
rate.value = 1;
bar.append(play, scrub, said, rate);

// the middle of a frame: a rounded seek does not show the one before
const time_of = (step) => (step + 0.5) / clock.sps;

function follow(video, step) {
  const wanted = time_of(clock.playing ? clock.step : step);
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

let shown = -1;
function show() {
  const step = Math.min(last, Math.floor(clock.step));
  for (const video of videos) follow(video, step);
  if (step === shown) return;
  shown = step;
  const x = (step / (last + 1)) * 1000;
  for (const line of document.querySelectorAll("svg.plot .cursor")) line.setAttribute("d", `M${x} 0L${x} 120`);
  scrub.value = step;
  scrub.setAttribute("aria-valuetext", `step ${step} of ${last}, ${(step / clock.sps).toFixed(1)} seconds`);
  said.textContent = `${step} / ${last}`;
  if (!clock.playing) rest();
}

// the rows of a step, and its address, once the cursor rests on it; an answer that is late is dropped
let pause, asked;
function rest() {
  clearTimeout(pause);
  asked?.abort();
  pause = setTimeout(() => {
    const url = new URL(location.href), step = shown;
    url.searchParams.set("at", step);
    const request = asked = new XMLHttpRequest();
    request.open("GET", url);
    request.responseType = "document";
    request.setRequestHeader("Accept", "text/html");
    request.addEventListener("load", () => {
      const rows = request.status === 200 && request.response.querySelector("table.values");
      if (!rows) return;
      document.querySelector("table.values").replaceWith(document.importNode(rows, true));
      document.getElementById("values").textContent = `At step ${step}`;
      form.elements.at.value = step;
      history.replaceState(null, "", url);
    });
    request.send();
  }, 250);
}

let before;
function tick(now) {
  if (!clock.playing) return;
  const waiting = videos.some((v) => v.readyState < 3 && !v.ended && !v.error);
  if (!waiting) clock.step += ((now - before) / 1000) * clock.sps * clock.rate;
  before = now;
  if (clock.step >= last) set(last);
  else show();
  requestAnimationFrame(tick);
}
function run(playing) {
  if (playing && clock.step >= last) clock.step = 0;
  clock.playing = playing;
  play.textContent = playing ? "Pause" : "Play";
  shown = -1;
  before = performance.now();
  show();
  if (playing) requestAnimationFrame(tick);
}
function set(step) {
  clock.step = Math.max(0, Math.min(last, Math.floor(step)));
  if (clock.playing) run(false);
  else show();
}

play.addEventListener("click", () => run(!clock.playing));
scrub.addEventListener("input", () => set(Number(scrub.value)));
rate.addEventListener("change", () => { clock.rate = Number(rate.value); });
bar.addEventListener("keydown", (event) => {
  if (event.key !== " " || event.target !== scrub) return;
  event.preventDefault();
  run(!clock.playing);
});
for (const plot of document.querySelectorAll("svg.plot")) plot.addEventListener("click", (event) => {
  const box = plot.getBoundingClientRect();
  set(((event.clientX - box.left) / box.width) * (last + 1));
});
for (const video of videos) {
  video.controls = false;
  video.addEventListener("seeked", () => { if (!clock.playing) follow(video, shown); });
  video.addEventListener("loadedmetadata", () => follow(video, shown));
}

const dataset = await fetch(api.replace(/\/episodes\/\d+$/, "")).then((answer) => answer.json(), () => ({}));
if (dataset.fps > 0) clock.sps = dataset.fps;
document.querySelector("main .facts").after(bar);
shown = clock.step;
scrub.value = shown;
scrub.setAttribute("aria-valuetext", `step ${shown} of ${last}, ${(shown / clock.sps).toFixed(1)} seconds`);
said.textContent = `${shown} / ${last}`;
for (const video of videos) follow(video, shown);
