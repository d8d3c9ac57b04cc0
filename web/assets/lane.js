// What every lane has: ink, its place in the figure of the server, what it asks for, the cursor, and what pointers and fingers do there.
import { clock, view, steps, set, look, zoom } from "./clock.js";

const REST = 80, SERIES = 8, HOLD = 400, STILL = 8; // ms until it asks, colours, ms until a finger is held, pixels that it may tremble
const narrow = matchMedia("(max-width: 600px)");
export const gutters = () => (narrow.matches ? [44, 36] : [56, 72]);
export const lanes = [];

export const ink = {};
export function read_ink() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["bg", "surface", "text", "muted", "rule", "control", "bad", "link", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"])
    ink[name] = style.getPropertyValue(`--${name}`).trim();
}
read_ink();
export const FONT = "13px system-ui, sans-serif";
export const colour = (i) => ink[`s${(i % SERIES) + 1}`];

export function make(name, attributes = {}, text = "") {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}
/** A canvas of the size of its box, in real pixels; its context counts in those of the style sheet. */
export function canvas_of(canvas) {
  const ratio = devicePixelRatio, [w, h] = [canvas.clientWidth, canvas.clientHeight];
  [canvas.width, canvas.height] = [Math.round(w * ratio), Math.round(h * ratio)];
  const on = canvas.getContext("2d");
  on.scale(ratio, ratio);
  on.font = FONT;
  return [on, w, h];
}
export const fitted = (on, name, width) => {
  while (name.length > 2 && on.measureText(name).width > width) name = `${name.slice(0, -2)}…`;
  return name;
};

// ---- the step under the pointer: a hair line through all lanes; the clock keeps its own step ----
export const pointer = {}; // step; the lane it is in; y: how far down
let due;
function point(step, lane, y) {
  Object.assign(pointer, { step, lane, y });
  due ??= requestAnimationFrame(() => {
    due = undefined;
    lanes[0]?.figure.parentElement.classList.toggle("pointing", pointer.step !== undefined);
    for (const one of lanes) one.hair();
  });
}

// two fingers take the steps below them along
function pinched(area, stop) {
  const fingers = new Map();
  let ends;
  area.addEventListener("pointerdown", ({ pointerId, clientX }) => {
    fingers.set(pointerId, clientX);
    if (fingers.size !== 2) return;
    const box = area.getBoundingClientRect(), per = (view.to - view.from) / box.width;
    ends = { left: box.left, width: box.width, steps: [...fingers.values()].map((x) => view.from + (x - box.left) * per) };
    stop();
  });
  area.addEventListener("pointermove", ({ pointerId, clientX }) => {
    if (!fingers.has(pointerId) || fingers.size !== 2) return;
    fingers.set(pointerId, clientX);
    const [a, b] = fingers.values(), per = (ends.steps[1] - ends.steps[0]) / (b - a);
    if (!(per > 0) || !Number.isFinite(per)) return;
    const from = ends.steps[0] - (a - ends.left) * per;
    look(Math.round(from), Math.round(from + ends.width * per));
  });
  for (const end of ["pointerup", "pointercancel"]) area.addEventListener(end, ({ pointerId }) => fingers.delete(pointerId));
}

// over it a value is read, and so under a finger that is held; a click sets the clock, a drag is the window, two fingers or Ctrl and
// the wheel zoom, a double click shows all
function pointed(area, lane) {
  let from, box, hold, held = false;
  const mark = area.appendChild(make("div", { class: "chosen", hidden: "" }));
  const at = (event) => Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
  const step = (part) => view.from + part * (view.to - view.from);
  const read = (event) => point(Math.min(steps - 1, Math.floor(step(at(event)))), lane, (event.clientY - box.top) / box.height);
  const stop = () => {
    clearTimeout(hold);
    if (held) point();
    [from, held, mark.hidden] = [undefined, false, true];
  };
  area.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    box = area.getBoundingClientRect();
    from = at(event);
    area.setPointerCapture(event.pointerId);
    lane.figure.focus({ preventScroll: true });
    if (event.pointerType === "mouse") return;
    hold = setTimeout(() => { held = true; read(event); }, HOLD);
  });
  pinched(area, stop);
  area.addEventListener("pointermove", (event) => {
    box = area.getBoundingClientRect();
    if (held || event.pointerType === "mouse") read(event);
    if (from === undefined || held) return;
    const to = at(event), far = Math.abs(to - from) * box.width;
    if (far >= STILL) clearTimeout(hold);
    mark.hidden = far < 5;
    mark.style.left = `${100 * Math.min(from, to)}%`;
    mark.style.width = `${100 * Math.abs(to - from)}%`;
  });
  area.addEventListener("pointerup", (event) => {
    if (from !== undefined && !held) {
      const ends = [from, at(event)].sort((a, b) => a - b).map(step);
      if (mark.hidden) set(ends[0]);
      else look(Math.floor(ends[0]), Math.ceil(ends[1]));
    }
    stop();
  });
  area.addEventListener("pointercancel", stop);
  area.addEventListener("pointerleave", () => point());
  area.addEventListener("touchmove", (event) => { if (held) event.preventDefault(); }, { passive: false }); // the page stays where it is
  area.addEventListener("contextmenu", (event) => { if (from !== undefined) event.preventDefault(); }); // what a held finger asks for elsewhere
  area.addEventListener("dblclick", () => look(0, steps));
  area.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    box = area.getBoundingClientRect();
    zoom(1.2 ** (event.deltaY / 50), step(at(event)));
  }, { passive: false });
}

