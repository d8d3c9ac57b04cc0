// Lanes: each takes the place of a drawing of the server, and shows the window of the clock. Curves by uPlot; strips (a row of pixels a
// dimension) and bands (runs of equal values) on a canvas. Only those that are to be seen are asked for.
import { clock, view, steps, follow, set, look, zoom, revision } from "./clock.js";
import { Tiles, ask, field_of, width_for } from "./tiles.js";

const REST = 80, SERIES = 8;
const narrow = matchMedia("(max-width: 600px)");
export const gutters = () => (narrow.matches ? [44, 36] : [56, 72]);

export const ink = {};
function read_ink() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["bg", "surface", "text", "muted", "rule", "control", "bad", "link", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"])
    ink[name] = style.getPropertyValue(`--${name}`).trim();
}
read_ink();
const FONT = "13px system-ui, sans-serif";
const colour = (i) => ink[`s${(i % SERIES) + 1}`];

export function make(name, attributes = {}, text = "") {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}
const short = (v) => (v === 0 ? "0" : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(1).replace("+", "") : String(Number(v.toPrecision(4))));
/** A canvas of the size of its box, in real pixels; its context counts in those of the style sheet. */
export function canvas_of(canvas) {
  const ratio = devicePixelRatio, [w, h] = [canvas.clientWidth, canvas.clientHeight];
  [canvas.width, canvas.height] = [Math.round(w * ratio), Math.round(h * ratio)];
  const on = canvas.getContext("2d");
  on.scale(ratio, ratio);
  on.font = FONT;
  return [on, w, h];
}

const fitted = (on, name, width) => {
  while (name.length > 2 && on.measureText(name).width > width) name = `${name.slice(0, -2)}…`;
  return name;
};

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

// a click sets the clock, a drag is the window, two fingers or Ctrl and the wheel zoom, a double click shows all
function pointed(area) {
  let from, box;
  const mark = area.appendChild(make("div", { class: "chosen", hidden: "" }));
  const at = (event) => Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
  const step = (part) => view.from + part * (view.to - view.from);
  const stop = () => { from = undefined; mark.hidden = true; };
  area.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    box = area.getBoundingClientRect();
    from = at(event);
    area.setPointerCapture(event.pointerId);
    area.closest(".lanes").focus({ preventScroll: true });
  });
  pinched(area, stop);
  area.addEventListener("pointermove", (event) => {
    if (from === undefined) return;
    const to = at(event);
    mark.hidden = Math.abs(to - from) * box.width < 5;
    mark.style.left = `${100 * Math.min(from, to)}%`;
    mark.style.width = `${100 * Math.abs(to - from)}%`;
  });
  area.addEventListener("pointerup", (event) => {
    if (from === undefined) return;
    const ends = [from, at(event)].sort((a, b) => a - b).map(step);
    if (mark.hidden) set(ends[0]);
    else look(Math.floor(ends[0]), Math.ceil(ends[1]));
    stop();
  });
  area.addEventListener("pointercancel", stop);
  area.addEventListener("dblclick", () => look(0, steps));
  area.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    box = area.getBoundingClientRect();
    zoom(1.2 ** (event.deltaY / 50), step(at(event)));
  }, { passive: false });
}

class Lane {
  constructor(figure) {
    this.figure = figure;
    this.is = figure.dataset;
    this.field = field_of(this.is.src);
    this.svg = figure.querySelector("svg.plot");
    this.shift = this.is.axis === "shifted" ? -1 : 0;
    this.rows = [this.shift ? 1 : 0, this.is.axis === "step" ? 0 : 1]; // of steps [from, to): [from + .., to + ..)
    this.query = { ...(this.is.of === "sum" && { of: "sum" }), ...(this.is.dims && { [this.is.dims[0] === "/" ? "leaf" : "dims"]: this.is.dims }) };
    this.box = make("div", { class: `${this.svg.getAttribute("class")} drawn`, role: "img", "aria-label": `${this.field}. ${this.svg.getAttribute("aria-label")}` });
    this.visible = false;
  }

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
      this.figure.dataset.drawn = wanted;
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
    this.line = this.area.appendChild(make("div", { class: "cursor" }));
    pointed(this.area);
  }

  cursor() {
    if (!this.line) return;
    const part = ((clock.playing ? clock.step : Math.floor(clock.step)) - view.from) / (view.to - view.from);
    this.line.hidden = part < 0 || part > 1;
    this.line.style.left = `${100 * part}%`;
  }

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
}

