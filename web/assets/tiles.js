// Curves in tiles of 256 buckets of one width. A tile of a revision never changes: it is asked for once.
import { api, revision } from "./clock.js";

const WIDE = 256;
/** The field of an address below the episode's. */
export const field_of = (url) => decodeURIComponent(new URL(url, location.href).pathname.slice(api.length + 1));

/** The smallest power of two of which `pixels` buckets are enough. */
export const width_for = (span, pixels) => 2 ** Math.max(0, Math.ceil(Math.log2(span / Math.max(16, Math.min(1440, pixels)))));

export async function ask(url, signal) {
  for (let tries = 0; ; tries++) {
    const answer = await fetch(url, { signal });
    if (answer.ok) return answer;
    if (answer.status !== 503 || tries === 2) {
      const problem = await answer.json().catch(() => ({}));
      throw new Error(answer.status === 410 ? "the data changed: reload the page" : answer.status === 503 ? "the hub is busy" : problem.detail ?? `status ${answer.status}`);
    }
    await new Promise((done) => setTimeout(done, 1000 * (Number(answer.headers.get("Retry-After")) || 1)));
  }
}

export class Tiles {
  constructor(source, query, raw, at = revision) {
    [this.source, this.query, this.raw, this.at, this.kept] = [source, query, raw, at, new Map()];
  }

  url(extra) {
    return `${this.source}?${new URLSearchParams({ ...this.query, ...extra, ...(this.at && { revision: this.at }) })}`;
  }

  /** What is drawn of rows [start, stop): {w, first, apart, dims, lines: [per dimension, values], holes}. */
  async get(w, start, stop, signal) {
    const a = Math.floor(start / (w * WIDE)), b = Math.max(a + 1, Math.ceil(stop / (w * WIDE)));
    const missing = [];
    for (let k = a; k < b; k++) if (!this.kept.has(`${w}/${k}`)) missing.push(k);
    if (missing.length) await this.fetch(w, missing[0], missing.at(-1) + 1, signal);
    const tiles = [];
    for (let k = a; k < b; k++) tiles.push(this.kept.get(`${w}/${k}`));
    const lines = tiles[0].lines.map((_, d) => tiles.flatMap((t) => Array.from(t.lines[d])));
    return { w, first: a * WIDE * w, apart: w > 1 ? w / 2 : 1, dims: tiles[0].dims, names: tiles[0].names, lines, holes: tiles.flatMap((t) => t.holes) };
  }

  async fetch(w, a, b, signal) {
    const url = this.url({ width: w, start: a * WIDE * w, stop: b * WIDE * w, ...(this.raw ? { format: "raw" } : {}) });
    const answer = await ask(url, signal), per = w > 1 ? 2 : 1;
    const found = this.raw ? await this.of_raw(answer) : Object.values((await answer.json()).fields)[0];
    const lines = found.pairs ?? found.values;
    for (let k = a; k < b; k++) {
      const from = (k - a) * WIDE * per;
      this.kept.set(`${w}/${k}`, {
        dims: found.dims, names: found.names,
        lines: lines.map((l) => l.slice(from, from + WIDE * per)),
        holes: [...new Set(found.holes.flat())].filter((h) => h >= k * WIDE && h < (k + 1) * WIDE).map((h) => h * w),
      });
    }
  }

  async of_raw(answer) {
    const shape = answer.headers.get("X-Shape").match(/\d+/g).map(Number), all = new Float32Array(await answer.arrayBuffer());
    const lines = Array.from({ length: shape[0] }, (_, d) => all.subarray(d * shape[1], (d + 1) * shape[1]));
    return { values: lines, dims: lines.map((_, d) => d), holes: [] };
  }
}
