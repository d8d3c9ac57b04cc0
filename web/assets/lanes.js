// Lanes: each takes the place of a drawing of the server, and shows the window of the clock. Curves by uPlot; strips (a row of pixels a
// dimension) and bands (runs of equal values) on a canvas. Only those that are to be seen are asked for.
import { clock, view, follow, tell, revision } from "./clock.js";
import { FONT, Lane, canvas_of, colour, fitted, gutters, ink, lanes, make, pointer, read_ink } from "./lane.js";
import { Tiles, ask, width_for } from "./tiles.js";

export { canvas_of, gutters, ink, lanes, make } from "./lane.js";

const DASHES = [undefined, [8, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4]]; // of sides that are compared
const short = (v) => (v === 0 ? "0" : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(1).replace("+", "") : String(Number(v.toPrecision(4))));
const digits = (v) => String(Number(v.toPrecision(6)));
/** What is drawn of a row: a value, or the least and greatest of its bucket. */
function said({ lines, first, apart, w }, d, row) {
  const per = w > 1 ? 2 : 1, k = Math.floor((row - first) / (apart * per)) * per;
  if (k < 0 || k >= lines[d]?.length || !lines[d]) return "";
  const known = lines[d].slice(k, k + per).filter(Number.isFinite).sort((a, b) => a - b);
  return !known.length ? "not finite" : known[0] === known.at(-1) ? digits(known[0]) : `${digits(known[0])} … ${digits(known.at(-1))}`;
}
/** 0, 1, 2, 7 -> "0-2+7". */
const ranges = (dims) => dims.reduce((all, d) => {
  if (all.at(-1)?.[1] === d - 1) all.at(-1)[1] = d;
  else all.push([d, d]);
  return all;
}, []).map(([a, b]) => (a === b ? a : `${a}-${b}`)).join("+");

export const EMPTY = { w: 1, first: 0, apart: 1, dims: [0], lines: [[]], holes: [] };

export class Curves extends Lane {
  constructor(figure) {
    super(figure);
    if (this.on) delete this.query.dims; // those that are off are here too
    const several = this.is.sides ? JSON.parse(this.is.sides) : undefined; // a curve of each of several episodes; else a field, and one over it
    this.sides = several || [this.is.src, this.is.over].filter(Boolean).map((src) => ({ src, shift: 0 }));
    this.named = several?.map(({ name }) => name);
    for (const side of this.sides) side.tiles = new Tiles(side.src, this.query, false, side.revision);
    this.tiles = this.sides[0].tiles;
    this.shifts = this.sides.map(({ shift }) => shift);
    this.bounds = JSON.parse(this.is.bounds || "[]"); // of its space: of all dimensions, or of each
  }