class Curves extends Lane {
  constructor(figure) {
    super(figure);
    this.tiles = new Tiles(this.is.src, this.query);
    this.over = this.is.over && new Tiles(this.is.over, this.query); // a field of as many numbers, drawn over it
    this.bounds = JSON.parse(this.is.bounds || "[]"); // of its space, those of all dimensions that are drawn
  }

  async fetch(signal) {
    const w = width_for(view.to - view.from, this.pixels);
    const of = (tiles) => tiles && tiles.get(w, view.from + this.rows[0], view.to + this.rows[1], signal);
    const [own, over] = await Promise.all([of(this.tiles), of(this.over)]);
    this.own = own.lines.length;
    this.data = over ? { ...own, lines: [...own.lines, ...over.lines], holes: [...own.holes, ...over.holes] } : own;
    const { lines, first, apart } = this.data, n = lines[0].length;
    // the last row holds until the next one would begin
    this.xs = Array.from({ length: n + 1 }, (_, i) => first + i * apart + this.shift);
    this.ys = lines.map((l) => [...l, l[n - 1] ?? null]);
  }

  prepare() {
    this.plot = new uPlot(this.options(), [this.xs, ...this.ys], this.box);
    this.area = this.plot.over;
  }

  options() {
    const [left, right] = gutters(), Linear = uPlot.paths.linear(), Stepped = uPlot.paths.stepped({ align: 1 });
    const paths = (u, ...more) => (this.stepped() ? Stepped : Linear)(u, ...more);
    const axis = { stroke: () => ink.muted, font: FONT, ticks: { show: false }, grid: { stroke: () => ink.rule, width: 1 } };
    return {
      width: this.box.clientWidth, height: this.box.clientHeight, padding: [7, right, 0, 0],
      legend: { show: false }, cursor: { show: false },
      scales: { x: { time: false, range: () => [view.from, view.to] }, y: { range: () => this.range() } },
      axes: [
        { ...axis, size: 20, gap: 2, space: 70, incrs: [1, 2, 5].flatMap((m) => Array.from({ length: 12 }, (_, e) => m * 10 ** e)).sort((a, b) => a - b) },
        { ...axis, size: left, gap: 4, space: 28, values: (_, all) => all.map(short) },
      ],
      series: [{}, ...this.ys.map((_, i) => ({
        stroke: () => colour(i % this.own), width: 1.5, dash: i >= this.own ? [2, 3] : i % SERIES >= 4 ? [6, 3] : undefined, paths, points: { show: () => this.apart() > 24, size: 4, fill: () => colour(i % this.own) },
      }))],
      hooks: { draw: [(u) => this.names(u)] },
    };
  }

  apart() { return (this.pixels / (view.to - view.from)) * this.data.apart; } // pixels between two points
  stepped() { return this.data.w === 1 && this.is.axis !== "state" && this.apart() > 3; }

  /** Of what is to be seen. */
  range() {
    const { first, apart, w } = this.data, n = this.xs.length - 1;
    const a = Math.max(0, Math.floor((view.from - this.shift - first - w) / apart) + 1), b = Math.min(n, Math.ceil((view.to - this.shift - first) / apart) + 1);
    let low = Infinity, high = -Infinity;
    for (const line of this.ys)
      for (let i = a; i < b; i++)
        if (line[i] !== null) [low, high] = [Math.min(low, line[i]), Math.max(high, line[i])];
    if (low > high) return [0, 1];
    const pad = low === high ? Math.abs(low) * 0.1 || 1 : (high - low) * 0.06;
    return [low - pad, high + pad];
  }

  // at the right end of each curve its name; at the foot where values are not finite
  names(u) {
    const on = u.ctx, ratio = devicePixelRatio, { left, top, width, height } = u.bbox;
    on.save();
    on.font = `${13 * ratio}px system-ui, sans-serif`;
    on.textAlign = "left";
    on.textBaseline = "middle";
    on.fillStyle = ink.control;
    for (const bound of this.bounds) {
      const y = u.valToPos(bound, "y", true);
      if (y >= top && y <= top + height) on.fillRect(left, y, width, ratio);
    }
    on.fillStyle = ink.bad;
    for (const row of this.data.holes) {
      const x = u.valToPos(row + this.shift, "x", true);
      if (x >= left - 2 && x <= left + width) on.fillRect(x, top + height - 5 * ratio, Math.max(2 * ratio, (this.data.w / (view.to - view.from)) * width), 5 * ratio);
    }
    const labels = this.own < 2 ? [] : this.ys.slice(0, this.own).map((line, i) => {
      let k = Math.min(line.length - 1, Math.floor((view.to - this.shift - this.data.first) / this.data.apart));
      while (k > 0 && line[k] === null) k--;
      return [u.valToPos(line[k] ?? 0, "y", true), i];
    }).sort((a, b) => a[0] - b[0]);
    const pitch = Math.min(13 * ratio, height / labels.length);
    labels.forEach((label, i) => { label[0] = Math.max(label[0], i ? labels[i - 1][0] + pitch : top + 4 * ratio); });
    let floor = top + height;
    for (const label of labels.reverse()) floor = (label[0] = Math.min(label[0], floor)) - pitch;
    const [, right] = gutters();
    for (const [y, i] of labels) {
      on.fillStyle = colour(i);
      on.fillText(fitted(on, this.data.names?.[i] ?? `[${this.data.dims[i]}]`, (right - 8) * ratio), left + width + 6 * ratio, y);
    }
    on.restore();
  }