export class Lane {
  constructor(figure) {
    this.is = figure.dataset;
    this.field = this.is.field;
    this.shift = this.is.axis === "shifted" ? -1 : 0;
    this.rows = [this.shift ? 1 : 0, this.is.axis === "step" ? 0 : 1]; // of steps [from, to): [from + .., to + ..)
    this.query = { ...(this.is.of === "sum" && { of: "sum" }), ...(this.is.dims && { [this.is.dims[0] === "/" ? "leaf" : "dims"]: this.is.dims }) };
    this.visible = false;
    this.settle(figure);
    this.box = make("div", { class: `${this.svg.getAttribute("class")} drawn`, role: "img", "aria-label": `${this.field}. ${this.svg.getAttribute("aria-label")}` });
    this.box.style.width = "100%";
  }

  /** In a figure of the server: the first one, or the same again after others came beside it. */
  settle(figure) {
    const [opened, read] = ["details", "[data-dim]"].map((all) => [...(this.figure?.querySelectorAll(all) ?? [])]);
    figure.querySelectorAll("details").forEach((details, i) => { details.open ||= opened[i]?.open; });
    figure.querySelectorAll("[data-dim]").forEach((place, i) => place.append(read[i]?.querySelector("output") ?? "")); // as wide as it was
    [this.figure, this.is, this.svg] = [figure, figure.dataset, figure.querySelector("svg.plot")];
    [this.reading, this.under, figure.tabIndex] = [undefined, undefined, 0];
    if (this.box?.isConnected) this.svg.replaceWith(this.box);
    if (this.loaded) this.is.drawn = this.loaded;
    if (this.note) figure.append(this.note);
  }

  /** As an address has it. */
  get name() { return this.is.lane; }
  get pixels() { return Math.max(16, this.figure.clientWidth - 2 - gutters()[0] - gutters()[1]); }

  /** Asks for the window once it rests; what is drawn stays until the answer is there. */
  want(pause = REST) {
    clearTimeout(this.pause);
    if (this.visible) this.pause = setTimeout(() => this.load(), pause);
  }

  async load() {
    const wanted = `${view.from} ${view.to} ${this.pixels}`;
    this.asked?.abort(); // even if nothing new is asked for: the answer under way is for another window
    if (wanted === this.loaded) return;
    const { signal } = (this.asked = new AbortController());
    try {
      await this.fetch(signal);
      if (signal.aborted) return;
      this.loaded = wanted;
      this.say("");
      if (!this.box.isConnected) this.put();
      this.draw();
      this.cursor();
      this.hair();
      this.is.drawn = wanted;
    } catch (e) {
      if (!signal.aborted) this.say(`Not refreshed: ${e.message}. `);
    }
  }

  say(text) {
    if (!text && !this.note) return;
    this.note?.remove();
    this.note = undefined;
    if (!text) return;
    this.note = make("p", { class: "small", role: "status" }, text);
    const again = this.note.appendChild(make("button", { type: "button" }, "Try again"));
    again.addEventListener("click", () => this.load());
    this.figure.append(this.note);
  }

  put() {
    this.svg.replaceWith(this.box);
    this.prepare();
    this.mount();
  }

  mount() {
    this.line = this.area.appendChild(make("div", { class: "cursor" }));
    this.thread = this.area.appendChild(make("div", { class: "hair", hidden: "" }));
    pointed(this.area, this);
  }

  // where a step stands in the window, as a part of it
  upright(line, step) {
    const part = (step - view.from) / (view.to - view.from);
    line.hidden = !(part >= 0 && part <= 1);
    line.style.left = `${100 * part}%`;
  }

  cursor() {
    if (this.line) this.upright(this.line, clock.playing ? clock.step : Math.floor(clock.step));
  }

  hair() {
    if (!this.thread) return;
    const { step, lane } = pointer, left = step > (view.from + view.to) / 2;
    this.upright(this.thread, step);
    this.thread.className = left ? "hair left" : "hair";
    this.thread.dataset.step = lane === this ? step.toLocaleString("en") : "";
    if (!this.thread.hidden) this.read(this.values(step));
  }

  /** What is drawn at the step under the pointer, beside the names: a text for each place, or one for the lane. */
  read(texts) {
    const places = this.places();
    if (!places.length) this.head(texts[0] ?? "");
    places.forEach((place, i) => {
      const said = place.querySelector(".under") ?? place.appendChild(make("span", { class: "under n" }));
      said.textContent = texts[i] ?? "";
    });
  }
  head(text) {
    this.under ??= this.figure.querySelector("h3").appendChild(make("span", { class: "under n" }));
    this.under.textContent = text;
  }
  places() { return []; }

  // canvas lanes
  prepare() {
    this.canvas = this.box.appendChild(make("canvas"));
    this.area = this.box.appendChild(make("div", { class: "area" }));
    this.place();
  }

  place() {
    const [left, right] = gutters();
    [this.area.style.left, this.area.style.right] = [`${left}px`, `${right}px`];
  }

  moved() {
    if (this.box.isConnected) this.draw();
    this.want();
  }

  resized() {
    if (this.area && this.canvas) this.place();
    this.moved();
  }

  leave() {
    clearTimeout(this.pause);
    this.asked?.abort();
    this.plot?.destroy();
  }
}