  settle(figure) {
    super.settle(figure);
    const switches = [...figure.querySelectorAll(".switches [data-dim]")];
    this.switches = switches;
    this.on = switches.length ? new Set(switches.filter((li) => !li.matches(".off")).map((li) => Number(li.dataset.dim))) : undefined;
    if (!this.on) return;
    for (const { firstElementChild: link } of switches) {
      link.setAttribute("role", "button");
      link.title = "Alone, or all; with Shift, or by its line, off and on";
      link.addEventListener("keydown", (event) => {
        if (event.key !== " ") return;
        event.preventDefault();
        link.click();
      });
      link.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        event.stopPropagation();
        this.turn(Number(link.parentElement.dataset.dim), event.shiftKey || event.target.closest("svg"));
      });
    }
    this.mark();
  }

  /** One alone, again all; `one`: off and on. */
  turn(dim, one) {
    const all = this.switches.map((li) => Number(li.dataset.dim)), alone = this.on.size === 1 && this.on.has(dim);
    if (!one) this.on = new Set(alone ? all : [dim]);
    else if (!this.on.delete(dim)) this.on.add(dim);
    if (!this.on.size) this.on = new Set(all);
    this.mark();
    this.series?.forEach((one, i) => this.plot?.setSeries(i + 1, { show: this.shown(one) }));
    if (this.plot) this.draw();
    tell(false);
  }

  mark() {
    for (const li of this.switches) {
      const on = this.on.has(Number(li.dataset.dim));
      li.classList.toggle("off", !on);
      li.firstElementChild.setAttribute("aria-pressed", on);
    }
  }

  get name() {
    if (!this.on) return this.is.lane;
    const dims = [...new Set(this.switches.map((li) => Number(li.dataset.dim)))].sort((a, b) => a - b), on = dims.filter((d) => this.on.has(d));
    return on.length === dims.length ? this.is.all : `${this.is.all.split(":")[0]}:${ranges(on)}`;
  }

  shown({ dim }) { return !this.on || this.on.has(dim); }

  async fetch(signal) {
    const w = width_for(view.to - view.from, this.pixels);
    this.parts = await Promise.all(this.sides.map(async ({ tiles, shift, steps = Infinity }) => {
      const start = Math.max(0, view.from - shift) + this.rows[0], stop = Math.min(steps, view.to - shift) + this.rows[1];
      return tiles.source && start < stop ? tiles.get(w, start, stop, signal) : { ...EMPTY, w };
    }));
    this.arrange();
  }

  arrange() {
    this.series = this.parts.flatMap(({ dims }, p) => dims.map((dim, d) => ({ p, d, dim })));
    // the last row holds until the next one would begin
    const tables = this.parts.map(({ lines, first, apart }, p) => [
      Array.from({ length: lines[0].length + 1 }, (_, i) => first + i * apart + this.shift + this.shifts[p]), ...lines.map((l) => [...l, l.at(-1) ?? null])]);
    this.data = tables.length > 1 ? uPlot.join(tables) : tables[0];
  }

  prepare() {
    this.plot = new uPlot(this.options(), this.data, this.box);
    this.area = this.plot.over;
  }

  tint({ p, d }) { return colour(this.named ? p : d); }

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
      series: [{}, ...this.series.map((one) => ({
        show: this.shown(one), stroke: () => this.tint(one), width: 1.5, dash: this.named ? DASHES[one.p] : one.p ? [2, 3] : one.d >= 4 ? [6, 3] : undefined,
        paths, points: { show: () => this.apart() > 24, size: 4, fill: () => this.tint(one) },
      }))],
      hooks: { draw: [(u) => this.names(u)] },
    };
  }

  apart() { return (this.pixels / (view.to - view.from)) * this.parts[0].apart; } // pixels between two points
  stepped() { return this.parts[0].w === 1 && this.is.axis !== "state" && this.apart() > 3; }

  /** Of what is to be seen. */
  range() {
    let low = Infinity, high = -Infinity;
    for (const one of this.series.filter((s) => this.shown(s))) {
      const { first, apart, w, lines } = this.parts[one.p], begin = first + this.shift + this.shifts[one.p], line = lines[one.d];
      const a = Math.max(0, Math.floor((view.from - begin - w) / apart) + 1), b = Math.min(line.length, Math.ceil((view.to - begin) / apart) + 1);
      for (let i = a; i < b; i++)
        if (line[i] !== null) [low, high] = [Math.min(low, line[i]), Math.max(high, line[i])];
    }
    if (low > high) return [0, 1];
    // bounds that are no farther than the values are apart
    const [least, most] = [low - (high - low), high + (high - low)];
    for (const bound of this.drawn_bounds().flatMap((one) => one.pair))
      if (bound !== null && bound >= least && bound <= most) [low, high] = [Math.min(low, bound), Math.max(high, bound)];
    const pad = low === high ? Math.abs(low) * 0.1 || 1 : (high - low) * 0.06;
    return [low - pad, high + pad];
  }

  /** One pair for all in grey; else one for each curve in its colour. */
  drawn_bounds() {
    if (this.bounds.length < 2) return this.bounds.map((pair) => ({ pair, ink: ink.control }));
    return this.series.filter((one) => !one.p && this.shown(one) && this.bounds[one.d]).map((one) => ({ pair: this.bounds[one.d], ink: this.tint(one) }));
  }

  // bounds as thin lines; at the right end of each curve its name; at the foot where values are not finite
  names(u) {
    const on = u.ctx, ratio = devicePixelRatio, { left, top, width, height } = u.bbox;
    on.save();
    on.font = `${13 * ratio}px system-ui, sans-serif`;
    on.textAlign = "left";
    on.textBaseline = "middle";
    const seen = this.series.filter((s) => this.shown(s));
    for (const { pair, ink: paint } of this.drawn_bounds())
      for (const bound of pair) {
        const y = u.valToPos(bound ?? NaN, "y", true);
        on.fillStyle = paint;
        if (y >= top && y <= top + height) on.fillRect(left, y, width, ratio);
      }
    on.fillStyle = ink.bad;
    this.parts.forEach(({ holes, w }, p) => holes.forEach((row) => {
      const x = u.valToPos(row + this.shift + this.shifts[p], "x", true), end = Math.min(left + width, x + Math.max(2 * ratio, (w / (view.to - view.from)) * width));
      if (x >= left - 2 && x <= left + width) on.fillRect(x, top + height - 5 * ratio, end - x, 5 * ratio);
    }));
    const ends = this.named ? seen : seen.filter(({ p }) => !p);
    const labels = this.series.length < 2 || (!this.named && this.parts[0].lines.length < 2) ? [] : ends.flatMap((one) => {
      const { first, apart, lines } = this.parts[one.p], line = lines[one.d];
      let k = Math.min(line.length - 1, Math.floor((view.to - this.shift - this.shifts[one.p] - first) / apart));
      while (k > 0 && line[k] === null) k--;
      return k < 0 ? [] : [[u.valToPos(line[k] ?? 0, "y", true), one]];
    }).sort((a, b) => a[0] - b[0]);
    const pitch = Math.min(13 * ratio, height / labels.length);
    labels.forEach((label, i) => { label[0] = Math.max(label[0], i ? labels[i - 1][0] + pitch : top + 4 * ratio); });
    let floor = top + height;
    for (const label of labels.reverse()) floor = (label[0] = Math.min(label[0], floor)) - pitch;
    const [, right] = gutters();
    for (const [y, one] of labels) {
      on.fillStyle = this.tint(one);
      on.fillText(fitted(on, this.label(one), (right - 8) * ratio), left + width + 6 * ratio, y);
    }
    on.restore();
  }

  label({ p, d, dim }) { return this.named?.[p] ?? this.parts[0].names?.[d] ?? `[${dim}]`; }

  draw() {
    this.plot.setData(this.data);
  }

  places() { return [...this.figure.querySelectorAll(".legend [data-dim]")]; }

  values(step) {
    const at = (p, d) => said(this.parts[p], d, step - this.shift - this.shifts[p]), places = this.places();
    if (!places.length) return [at(0, 0)];
    return places.map(({ dataset, parentElement }) => {
      const dim = Number(dataset.dim), p = this.named ? dim : parentElement.dataset.of ? 1 : 0;
      return at(p, this.named ? 0 : this.parts[p].dims.indexOf(dim));
    });
  }

  resized() {
    if (!this.plot) return this.want();
    this.plot.destroy();
    this.prepare();
    this.mount();
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

  settle(figure) {
    super.settle(figure);
    if (this.whole) this.extremes();
  }

  // beside the name of each dimension where it is least and greatest
  extremes() {
    const { min, min_row, max, max_row } = this.whole, here = new URL(location.href);
    for (const place of this.figure.querySelectorAll(".legend [data-dim]:not(:has(.extremes))")) {
      const d = Number(place.dataset.dim), links = place.appendChild(make("span", { class: "extremes" }));
      for (const [word, value, row] of [["least", min[d], min_row[d]], ["greatest", max[d], max_row[d]]]) {
        if (!Number.isFinite(value)) continue;
        here.searchParams.set("at", Math.max(0, row + this.shift));
        links.append(" ", make("a", { href: here.search }, `${word} ${digits(value)}`));
      }
    }
  }

  label(d) { return this.whole.names?.[d] ?? `[${this.data.dims[d]}]`; }

  places() { return [...this.figure.querySelectorAll("details[open] .legend [data-dim]")]; }

  values(step) {
    const row = step - this.shift, places = this.places();
    const d = Math.max(0, Math.min(this.data.lines.length - 1, Math.floor(pointer.y * this.data.lines.length)));
    const here = pointer.lane === this ? `${this.label(d)} ${said(this.data, d, row)}` : "";
    if (!places.length) return [here];
    this.head(here);
    return places.map(({ dataset }) => said(this.data, Number(dataset.dim), row));
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
    for (let d = 0; d < rows; d += every) on.fillText(fitted(on, this.label(d), left - 8), left - 6, 7 + (d + 0.5) * pitch);
    ruler(on, left, width - right, height);
    this.extremes();
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

  values(step) {
    const row = step - this.shift, run = this.runs.find(([from, to]) => from <= row && row < to);
    return [run ? String(run[2]).slice(0, 200) : ""];
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

export const kinds = { curves: Curves, strip: Strip, bands: Bands };
const lane_of = (figure) => new kinds[figure.dataset.mode](figure);
const figures_of = (part) => [...part.querySelectorAll("figure.lane")].filter((figure) => kinds[figure.dataset.mode] && figure.querySelector("svg.plot"));

const list = document.querySelector(".lanes");
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const lane = lanes.find((l) => l.figure === entry.target);
    if (!lane) continue;
    lane.visible = entry.isIntersecting;
    if (lane.visible) {
      if (lane.plot && lane.plot.width !== lane.box.clientWidth) lane.resized();
      else if (lane.box.isConnected) lane.draw();
      lane.want(0);
    }
  }
}, { rootMargin: "200px" });
/** Those of a kind that came later. */
export function begin() {
  for (const figure of figures_of(list)) if (!lanes.some((lane) => lane.figure === figure)) lanes.push(lane_of(figure));
  for (const lane of lanes) watch.observe(lane.figure);
}
begin();

/** The lanes as an address has them: those that could not be drawn too. */
export const names = () => list.dataset.list.split(",").map((name) => lanes.find((lane) => lane.is.lane === name)?.name ?? name).join(",");

/** Other lanes, of a page that the server wrote for them: those that are here already keep what they have drawn. */
export function replace(section) {
  const before = lanes.splice(0), other = document.importNode(section, true);
  for (const figure of figures_of(other)) {
    const same = before.findIndex((lane) => lane.name === figure.dataset.lane && lane.is.mode === figure.dataset.mode);
    const [lane] = same < 0 ? [lane_of(figure)] : before.splice(same, 1);
    if (same >= 0) {
      watch.unobserve(lane.figure);
      lane.settle(figure);
    }
    lanes.push(lane);
    watch.observe(figure);
  }
  for (const lane of before) {
    watch.unobserve(lane.figure);
    lane.leave();
  }
  list.dataset.list = other.dataset.list;
  list.replaceChildren(...other.childNodes);
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