  draw() {
    this.plot.setData([this.xs, ...this.ys]);
  }

  resized() {
    if (!this.plot) return this.want();
    this.plot.destroy();
    this.prepare();
    this.line = this.area.appendChild(make("div", { class: "cursor" }));
    pointed(this.area);
    this.cursor();
    this.want();
  }
}

const mixed = (a, b, part) => a.map((v, i) => v + (b[i] - v) * part);
const rgb = (hex) => (hex.length === 4 ? [...hex.slice(1)].map((c) => parseInt(c + c, 16)) : [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));

class Strip extends Lane {
  constructor(figure) {
    super(figure);
    this.tiles = new Tiles(this.is.src, this.query, true);
  }

  async fetch(signal) {
    const coming = this.tiles.get(width_for(view.to - view.from, this.pixels), view.from + this.rows[0], view.to + this.rows[1], signal);
    const whole = this.whole ?? ask(this.tiles.url({ buckets: 16 }), signal).then(async (answer) => Object.values((await answer.json()).fields)[0]);
    [this.whole, this.data] = await Promise.all([whole, coming]);
  }

  /** [low, high] -> a colour of nine: diverging where the range spans zero, else by lightness. NaN has none. */
  colours(d) {
    const [low, high] = [this.whole.min[d], this.whole.max[d]], [base, cold, warm, full] = [ink.surface, ink.s3, ink.s2, ink.link].map(rgb);
    const most = Math.max(-low, high);
    const nine = Array.from({ length: 9 }, (_, i) => (low < 0 && high > 0 ? mixed(base, i < 4 ? cold : warm, Math.abs(i - 4) / 4) : mixed(base, full, i / 8)));
    return (v) => nine[Math.max(0, Math.min(8, Math.round(8 * (low < 0 && high > 0 ? (v / most + 1) / 2 : high > low ? (v - low) / (high - low) : 0))))];
  }

  draw() {
    const [on, width, height] = canvas_of(this.canvas), [left, right] = gutters(), { lines, first, w, apart } = this.data;
    const columns = Math.round((width - left - right) * devicePixelRatio), rows = lines.length, per = w > 1 ? 2 : 1;
    const image = new ImageData(Math.max(1, columns), rows), span = view.to - view.from;
    for (let d = 0; d < rows; d++) {
      const paint = this.colours(d), middle = this.whole.min[d] < 0 && this.whole.max[d] > 0 ? 0 : (this.whole.min[d] + this.whole.max[d]) / 2;
      for (let x = 0; x < columns; x++) {
        // of all values under a pixel the one that stands out most
        const from = Math.floor((view.from + (x / columns) * span - this.shift - first) / (apart * per)) * per;
        const to = Math.max(from + per, Math.ceil((view.from + ((x + 1) / columns) * span - this.shift - first) / (apart * per)) * per);
        let best = NaN;
        for (let k = Math.max(0, from); k < to && k < lines[d].length; k++)
          if (Number.isFinite(lines[d][k]) && !(Math.abs(lines[d][k] - middle) <= Math.abs(best - middle))) best = lines[d][k];
        if (Number.isFinite(best)) image.data.set([...paint(best), 255], (d * columns + x) * 4);
      }
    }
    const picture = new OffscreenCanvas(image.width, rows);
    picture.getContext("2d").putImageData(image, 0, 0);
    on.imageSmoothingEnabled = false;
    const foot = height - 20, pitch = (foot - 7) / rows;
    on.drawImage(picture, left, 7, width - left - right, foot - 7);
    on.fillStyle = ink.muted;
    on.textBaseline = "middle";
    on.textAlign = "right";
    const every = Math.max(1, Math.ceil(15 / pitch));
    for (let d = 0; d < rows; d += every) on.fillText(fitted(on, this.whole.names?.[d] ?? `[${this.data.dims[d]}]`, left - 8), left - 6, 7 + (d + 0.5) * pitch);
    ruler(on, left, width - right, height);
  }
}

// steps, at the foot of a canvas
function ruler(on, left, right, height) {
  const span = view.to - view.from, raw = (span * 70) / (right - left), ten = 10 ** Math.floor(Math.log10(raw));
  const every = Math.max(1, [1, 2, 5, 10].find((m) => m * ten >= raw) * ten);
  on.fillStyle = ink.muted;
  [on.textAlign, on.textBaseline] = ["center", "alphabetic"];
  for (let step = Math.ceil(view.from / every) * every; step <= view.to; step += every)
    on.fillText(step.toLocaleString("en"), left + ((step - view.from) / span) * (right - left), height - 5);
}

class Bands extends Lane {
  async fetch(signal) {
    if (this.all) return;
    const most = 4000, unit = 2 ** Math.ceil(Math.log2(Math.max(256, view.to - view.from)));
    const of = async (more) => (await ask(`${this.is.src}?${new URLSearchParams({ runs: most, revision, ...more })}`, signal)).json();
    let found = this.all = this.first ? undefined : await of({});
    if (!found?.complete) {
      [this.all, this.first] = [undefined, true];
      const start = Math.floor(view.from / unit) * unit;
      found = await of({ start, stop: start + 2 * unit });
    }
    [this.runs, this.complete] = [found.runs, found.complete];
    this.seen ??= new Map();
    for (const [, , value] of this.runs) if (!this.seen.has(value)) this.seen.set(value, this.seen.size);
  }

  draw() {
    const [on, width, height] = canvas_of(this.canvas), [left, right] = gutters(), span = view.to - view.from;
    const x = (step) => left + ((step - view.from) / span) * (width - left - right);
    on.save();
    on.beginPath();
    on.rect(left, 0, width - left - right, height);
    on.clip();
    on.textBaseline = "middle";
    for (const [from, to, value] of this.runs) {
      const a = Math.max(left, x(from + this.shift)), b = Math.min(width - right, x(to + this.shift));
      if (b < left || a > width - right || value === false) continue;
      on.fillStyle = colour(this.seen.get(value));
      on.globalAlpha = value === true ? 1 : 0.3;
      on.fillRect(a, 7, Math.max(1, b - a), height - 27);
      on.globalAlpha = 1;
      on.fillRect(a, 7, Math.min(2, b - a), height - 27);
      const text = String(value);
      if (value === true || on.measureText(text.slice(0, 3)).width + 8 > b - a) continue;
      on.save();
      on.beginPath();
      on.rect(a, 0, b - a - 2, height);
      on.clip();
      on.fillStyle = ink.text;
      on.fillText(text.slice(0, 200), a + 6, 7 + (height - 27) / 2);
      on.restore();
    }
    on.restore();
    on.strokeStyle = ink.rule;
    on.strokeRect(left + 0.5, 7.5, width - left - right - 1, height - 28);
    ruler(on, left, width - right, height);
  }
}

const kinds = { curves: Curves, strip: Strip, bands: Bands };
export const lanes = [];
for (const figure of document.querySelectorAll("figure.lane")) if (figure.querySelector("svg.plot")) lanes.push(new (kinds[figure.dataset.mode] ?? Curves)(figure));

const list = document.querySelector(".lanes");
list.tabIndex = -1;
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const lane = lanes.find((l) => l.figure === entry.target);
    lane.visible = entry.isIntersecting;
    if (lane.visible) {
      if (lane.plot && lane.plot.width !== lane.box.clientWidth) lane.resized();
      else if (lane.box.isConnected) lane.draw();
      lane.want(0);
    }
  }
}, { rootMargin: "200px" });
for (const lane of lanes) {
  lane.box.style.width = "100%";
  watch.observe(lane.figure);
}

let frame;
function again(what) {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => { for (const lane of lanes) if (lane.visible) lane[what](); });
}
let all = false;
follow((moved) => {
  all ||= moved;
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    for (const lane of lanes) {
      if (all && lane.visible) lane.moved();
      lane.cursor();
    }
    all = false;
  });
});
let size = list.clientWidth;
new ResizeObserver(() => {
  if (size !== (size = list.clientWidth)) again("resized");
}).observe(list);
export const themed = [];
function recolour() {
  read_ink();
  for (const lane of lanes) if (lane.box.isConnected) lane.draw();
  for (const f of themed) f();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
document.addEventListener("theme", recolour);
new MutationObserver(recolour).observe(document.documentElement, { attributes: true });
